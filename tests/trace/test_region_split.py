"""What threads lose by parallel region, by hand, and what hints predict of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from traced_programs import doubled, team_doubled

from regionpredict.measure.hints_file import Hint, Hints, TeamHint
from regionpredict.report.document_text import block_lines
from regionpredict.report.run_factors import (
    predicted_balance,
    predicted_efficiency,
    region_records,
    region_tables,
)
from regionpredict.trace import EventTrace, Paradigm, Region, Role, TraceBuilder
from regionpredict.trace.bursts import bursts_of
from regionpredict.trace.factors import run_factors
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.region_split import RegionSplit, region_splits


def two_regions() -> EventTrace:
    """Two threads: `a` twice (3 and 1 s of work, done after 4), `b` once (1 and 1 s, done at 1)."""
    build = TraceBuilder(1)
    for name, line in (("a", 10), ("b", 20)):
        build.region(Region(name, Paradigm.OPENMP, Role.PARALLEL, "src/f.c", line))
    build.region(Region("barrier", Paradigm.OPENMP, Role.IMPLICIT_BARRIER))
    build.enter(0, 0.0, "main")
    now = 0.0
    for name, works, length in (("a", (3, 1), 4), ("b", (1, 1), 1), ("a", (3, 1), 4)):
        build.fork(0, now, 2)
        for thread, work in enumerate(works):
            place = (0, thread)
            build.enter(place, now, name)
            build.enter(place, now + work, "barrier")
            build.leave(place, now + length)
            build.leave(place, now + length)
        build.join(0, now + length)
        now += length + 1
    build.leave(0, now)
    return build.build("two regions")


def test_each_region_by_itself() -> None:
    trace = two_regions()
    first, second = region_splits(trace, bursts_of(trace))
    assert first == RegionSplit("a", "src/f.c", 10, 2, 2, 8.0, 6 / 8, 4 / 6)
    assert second == RegionSplit("b", "src/f.c", 20, 2, 1, 1.0, 1.0, 1.0)
    assert first.efficiency == pytest.approx(0.5)


@pytest.mark.parametrize(("n", "k"), [(4, 1), (8, 3)])
def test_double_work_of_some_threads(n: int, k: int) -> None:
    trace = team_doubled(n, k, serial=1.0)
    (split,) = region_splits(trace, bursts_of(trace))
    assert (split.threads, split.scheduling) == (n, 1.0)
    assert split.load_balance == pytest.approx((n + k) / (2 * n))


def test_a_run_without_teams_has_none() -> None:
    trace = doubled(3, 1)
    assert region_splits(trace, bursts_of(trace)) == ()


def hint(
    line: int, speedup: dict[int, float], seconds: float | None = None,
    busy: dict[int, tuple[float, float]] | None = None,
) -> Hint:  # fmt: skip
    return Hint(
        f"f.c:{line}", "/home/me/src/f.c", line, line + 1, "main", "predicted", 1, 2, None, None,
        1.0, False, speedup, (), seconds=seconds, busy=busy or {},
    )  # fmt: skip


def hints(*regions: Hint, teams: tuple[TeamHint, ...] = ()) -> Hints:
    return Hints("h.json", "host", 1, 2, "saturation", regions, teams)


A = RegionSplit("a", "src/f.c", 10, 2, 1, 1.0, 1.0, 1.0)


def test_the_prediction_of_a_loop() -> None:
    assert predicted_efficiency(hints(hint(10, {1: 1.0, 2: 1.5})), A) == pytest.approx(0.75)
    assert predicted_efficiency(hints(hint(10, {1: 1.0})), A) is None  # not for two threads
    assert predicted_efficiency(hints(hint(11, {2: 1.5})), A) is None
    unknown = RegionSplit("a", "", None, 2, 1, 1.0, 1.0, 1.0)
    assert predicted_efficiency(hints(hint(10, {2: 1.5})), unknown) is None


def test_the_prediction_of_a_team_of_loops() -> None:
    """3 s at twice the speed and 1 s at the same: 4 s become 2.5, on two threads 0.8."""
    team = TeamHint("t", "src/f.c", 10, ("f.c:12", "f.c:15"), 2)
    loops = (hint(12, {2: 2.0}, 3.0), hint(15, {2: 1.0}, 1.0), hint(30, {2: 1.0}, 9.0))
    assert predicted_efficiency(hints(*loops, teams=(team,)), A) == pytest.approx(0.8)
    without = (hint(12, {2: 2.0}, 3.0), hint(15, {2: 1.0}))
    assert predicted_efficiency(hints(*without, teams=(team,)), A) is None


def test_the_predicted_balance_of_a_team_of_loops() -> None:
    """2 s of 3 and 1 s of 1: 3 of 4."""
    team = TeamHint("t", "src/f.c", 10, ("f.c:12", "f.c:15"), 2)
    loops = (hint(12, {}, busy={2: (2.0, 3.0)}), hint(15, {}, busy={2: (1.0, 1.0)}))
    assert predicted_balance(hints(*loops, teams=(team,)), A) == pytest.approx(0.75)
    assert predicted_balance(hints(loops[0], hint(15, {}), teams=(team,)), A) is None
    assert predicted_balance(hints(hint(10, {}, busy={2: (2.0, 3.0)})), A) == pytest.approx(2 / 3)


@pytest.mark.compiler
def test_both_stand_side_by_side(kernels: Kernels) -> None:
    trace = two_regions()
    run = run_factors(trace, match_operations(trace, kernels), kernels)
    known = hints(hint(10, {1: 1.0, 2: 1.5}))
    records = region_records(run, known)
    assert json.loads(json.dumps(records)) == records
    assert [record["predicted_efficiency"] for record in records] == [0.75, None]
    assert [record["predicted_efficiency"] for record in region_records(run, None)] == [None, None]
    table, _ = region_tables([run], known)
    rows = [line.split() for line in block_lines(table)]
    assert ["f.c:10", "2", "8", "75.00", "66.67", "-", "50.00", "75.00"] in rows
    assert ["f.c:20", "2", "1", "100.00", "100.00", "-", "100.00", "-"] in rows
    assert region_tables([], known) == []


def test_paths_need_not_be_the_same() -> None:
    assert Path(A.file).name == "f.c"
    elsewhere = RegionSplit("a", "/build/other/f.c", 10, 2, 1, 1.0, 1.0, 1.0)
    assert predicted_efficiency(hints(hint(10, {2: 1.5})), elsewhere) == pytest.approx(0.75)
