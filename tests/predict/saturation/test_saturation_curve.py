"""The curve where it can be worked out by hand."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.history.first_touch import Placement
from regionpredict.analysis.schedule import Schedule
from regionpredict.errors import UsageError
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict, predict_region
from regionpredict.workload.cache_traffic import CacheLevel, TrafficCounter
from regionpredict.workload.loop_nest import LoopNest
from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.work_distribution import largest_share, work_profile

TRIAD = """void f(long n, double *restrict a, double *restrict b,
       double *restrict c, double *restrict d)
{
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; i++) a[i] = b[i] + c[i] * d[i];
}
"""


def facts_of_text(tmp_path: Path, text: str, **given: int) -> RegionFacts:
    path = tmp_path / "case.c"
    path.write_text(text)
    return analyse(requests_for((str(path),), [], [], ""), given).facts[0]


def counter_of(nest: LoopNest) -> TrafficCounter:
    return TrafficCounter(nest, work_profile(nest), Schedule("static", None), 64)


def test_triad_moves_five_streams(tmp_path: Path) -> None:
    # Three reads, a write-allocate and a write-back: 40 bytes an iteration.
    facts = facts_of_text(tmp_path, TRIAD, n=10_000_000)
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    (memory,) = counter_of(nest).traffic([CacheLevel(2.0**20, 1)], 1)
    assert memory.read == pytest.approx(32e7, rel=1e-3)
    assert memory.written == pytest.approx(8e7, rel=1e-3)


def test_triad_follows_the_measured_bandwidth(tmp_path: Path) -> None:
    # On all cores of the domain the speed is the measured triad bandwidth: 32 B an iteration.
    machine = load("skylake-gold-6148")
    facts = facts_of_text(tmp_path, TRIAD, n=50_000_000)
    made = predict_region(facts, machine)
    assert made.derivation is not None
    point = made.derivation.points[machine.cores_per_domain - 1]  # type: ignore[union-attr]
    rate = 32 * 50e6 / point.seconds
    assert rate == pytest.approx(machine.memory.curve("triad").peak, rel=0.05)
    assert point.bottleneck == "memory-bandwidth"
    assert made.packages == 2


def test_one_domain_after_the_other(tmp_path: Path) -> None:
    # The fullest domain decides: as many threads more as a domain has cores double the speed.
    machine = load("haswell-e5-2695v3-cod")
    speed = dict(predict_region(facts_of_text(tmp_path, TRIAD, n=50_000_000), machine).speedup)
    assert speed[14] / speed[7] == pytest.approx(2.0, rel=0.02)


def test_pages_on_one_domain(tmp_path: Path) -> None:
    machine = load("skylake-gold-6148")
    facts = facts_of_text(tmp_path, TRIAD, n=50_000_000)
    serial = predict_region(facts, machine, placement=Placement("serial", "as given", False))
    assert serial.packages == 1


def test_stencil_layers(tmp_path: Path) -> None:
    """Three layers of `a` are read where two layers do not fit, one where they do."""
    text = """void f(int n, double a[n][n][n], double b[n][n][n]) {
#pragma omp parallel for
  for (int k = 1; k < n - 1; k++) for (int j = 1; j < n - 1; j++) for (int i = 1; i < n - 1; i++)
    b[k][j][i] = a[k-1][j][i] + a[k+1][j][i] + a[k][j-1][i] + a[k][j+1][i] + a[k][j][i];
}
"""
    facts = facts_of_text(tmp_path, text, n=402)
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    layer, points = 8 * 402 * 402, 400**3
    levels = [CacheLevel(3.0 * layer, 1), CacheLevel(4.5 * layer, 1)]
    found = counter_of(nest).traffic(levels, 1)
    assert found[0].total / points == pytest.approx(40, rel=0.03)
    assert found[1].total / points == pytest.approx(24, rel=0.03)


def test_shared_matrix_counts_once(tmp_path: Path) -> None:
    """In a matrix product every thread reads all of B: a shared cache brings it in once."""
    text = """void f(int n, double A[n][n], double B[n][n], double C[n][n]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
    C[i][j] += A[i][k] * B[k][j];
}
"""
    facts = facts_of_text(tmp_path, text, n=256)
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    matrix = 8 * 256 * 256
    for threads in (1, 4):
        (memory,) = counter_of(nest).traffic([CacheLevel(2.0 * matrix, 4)], threads)
        assert memory.read == pytest.approx(3 * matrix, rel=0.02)


@pytest.mark.parametrize(("threads", "share"), [(2, 0.75), (4, 0.4375)])
def test_triangle_dealt_statically(tmp_path: Path, threads: int, share: float) -> None:
    # The last of p pieces of a triangle holds 1 - (1 - 1/p)**2 of it.
    text = """void f(int n, double a[n][n]) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) a[i][j] = 0;
}
"""
    facts = facts_of_text(tmp_path, text, n=10000)
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    assert largest_share(work_profile(nest), threads, Schedule("static", None)) == pytest.approx(
        share, rel=0.02
    )
    assert largest_share(work_profile(nest), threads, Schedule("dynamic", 1)) == pytest.approx(
        1 / threads, 0.02
    )


def test_fewer_iterations_than_threads(tmp_path: Path) -> None:
    machine = load("skylake-gold-6148")
    text = TRIAD.replace("for (long i = 0; i < n; i++)", "for (long k = 0; k < 3; k++)"
                         " for (long i = 0; i < n; i++)")  # fmt: skip
    made = predict_region(facts_of_text(tmp_path, text, n=1000), machine)
    assert made.threads is not None
    assert made.threads <= 3


def test_a_short_region_wants_few_threads(tmp_path: Path) -> None:
    made = predict_region(facts_of_text(tmp_path, TRIAD, n=100), load("skylake-gold-6148"))
    assert made.packages == 1
    assert made.threads == 1


def test_unknown_size_is_said(tmp_path: Path) -> None:
    machine = load("skylake-gold-6148")
    facts = facts_of_text(tmp_path, TRIAD)
    made = predict_region(facts, machine)
    value = 10 * machine.largest_cache_bytes // 32
    assert any(f"n = {value}" in line or f"n = {value + 1}" in line for line in made.assumed)


def test_cost_does_not_grow_with_the_size(tmp_path: Path) -> None:
    machine = load("epyc-9654")  # 192 cores
    facts = facts_of_text(tmp_path, TRIAD, n=10**12)
    begin = time.process_time()
    predict_region(facts, machine)
    # 20 ms is the promise; a busy machine must not fail it.
    assert time.process_time() - begin < 0.2


def test_impossible_threads(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(TRIAD)
    analysis = analyse(requests_for((str(path),), [], [], ""), {"n": 1000})
    with pytest.raises(UsageError, match="81 threads"):
        predict(analysis, load("skylake-gold-6148"), "saturation", threads=(1, 81))


def test_a_step_by_a_variable(tmp_path: Path) -> None:
    """Every sixteenth element is a sixteenth of the iterations, and a line each."""
    text = TRIAD.replace("long n,", "long n, long s,").replace("i++", "i += s")
    machine = load("skylake-gold-6148")
    given = facts_of_text(tmp_path, text, n=16_000_000, s=16)
    assert given.iterations.value == 1_000_000
    nest = loop_nest(given.region, given.bindings.values)
    assert nest is not None
    (memory,) = counter_of(nest).traffic([CacheLevel(2.0**20, 1)], 1)
    assert memory.total == pytest.approx(1e6 * 5 * 64, rel=1e-2)
    open_step = facts_of_text(tmp_path, text, n=16_000_000)
    assert "s = 1 (no value given: a step)" in predict_region(open_step, machine).assumed
    tiles = "for (long t = 0; t < n; t += s) for (long i = t; i < (t + s < n ? t + s : n); i++)"
    tiled = TRIAD.replace("long n,", "long n, long s,").replace(
        "for (long i = 0; i < n; i++)", tiles
    )
    made = predict_region(facts_of_text(tmp_path, tiled, n=16_000_000), machine)
    assert "s = 32 (no value given: a step)" in made.assumed


@pytest.mark.parametrize(
    ("clause", "most"),
    [("num_threads(4)", 4), ("if(0)", 1), ("if(parallel: 0)", 1), ("num_threads(n)", 40)],
)
def test_a_directive_limits_its_team(tmp_path: Path, clause: str, most: int) -> None:
    machine = load("skylake-gold-6148")
    text = TRIAD.replace("schedule(static)", clause)
    made = predict_region(facts_of_text(tmp_path, text, n=1000), machine)
    assert [threads for threads, _ in made.speedup] == list(range(1, most + 1))
    assert made.threads is not None
    assert made.threads <= most
    asked = predict_region(facts_of_text(tmp_path, text, n=1000), machine, threads=(1, 2, 40))
    assert [threads for threads, _ in asked.speedup] == [t for t in (1, 2, 40) if t <= most]
