"""A parallel region that is wrong on several threads counts as on one in the program's number."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict

MACHINE = load("skylake-gold-6148")
TEXT = """double a[1000000], b[1000000], y[1000000], last; int idx[1000000];
int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000000; i++) a[i] = 1.0 / (2.0 + a[i]);
#pragma omp parallel for
  for (int i = 0; i < 1000000; i++) { BODY }
}
"""
RIGHT = "b[i] = 1.0 / (2.0 + b[i]);"


def predicted(folder: Path, body: str) -> Predictions:
    (folder / "f.c").write_text(TEXT.replace("BODY", body))
    return predict(analyse(requests_for([str(folder / "f.c")]), {}), MACHINE, "saturation")


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("last = 1.0 / (2.0 + b[i]); b[i] = last;", "RP222"),
        ("y[3] += 1.0 / (2.0 + b[i]);", "RP221"),
        ("y[idx[i] % 50] += 1;", "RP224"),
    ],
)
def test_it_counts_as_on_one_thread(tmp_path: Path, body: str, rule: str) -> None:
    """The program's time is that of the first region on all its threads and of the second on one:
    neither twice as fast, nor as slow as lines going round would make it."""
    made = predicted(tmp_path, body)
    first, second = made.teams
    assert {note.id for member in second.facts.members for note in member.facts.diagnostics} == {
        rule
    }
    program = made.recommended.together
    assert program is not None and first.seconds and second.seconds
    alone = first.seconds + second.seconds
    for threads, seconds in program.curve:
        speedup = next(point.value for point in first.speedup if point.threads == threads)
        assert seconds == pytest.approx(first.seconds / speedup + second.seconds)
    assert program.speedup <= alone / second.seconds


@pytest.mark.parametrize("body", [RIGHT, "y[idx[i]] = 1.0 / (2.0 + b[i]);"])
def test_one_that_is_right_or_may_be_counts_on_all(tmp_path: Path, body: str) -> None:
    program = predicted(tmp_path, body).recommended.together
    assert program is not None and program.speedup > 5
