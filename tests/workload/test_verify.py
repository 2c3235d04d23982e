"""A workload that contradicts itself is an error that says what contradicts what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

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
            assert (levels[0].sharers, threads) == (1, 1)
            moved = ArrayTraffic("a", levels[0].size * FACTOR[0], 0.0, Carrier(None, 0.0))
            return (LevelTraffic((moved,)),)

    monkeypatch.setattr(Workload, "traffic_of", lambda *_: Rising())
    FACTOR = [1.0]
    with pytest.raises(InconsistentWorkloadError, match="a cache of 2048 bytes moves 2048 bytes"):
        verify(made, caches=(2048, 1024))
    verify(made, caches=(1024,))
    FACTOR = [0.0]
    verify(made, caches=(1024, 2048))  # nothing, whatever the cache
    FACTOR = [1.0]
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


def faults_of(made: Workload, **asked: tuple[int, ...]) -> str:
    """The first contradiction, without its place; empty where there is none."""
    try:
        verify(made, **asked)
    except InconsistentWorkloadError as error:
        return str(error).partition(":2:1: ")[2]
    return ""


@pytest.mark.parametrize(
    ("number", "length", "fault"),
    [
        (4.0, 25.0, ""),
        (5.0, 25.0, "5.0 pieces of 25.0 are not 100.0 iterations"),
        (3.0, 25.0, "3.0 pieces of 25.0 are not 100.0 iterations"),
        (4.0, 30.0, ""),  # the last one is shorter
        (5.0, 24.0, ""),
        (4.0, 24.0, "4.0 pieces of 24.0 are not 100.0 iterations"),
        (100.0, 1.0, ""),
        (99.0, 1.0, "99.0 pieces of 1.0 are not 100.0 iterations"),
        (7.0, 0.5, ""),  # less than an iteration, as a mean has it, is no piece
    ],
)
def test_pieces_cover_the_iterations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: float, length: float, fault: str
) -> None:
    made = workload(tmp_path, SUM, n=100)
    monkeypatch.setattr("regionpredict.workload.verify.piece_count", lambda *_: number)
    monkeypatch.setattr("regionpredict.workload.verify.piece_length", lambda *_: length)
    assert faults_of(made, threads=(4,)) == fault
    # A guided schedule's pieces have no one length.
    guided = workload(tmp_path, SUM.replace("parallel for", "parallel for schedule(guided)"), n=100)
    assert faults_of(guided, threads=(4,)) == ""


@pytest.mark.parametrize(
    ("share", "fault"),
    [
        (0.25, ""), (1.0, ""), (0.3, ""),
        (0.2, "the largest share of 4 threads is 0.2"),
        (1.1, "the largest share of 4 threads is 1.1"),
    ],
)  # fmt: skip
def test_shares_lie_between_an_even_one_and_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float, fault: str
) -> None:
    made = workload(tmp_path, SUM, n=100)
    monkeypatch.setattr("regionpredict.workload.verify.largest_share", lambda *_: share)
    assert faults_of(made, threads=(4,)) == fault


@pytest.mark.parametrize(
    ("iterations", "fault"),
    [
        (25.0, ""),
        (25.0 * (1 + 1e-12), ""),
        (26.0, "4 threads run 104.0 of 100.0 iterations"),
        (24.0, "4 threads run 96.0 of 100.0 iterations"),
    ],
)
def test_threads_run_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, iterations: float, fault: str
) -> None:
    made = workload(tmp_path, SUM, n=100)
    monkeypatch.setattr(
        "regionpredict.workload.verify.distribute_nest",
        lambda *_: SimpleNamespace(iterations=iterations, threads=4),
    )
    assert faults_of(made, threads=(4,)) == fault
    # A loop that runs not once deals out nothing.
    assert faults_of(workload(tmp_path, SUM, n=0), threads=(4,)) == ""


@pytest.mark.parametrize(("off", "fault"), [(1e-12, False), (1e-6, True)])
def test_weights_of_pieces_add_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, off: float, fault: bool
) -> None:
    made = workload(tmp_path, SUM, n=100)
    assert made.execution is not None
    total = sum(made.execution.work.profile.weights)
    monkeypatch.setattr(
        "regionpredict.workload.verify.piece_weights", lambda *_: [total * (1.0 + off)]
    )
    assert bool(faults_of(made, threads=(4,))) == fault


def test_references_are_hits_or_misses(tmp_path: Path) -> None:
    """Of those that count; what does not count may be anything."""
    made = workload(tmp_path, SUM, n=100)
    row = made.table.statements[0]
    counted = [reference for reference in row.references if reference.counted]
    for reuse in ("hit", "miss"):
        all_alike = tuple(one._replace(reuse=reuse) for one in row.references)
        table = replace(made.table, statements=(row._replace(references=all_alike),))
        assert faults_of(replace(made, table=table)) == ""
    loose = tuple(one._replace(reuse="unknown", counted=False) for one in row.references)
    table = replace(made.table, statements=(row._replace(references=loose),))
    assert faults_of(replace(made, table=table)) == ""
    lost = tuple(one._replace(reuse="unknown", counted=True) for one in counted)
    table = replace(made.table, statements=(row._replace(references=lost),))
    told = f"line 3: 0 hits and 0 misses of {len(counted)} references"
    assert faults_of(replace(made, table=table)) == told
