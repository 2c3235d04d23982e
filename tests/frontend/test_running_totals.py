"""Row starts that the program itself adds up: the rows have the lengths that the text gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reading import FRONTENDS, facts_of, predict

from regionpredict.ir import Loop

TEXT = """\
#include <stdlib.h>
#define N 1000
static long *off;
static double *value, *sum;
void other(long *p);
static void rows(int n)
{
#pragma omp parallel for
    for (int u = 0; u < n; u++)
        for (long e = off[u]; e < off[u + 1]; e++)
            sum[u] += value[e];
}
int main(void)
{
    off = malloc((N + 1) * sizeof *off);
    off[0] = 0;
    FILL
    value = malloc(off[N] * sizeof *value);
    sum = malloc(N * sizeof *sum);
    rows(N);
    free(off);
    return 0;
}
"""
# How main fills the array, and the lengths of the rows 0, 1, 99, 100 and 999.
FILLED = {
    "a jump": ("for (int u = 0; u < N; u++) off[u + 1] = off[u] + (u < N / 10 ? 90 : 1);",
               (90, 90, 90, 1, 1)),
    "a triangle": ("for (int i = 0; i < N; i++) off[i + 1] = i + off[i];", (0, 1, 99, 100, 999)),
    "the row before": ("for (int i = 1; i <= N; i++) off[i] = off[i - 1] + i;",
                       (1, 2, 100, 101, 1000)),
    "equal rows": ("for (int i = 0; i < N; i++) off[i + 1] = off[i] + 27;", (27,) * 5),
    "blocks": ("for (int i = 0; i < N; i++) off[i + 1] = off[i] + i % 7;", (0, 1, 1, 2, 5)),
}  # fmt: skip
OTHERS = {
    "a function": "for (int i = 0; i < N; i++) off[i + 1] = off[i] + i; other(off);",
    "another pointer": "for (int i = 0; i < N; i++) off[i + 1] = off[i] + i;"
                       " long *p = off; p[7] = 3;",
    "another element": "for (int i = 0; i < N; i++) off[i + 1] = off[i] + i;"
                       " off[N / 2 + argc] = 3;",
    "a number as its index": "for (int i = 0; i < N; i++) off[i + 1] = off[i] + i; off[7] = 3;",
    "a condition": "for (int i = 0; i < N; i++) if (i != argc) off[i + 1] = off[i] + i;",
    "steps of two": "for (int i = 0; i < N; i += 2) off[i + 1] = off[i] + i;",
    "a counter that jumps": "for (int i = 0; i < N; i++) { off[i + 1] = off[i] + i; i += argc; }",
    "an early end": "for (int i = 0; i < N; i++) { off[i + 1] = off[i] + i; if (argc) break; }",
    "data": "for (int i = 0; i < N; i++) off[i + 1] = off[i] + rand() % 9;",
}  # fmt: skip
both = pytest.mark.parametrize("frontend", FRONTENDS)


def inner_loop(folder: Path, fill: str, frontend: str, text: str = TEXT) -> Loop:
    text = text.replace("FILL", fill).replace("main(void)", "main(int argc, char **argv)")
    nest = facts_of(folder, text, frontend).region.nest
    assert nest is not None and isinstance(nest.body[0], Loop)
    return nest.body[0]


@both
@pytest.mark.parametrize("form", FILLED)
def test_the_rows_have_the_lengths_of_the_text(tmp_path: Path, frontend: str, form: str) -> None:
    fill, lengths = FILLED[form]
    trips = inner_loop(tmp_path, fill, frontend).trips
    assert trips is not None
    assert tuple(trips.evaluate({"u": row}) for row in (0, 1, 99, 100, 999)) == lengths


@both
@pytest.mark.parametrize("form", OTHERS)
def test_other_rows_stay_unknown(tmp_path: Path, frontend: str, form: str) -> None:
    trips = inner_loop(tmp_path, OTHERS[form], frontend).trips
    assert trips is not None and "ref" in trips.kinds


@both
def test_an_array_that_other_files_may_write_stays_unknown(tmp_path: Path, frontend: str) -> None:
    text = TEXT.replace("static long *off;", "long *off;")
    trips = inner_loop(tmp_path, FILLED["equal rows"][0], frontend, text).trips
    assert trips is not None and "ref" in trips.kinds


def test_a_tenth_of_the_rows_with_most_elements_limits_a_static_schedule(tmp_path: Path) -> None:
    """A tenth of the rows has 90 elements and the others have one. One of 10 threads has 90/99 of
    the work, and one of 40 has 9/39.6.
    """
    path = tmp_path / "f.c"
    path.write_text(TEXT.replace("FILL", FILLED["a jump"][0]).replace("N 1000", "N 4000000"))
    (region,) = json.loads(predict(path).stdout)["regions"]
    assert region["bottleneck"] == "imbalance"
    speedups = {point["threads"]: point["value"] for point in region["speedup"]}
    for threads, most in ((10, 1.1), (20, 2.2), (40, 4.4)):
        assert 0.6 * most < speedups[threads] < 1.02 * most
