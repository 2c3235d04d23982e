"""RP007: a program that sets its number of threads ignores OMP_NUM_THREADS."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontend.reading import FRONTENDS, predict, program_of

LOOP = """#include <omp.h>
double a[1000];
void run(int n) {
  %s
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) a[i] *= 2.0;
}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        ("omp_set_num_threads(8);", [4]),
        ("if (n > 4) omp_set_num_threads (n);", [4]),
        ("omp_set_num_threads(omp_get_max_threads());", []),
        ("// omp_set_num_threads(8);", []),
        ("\n#ifdef OLD\n  omp_set_num_threads(8);\n#endif", []),
        ("n = omp_get_num_threads();", []),
    ],
)
def test_calls_that_set_the_number_are_noted(
    tmp_path: Path, frontend: str, statement: str, lines: list[int]
) -> None:
    notes = program_of(tmp_path, LOOP % statement, frontend).diagnostics
    assert [note.span.line for note in notes if note.id == "RP007"] == lines


def test_a_job_script_says_so(tmp_path: Path) -> None:
    source = tmp_path / "run.c"
    source.write_text(LOOP % "omp_set_num_threads(8);")
    done = predict(source, "--format", "slurm")
    assert done.returncode == 0, done.stderr
    (comment,) = [line for line in done.stdout.splitlines() if "RP007" in line]
    assert comment.startswith("# ")
    assert "give the recommended number to the program" in comment
