"""Serial time of library calls and constructions, compared with the same loop written out."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict

TEXT = """#include <stdlib.h>
#include <string.h>
#include <omp.h>
#define N 10000000
double *a, *b;
static int order(const void *x, const void *y) { return *(double *)x < *(double *)y ? -1 : 1; }
static void clear(void) { memset(a, 0, N * sizeof *a); }
static void merge(void) { for (int i = 0; i < N; i++) b[i] += a[i]; }
int main(void) {
  a = (double *)malloc(N * sizeof *a); b = (double *)malloc(N * sizeof *b);
#pragma omp parallel for
  for (int i = 0; i < N; i++) a[i] = i;
  @
}
"""
CLEAR = "for (int i = 0; i < N; i++) a[i] = 0;"
COPY = "for (int i = 0; i < N; i++) b[i] = a[i];"
MERGE = "for (int i = 0; i < N; i++) b[i] += a[i];"
REPEATED = "for (int t = 0; t < 7; t++)"
MEMSET, MEMCPY = "memset(a, 0, N * sizeof *a);", "memcpy(b, a, N * sizeof *a);"


def predicted(folder: Path, statements: str, name: str = "f.c") -> Predictions:
    path = folder / name
    path.write_text(TEXT.replace("@", statements))
    analysis = analyse(requests_for([str(path)]), {}, defaults=True)
    return predict(analysis, load("skylake-gold-6148"), "saturation")


def serial_seconds(folder: Path, statements: str, threads: int = 1, name: str = "f.c") -> float:
    (serial,) = predicted(folder, statements, name).serial.values()
    assert not serial.unknown
    return serial.at(threads)


@pytest.mark.parametrize(
    ("call", "loop"),
    [
        (MEMSET, CLEAR),
        (MEMCPY, COPY),
        ("clear();", CLEAR),
        (f"{REPEATED} {{ {MEMSET} }}", f"{REPEATED} {{ {CLEAR} }}"),
        (f"#pragma omp parallel\n#pragma omp single\n{{ {MEMSET} }}", CLEAR),
        (f"#pragma omp parallel\n{{ {MEMSET} }}", CLEAR),
        ("memset(a + 8, 0, N * 4);", "for (int i = 0; i < N / 2; i++) a[i] = 0;"),
    ],
)  # fmt: skip
def test_a_call_takes_the_time_of_its_loop(tmp_path: Path, call: str, loop: str) -> None:
    assert serial_seconds(tmp_path, loop) > 0.001
    own = serial_seconds(tmp_path, "\n" + call)
    assert own == pytest.approx(serial_seconds(tmp_path, loop), rel=0.25)


def test_a_sort_is_many_passes(tmp_path: Path) -> None:
    """24 passes of merge sort, each of which reads and writes the array."""
    passes = serial_seconds(tmp_path, "qsort(a, N, sizeof *a, order);")
    assert passes > 10 * serial_seconds(tmp_path, CLEAR)


@pytest.mark.parametrize(
    "text",
    [
        "memset(a + t * (N / 4), 0, N / 4 * sizeof *a);",
        "size_t own = N / 4; double *from = a + t * own; memset(from, 0, own * sizeof *a);",
    ],
)
def test_a_call_on_the_part_of_a_thread_is_not_serial(tmp_path: Path, text: str) -> None:
    body = f"\n#pragma omp parallel\n{{ int t = omp_get_thread_num(); {text} }}"
    assert serial_seconds(tmp_path, body) == 0


@pytest.mark.parametrize("body", [MERGE, "merge();"])
def test_threads_take_turns_in_a_critical_section(tmp_path: Path, body: str) -> None:
    once = serial_seconds(tmp_path, MERGE)
    text = f"\n#pragma omp parallel\n{{\n#pragma omp critical\n{{ {body} }}\n}}"
    assert serial_seconds(tmp_path, text) == pytest.approx(once)
    assert serial_seconds(tmp_path, text, threads=12) == pytest.approx(12 * once)


def test_few_threads_if_each_merges_in_turn(tmp_path: Path) -> None:
    """The parallel loop gains less by another thread than its turn costs, from a few threads on."""
    text = f"\n#pragma omp parallel\n{{\n#pragma omp critical\n{{ {MERGE} }}\n}}"
    best = predicted(tmp_path, text).recommended.together
    assert best is not None
    assert best.threads == 1
    assert best.serial_share > 0.4


def test_the_construction_of_a_vector_writes_it(tmp_path: Path) -> None:
    made = "std::vector<double> v(N); a = v.data();"
    text = TEXT.replace("<stdlib.h>", "<stdlib.h>\n#include <vector>").replace("@", made)
    path = tmp_path / "f.cpp"
    path.write_text(text)
    analysis = analyse(requests_for([str(path)]), {}, defaults=True)
    (serial,) = predict(analysis, load("skylake-gold-6148"), "saturation").serial.values()
    assert serial.at(1) == pytest.approx(serial_seconds(tmp_path, CLEAR), rel=0.25)
