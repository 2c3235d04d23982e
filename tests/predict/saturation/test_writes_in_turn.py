"""Loops whose threads write one cache line in turns: the hint, the term and the confidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict_region
from regionpredict.predict import Prediction
from regionpredict.predict.saturation.openmp_overheads import atomic_turn
from regionpredict.predict.uncertainty.constants import IN_TURN_CONFIDENCE

MACHINE = load("skylake-gold-6148")
N = 1000000
HEAD = f"""#include <omp.h>
#define N {N}
double a[N], b[N], s, t, y[64];
"""


def predicted(folder: Path, body: str, clauses: str = "") -> Prediction:
    path = folder / "case.c"
    loop = f"#pragma omp parallel for {clauses}\nfor (int i = 0; i < N; i++) {{ {body} }}"
    path.write_text(f"{HEAD}void f(void) {{\n{loop}\n}}\n")
    (facts,) = analyse(requests_for([str(path)]), {}).facts
    return predict_region(facts, MACHINE)


@pytest.mark.parametrize("body", ["s += a[i];", "t = a[i]; b[i] = t * t;", "y[3] += a[i];"])
def test_one_thread_is_best_where_each_iteration_takes_the_line(tmp_path: Path, body: str) -> None:
    """On two threads no write is faster than a turn; nor is the answer surer than it may be."""
    made = predicted(tmp_path, body)
    assert (made.threads, made.bottleneck) == (1, "serialization")
    assert made.confidence <= IN_TURN_CONFIDENCE.value
    points = {point.threads: point.seconds for point in made.derivation.points}  # type: ignore[union-attr]
    assert points[2] >= N * atomic_turn(MACHINE, 2) / MACHINE.clock_hz
    assert points[1] < points[2]
    assert any("goes to memory, not to a register" in line for line in made.assumed)


@pytest.mark.parametrize(
    ("body", "clauses"),
    [
        ("s += a[i];", "reduction(+ : s)"),
        ("t = a[i]; b[i] = t * t;", "private(t)"),
        ("double t = a[i]; b[i] = t * t;", ""),
    ],
)
def test_what_each_thread_has_for_itself_gains(tmp_path: Path, body: str, clauses: str) -> None:
    made = predicted(tmp_path, body, clauses)
    assert made.threads is not None and made.threads > 4
    assert made.bottleneck != "serialization"
    assert made.confidence > IN_TURN_CONFIDENCE.value


def test_with_much_work_between_the_writes_threads_gain(tmp_path: Path) -> None:
    work = "double v = a[i]; for (int k = 0; k < 20000; k++) v = v * 0.5 + 1.0 / (v + k);"
    made = predicted(tmp_path, f"{work} t = v; b[i] = t;")
    assert made.threads is not None and made.threads > 4
    assert made.confidence <= IN_TURN_CONFIDENCE.value


def test_false_sharing_is_no_surer(tmp_path: Path) -> None:
    """Rows of a line each are as sure as any."""
    narrow = predicted(tmp_path, "y[omp_get_thread_num()] += a[i];")
    assert narrow.confidence <= IN_TURN_CONFIDENCE.value
    wide = predicted(tmp_path, "y[8 * omp_get_thread_num()] += a[i];")
    assert wide.confidence > IN_TURN_CONFIDENCE.value


def test_one_thread_by_the_directive_waits_for_nobody(tmp_path: Path) -> None:
    made = predicted(tmp_path, "s += a[i]; y[3] += a[i];", "num_threads(1)")
    assert made.threads == 1
    assert made.bottleneck != "serialization"
    assert made.confidence > IN_TURN_CONFIDENCE.value
