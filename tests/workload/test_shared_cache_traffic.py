"""Traffic of threads that share a cache, and of triangles, against counts by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.schedule import Schedule
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse
from regionpredict.predict.saturation.traffic_curve import TrafficCurve
from regionpredict.workload.cache_traffic import (
    CacheLevel,
    LevelTraffic,
    TrafficCounter,
    resident_share,
    warm_cache_contents,
)
from regionpredict.workload.loop_nest import LoopNest
from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.work_distribution import largest_share, threads_at_work, work_profile

STATIC = Schedule("static", None)
TRIANGLE = """void f(int n, double a[n][n]) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++) for (int j = i; j < n; j++) a[i][j] = 0;
}
"""


def facts_of(tmp_path: Path, text: str, **given: int) -> RegionFacts:
    path = tmp_path / "case.c"
    path.write_text(text)
    return analyse(requests_for((str(path),), [], [], ""), given).facts[0]


def nest_in(tmp_path: Path, text: str, **given: int) -> LoopNest:
    facts = facts_of(tmp_path, text, **given)
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    return nest


def moved(nest: LoopNest, size: float, threads: int) -> LevelTraffic:
    counter = TrafficCounter(nest, work_profile(nest), STATIC, 64, traced=False)
    return counter.traffic([CacheLevel(size, threads)], threads)[0]


def test_threads_within_one_line(tmp_path: Path) -> None:
    """Columns a thread each: eight threads in turn stand in one line of every row."""
    text = """void f(int n, double a[n][8], double s[8]) {
#pragma omp parallel for schedule(static)
  for (int j = 0; j < 8; j++) for (int i = 0; i < n; i++) a[i][j] = 0;
}
"""
    nest = nest_in(tmp_path, text, n=10000)
    for threads in (1, 8):
        # The rows lie end to end: 640000 bytes are 10000 lines, which 8 threads in step move once.
        one = moved(nest, 1e9, threads)
        assert one.read == pytest.approx(640_000, rel=0.01)
    assert moved(nest, 32768.0, 8).read == pytest.approx(640_000, rel=0.13)
    assert moved(nest, 32768.0, 1).read == pytest.approx(8 * 640_000, rel=0.13)


def test_one_array_by_rows_and_by_columns(tmp_path: Path) -> None:
    """a[i][k] is a part of what a[j][k] walks over: the array is read once."""
    text = """void f(int n, double c[n][n], double a[n][n]) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
    c[i][j] += a[i][k] * a[j][k];
}
"""
    nest = nest_in(tmp_path, text, n=128)
    for threads in (1, 4):
        one = moved(nest, 2.0**20, threads)
        assert one.read == pytest.approx(2 * 8 * 128**2, rel=0.02)


def test_a_small_matrix_stays_across_the_outer_loop(tmp_path: Path) -> None:
    """c is read in every iteration of q: the begin of another r finds it there."""
    text = """void f(int n, double a[n][n][32], double c[32][32]) {
#pragma omp parallel for schedule(static)
  for (int r = 0; r < n; r++) for (int q = 0; q < n; q++) for (int p = 0; p < 32; p++)
    for (int s = 0; s < 32; s++) a[r][q][p] += c[s][p];
}
"""
    # c has 8 KiB, an iteration of r moves 16 KiB of a: 24 KiB do not fit, 8 and a bit do.
    nest = nest_in(tmp_path, text, n=64)
    assert moved(nest, 16384.0, 1).read == pytest.approx(8 * 32 * 64**2 + 8192, rel=0.02)


def test_the_edge_where_a_triangle_begins_to_fit(tmp_path: Path) -> None:
    """A column of k = i..n is read again by the next j where it fits: for the later half of i."""
    text = """void f(int n, double b[n][n], double s[n]) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++) for (int j = 0; j < 64; j++) for (int k = i; k < n; k++)
    s[i] += b[k][j];
}
"""
    n = 256
    nest = nest_in(tmp_path, text, n=n)
    # 128 lines of 64 bytes: columns of up to 128 elements stay for the 7 columns beside them.
    lines = sum((n - i) * (64 if n - i > 128 else 8) for i in range(n))
    assert moved(nest, 128 * 64.0 + 128, 1).read == pytest.approx(64 * lines, rel=0.06)


def test_light_threads_leave_the_cache_to_the_others(tmp_path: Path) -> None:
    # Pieces of a triangle over four threads: 7, 5, 3 and 1 of 16.
    nest = nest_in(tmp_path, TRIANGLE, n=10_000)
    found = threads_at_work(work_profile(nest), 4, 4, STATIC)
    assert sum(share for _, share in found) == pytest.approx(1.0)
    # 4 threads do 4 of 16, then 3 do 6, 2 do 4, and 1 does 2: on average 2.75 at a time.
    assert sum(active * share for active, share in found) == pytest.approx(2.75, abs=0.15)
    assert threads_at_work(work_profile(nest), 4, 4, Schedule("dynamic", 1.0)) == [(4, 1.0)]


@pytest.mark.parametrize("threads", [2, 3, 7, 64])
def test_the_first_piece_of_a_falling_triangle(tmp_path: Path, threads: int) -> None:
    nest = nest_in(tmp_path, TRIANGLE, n=100_000)
    share = 1 - (1 - 1 / threads) ** 2
    assert largest_share(work_profile(nest), threads, STATIC) == pytest.approx(share, rel=0.01)


def test_what_stays_from_run_to_run() -> None:
    assert resident_share(50.0, 100.0) == 1.0
    assert resident_share(100.0, 100.0) == 0.0
    assert 0.0 < resident_share(99.0, 100.0) < resident_share(51.0, 100.0) < 1.0


def test_counts_in_between_are_on_the_line(tmp_path: Path) -> None:
    """What is read off between two counted numbers of threads is near what counting says."""
    text = """void f(int n, double a[n][n], double b[n][n]) {
#pragma omp parallel for schedule(static)
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
    b[i][j] = a[i-1][j] + a[i+1][j] + a[i][j-1] + a[i][j+1];
}
"""
    machine = load("epyc-9654")
    nest = nest_in(tmp_path, text, n=6000)
    counter = TrafficCounter(nest, work_profile(nest), STATIC, 64, traced=False)
    data = TrafficCurve(counter, machine, contents=warm_cache_contents(counter.nest))
    for threads in (1, 5, 8, 24, 100, 191, 192):
        counted = data.levels(threads)[-1].total
        assert data.at(threads).memory == pytest.approx(counted, rel=0.03, abs=1e5)
