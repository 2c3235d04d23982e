"""Cores whose clock follows how many of their package are at work: seconds by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from round_machine import round_machine, workload_of_text

from regionpredict.machine import Machine
from regionpredict.predict.saturation.ablation import ALL_PARTS, Parts
from regionpredict.predict.saturation.region_time import LoopTime, counters_of
from regionpredict.workload import CacheContents

PLAIN = round_machine()
TURBO = round_machine(
    ("clock: 2 GHz", "clock: 2 GHz, turbo: {1: 4 GHz, 2: 3 GHz, 4: 2.5 GHz}")
)  # fmt: skip
ROOTS = """void f(double *s) {
#pragma omp parallel for
  for (int i = 0; i < 8000; i++) {
    double x = i;
    for (int k = 0; k < 1000; k++) x = sqrt(x);
    s[i] = x;
  }
}
"""
IN_SECOND_CACHE = """void f(double *s) {
#pragma omp parallel for
  for (int i = 0; i < 8000; i++)
    for (int k = 0; k < 16000; k++) s[k] += 1.0;
}
"""


def loop_time(folder: Path, code: str, node: Machine, parts: Parts = ALL_PARTS) -> LoopTime:
    workload = workload_of_text(folder, code, node)
    assert workload.execution is not None
    (counter,) = counters_of(workload, workload.execution)
    return LoopTime(
        workload, workload.execution.work, counter, node, contents=CacheContents(), parts=parts
    )


@pytest.mark.parametrize(
    ("threads", "binding", "gigahertz"),
    [
        (1, "close", 4.0),
        (2, "close", 3.0),
        (3, "close", 2.75),  # in the middle of two and four
        (4, "close", 2.5),
        (5, "close", 2.5),  # the first package is full
        (8, "close", 2.5),
        (2, "spread", 4.0),  # one on each package
        (4, "spread", 3.0),
    ],
)
def test_what_a_core_computes_goes_with_its_clock(
    tmp_path: Path, threads: int, binding: str, gigahertz: float
) -> None:
    turbo = TURBO.as_run(binding=binding)
    base = loop_time(tmp_path, ROOTS, PLAIN.as_run(binding=binding)).at(threads)
    time = loop_time(tmp_path, ROOTS, turbo).at(threads)
    assert time.busy == pytest.approx(base.busy * 2.0 / gigahertz, rel=1e-3)
    off = loop_time(tmp_path, ROOTS, turbo, Parts(turbo=False))
    assert off.at(threads) == base


def test_caches_of_its_own_go_with_the_clock_of_the_core(tmp_path: Path) -> None:
    """128 KB come from the second cache time and again: all is the core's."""
    base = loop_time(tmp_path, IN_SECOND_CACHE, PLAIN).at(1)
    time = loop_time(tmp_path, IN_SECOND_CACHE, TURBO).at(1)
    assert time.busy == pytest.approx(base.busy / 2.0, rel=1e-3)


def test_a_machine_without_a_table_keeps_its_clock() -> None:
    assert PLAIN.relative_clock(1) == PLAIN.relative_clock(4) == 1.0
