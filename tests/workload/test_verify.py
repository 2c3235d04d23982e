"""A workload that contradicts itself is an error that says what contradicts what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, region_workload
from regionpredict.workload import ArrayTraffic, CacheLevel, LevelTraffic, Workload
from regionpredict.workload.layer_conditions import Carrier
from regionpredict.workload.verify import InconsistentWorkloadError, verify

CACHES = [1 << power for power in range(13, 27)]
TEAMS = (1, 2, 3, 7, 64)
MACHINE = load("dunnington")


def workload(tmp_path: Path, text: str, **given: int) -> Workload:
    path = tmp_path / "case.c"
    path.write_text(text)
    return region_workload(analyse(requests_for((str(path),)), given).facts[0], MACHINE)


SUM = """void f(int n, double a[n][n], double b[n][n]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = i; j < n; j++) a[i][j] += b[j][i];
}
"""


def test_a_reference_that_is_neither_hit_nor_miss(tmp_path: Path) -> None:
    made = workload(tmp_path, SUM, n=100)
    row = made.table.statements[0]
    lost = row.references[0]._replace(reuse="unknown")
    table = replace(made.table, statements=(row._replace(references=(lost, *row.references[1:])),))
    with pytest.raises(InconsistentWorkloadError, match=r"case.c:2:1: line 3: 0 hits and 2 miss"):
        verify(replace(made, table=table))


def test_pieces_that_are_not_the_whole(tmp_path: Path) -> None:
    made = workload(tmp_path, SUM, n=100)
    assert made.execution is not None
    verify(made, threads=TEAMS, caches=CACHES)
    profile = made.execution.work.profile._replace(weights=(float("nan"),) * 64)
    work = made.execution.work._replace(profile=profile)
    with pytest.raises(InconsistentWorkloadError, match=r"case.c:2:1: the pieces of 2 threads"):
        verify(replace(made, execution=replace(made.execution, work=work)), threads=(2,))


def test_a_statement_that_is_lost(tmp_path: Path) -> None:
    made = workload(tmp_path, SUM, n=100)
    table = replace(made.table, statements=made.table.statements * 2)
    with pytest.raises(InconsistentWorkloadError, match="1 statements in loops of 2"):
        verify(replace(made, table=table))


def test_rounding_is_no_contradiction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = workload(tmp_path, SUM, n=100)
    for short, fine in ((1e-12, True), (1e-6, False)):
        monkeypatch.setattr(
            "regionpredict.workload.verify.largest_share",
            lambda profile, threads, schedule, short=short: (1.0 - short) / threads,
        )
        if fine:
            verify(made, threads=(3,))
        else:
            with pytest.raises(InconsistentWorkloadError, match="largest share of 3 threads"):
                verify(made, threads=(3,))


def test_a_share_that_is_too_small(tmp_path: Path) -> None:
    """No loop has less than no iterations: a share below nothing is no share."""
    made = workload(tmp_path, SUM, n=100)
    assert made.execution is not None
    profile = made.execution.work.profile._replace(iterations=-100.0, weights=())
    work = made.execution.work._replace(profile=profile)
    with pytest.raises(InconsistentWorkloadError, match=r"largest share of 2 threads is -0\.01"):
        verify(replace(made, execution=replace(made.execution, work=work)), threads=(2,))


def test_a_larger_cache_that_moves_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter that says twice as much for twice the cache."""
    made = workload(tmp_path, SUM, n=100)

    class Rising:
        def traffic(self, levels: list[CacheLevel], threads: int) -> tuple[LevelTraffic, ...]:
            assert threads == 1
            moved = ArrayTraffic("a", levels[0].size * FACTOR[0], 0.0, Carrier(None, 0.0))
            return (LevelTraffic((moved,)),)

    monkeypatch.setattr(Workload, "traffic_of", lambda *_: Rising())
    FACTOR = [1.0]
    with pytest.raises(InconsistentWorkloadError, match="a cache of 2048 bytes moves 2048 bytes"):
        verify(made, caches=(2048, 1024))
    verify(made, caches=(1024,))
    # What the count may be off by: 15 %.
    verify(made, caches=(1000, 1140))
    with pytest.raises(InconsistentWorkloadError, match="moves 1160 bytes, one of 1000 1000"):
        verify(made, caches=(1000, 1160))


def test_work_that_is_even_and_serial_work_agree(tmp_path: Path) -> None:
    text = """void f(int n, double *a) {
#pragma omp parallel for schedule(%s)
  for (int i = 0; i < n; i++) {
    a[i] = 1;
#pragma omp critical
    a[0] += 1;
  }
}
"""
    for schedule in ("static", "static, 3", "dynamic, 7", "guided", "static, 1000"):
        for n in (1, 2, 63, 64, 1000):
            verify(workload(tmp_path, text % schedule, n=n), threads=TEAMS, caches=CACHES[:4])
