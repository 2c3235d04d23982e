"""The run again, as it was and without delays: by hand, in closed forms, and of random programs."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from random_programs import carried_out, random_program
from traced_programs import chain, doubled, exchange, team_chain, team_doubled

from regionpredict.errors import UsageError
from regionpredict.trace import EventTrace, Paradigm, Region, Role, TraceBuilder
from regionpredict.trace.analysis import analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.recorded_replay import recorded_run
from regionpredict.trace.what_if import Change, WhatIf, _late_and_waiting_intervals, what_if

pytestmark = pytest.mark.compiler
MS = 1e-3


def ends_as_recorded(trace: EventTrace, kernels: Kernels) -> None:
    run = recorded_run(trace, match_operations(trace, kernels))
    assert run.contradicted == 0
    last = [int(trace.time[stop - 1]) for stop in trace.starts[1:]]
    assert run.ends(kernels).tolist() == last


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9), finalize=st.booleans())
def test_unchanged_work_ends_as_recorded(seed: int, finalize: bool, kernels: Kernels) -> None:
    ends_as_recorded(carried_out(random_program(seed), finalize=finalize), kernels)


@pytest.mark.parametrize(
    "trace",
    [doubled(4, 1), doubled(4, 1, 0.5), chain(5), exchange(3, 1.0, 0.25), team_doubled(4, 1, 2.0),
     team_chain(3)],
    ids=lambda trace: trace.name,
)  # fmt: skip
def test_known_programs_end_as_recorded(trace: EventTrace, kernels: Kernels) -> None:
    ends_as_recorded(trace, kernels)


def changed(trace: EventTrace, kernels: Kernels, callpath: str | None = None) -> WhatIf:
    return what_if(analyse(trace, kernels), kernels, callpath)


def by_path(found: WhatIf) -> dict[str, Change]:
    return {change.callpath: change for change in found.changes}


@pytest.mark.parametrize(("n", "k"), [(4, 1), (4, 3), (9, 4)])
def test_double_work_of_some_ranks(n: int, k: int, kernels: Kernels) -> None:
    """Without the delay all work one second; with half of it the slow ones work one and a half."""
    found = changed(doubled(n, k, wait=0.25), kernels)
    assert found.runtime_s == pytest.approx(2.25)
    (change,) = found.changes
    assert change.callpath == "main"
    assert change.delay_cost_s == pytest.approx(n - k)
    assert change.removed_s == pytest.approx(k)
    assert (change.runtime_s, change.gain_s) == pytest.approx((1.25, 1.0))
    assert (change.half_runtime_s, change.half_gain_s) == pytest.approx((1.75, 0.5))


@pytest.mark.parametrize(("n", "k"), [(4, 1), (8, 3)])
def test_double_work_of_some_threads(n: int, k: int, kernels: Kernels) -> None:
    change = by_path(changed(team_doubled(n, k, serial=1.0), kernels))["main/parallel"]
    assert (change.runtime_s, change.gain_s, change.removed_s) == pytest.approx((2.0, 1.0, k))


def three_ranks() -> EventTrace:
    """Rank 0 works 100 ms for rank 1 (40 ms), which works 20 ms more for rank 2 (30 ms)."""
    build = TraceBuilder(3)

    def work(rank: int, begin: float, end: float, name: str = "work") -> None:
        build.enter(rank, begin * MS, name)
        build.leave(rank, end * MS)

    def message(source: int, sent: float, to: int, asked: float, there: float) -> None:
        build.enter(source, sent * MS, "MPI_Send")
        build.send(source, sent * MS, to, size=8)
        build.leave(source, sent * MS)
        build.enter(to, asked * MS, "MPI_Recv")
        build.receive(to, there * MS, source, size=8)
        build.leave(to, there * MS)

    for rank in range(3):
        build.enter(rank, 0, "main")
        build.enter(rank, 0, "MPI_Init")
        build.leave(rank, 0)
        work(rank, 0, (100, 40, 30)[rank])
    message(0, 100, 1, 40, 103)
    work(1, 103, 123, "work2")
    message(1, 123, 2, 30, 123)
    for rank in range(3):
        build.leave(rank, (100, 123, 123)[rank] * MS)
    return build.build("three ranks")


def test_chain_of_three_ranks(kernels: Kernels) -> None:
    """work: rank 0 sends at 40 instead of 100, rank 1 (30) goes on at 43, and ends at 63."""
    found = changed(three_ranks(), kernels)
    assert found.runtime_s == pytest.approx(0.123)
    paths = by_path(found)
    assert [change.callpath for change in found.changes] == [
        "main/work", "main/work2", "main/MPI_Recv",
    ]  # fmt: skip
    assert {name: round(change.gain_s, 9) for name, change in paths.items()} == {
        "main/work": 0.060, "main/work2": 0.020, "main/MPI_Recv": 0.003,
    }  # fmt: skip
    assert paths["main/work"].delay_cost_s == pytest.approx(0.130)  # 60 + 10, and 60 long-term
    assert paths["main/work"].removed_s == pytest.approx(0.070)
    assert paths["main/work"].half_gain_s == pytest.approx(0.030)
    assert paths["main/work"].location == "0"


def test_a_delay_that_others_share_gains_nothing(kernels: Kernels) -> None:
    """Rank 0 is late by `a`, rank 1 as late by `b`: without either the other is still late."""
    build = TraceBuilder(3)
    for rank, name in enumerate(("a", "b", "c")):
        build.enter(rank, 0, "main")
        build.enter(rank, 0, name)
        done = 1.0 if rank == 2 else 2.0
        build.leave(rank, done)
        build.enter(rank, done, "MPI_Barrier")
        build.collective(rank, 2.0)
        build.leave(rank, 2.0)
        build.leave(rank, 2.0)
    found = by_path(changed(build.build(), kernels))
    (only,) = found.values()
    assert only.delay_cost_s == pytest.approx(1.0)
    assert only.gain_s == 0
    other = {"main/a": "main/b", "main/b": "main/a"}[only.callpath]
    assert changed(build.build(), kernels, other).changes[0].gain_s == 0


@pytest.mark.parametrize("names", [(0, 1, 2, 3), (1, 0, 2, 3)])
def test_all_who_wait_longest_are_compared(names: tuple[int, ...], kernels: Kernels) -> None:
    """Rank 2 works two seconds in b. Of the first two ranks, one has none of b."""
    build = TraceBuilder(4)
    for rank, name, done in zip(names, ("a", "b", "b", "c"), (1.0, 1.0, 2.0, 3.0), strict=True):
        build.enter(rank, 0, "main")
        build.enter(rank, 0, name)
        build.leave(rank, done)
        build.enter(rank, done, "MPI_Barrier")
        build.collective(rank, 3.0)
        build.leave(rank, 3.0)
        build.leave(rank, 3.0)
    (change,) = changed(build.build(), kernels, "main/b").changes
    assert (change.removed_s, change.gain_s) == pytest.approx((2.0, 0.0))


def test_a_broadcast_binds_those_who_receive(kernels: Kernels) -> None:
    """A late receiver of a broadcast delays nobody; a late root all."""
    for late, gain in ((0, 1.0), (2, 0.0)):
        build = TraceBuilder(3)
        for rank in range(3):
            work = 2.0 if rank == late else 1.0
            build.enter(rank, 0, "main")
            build.enter(rank, work, "MPI_Bcast")
            done = max(work, 2.0 if late == 0 else 1.0)
            build.collective(rank, done, root=0)
            build.leave(rank, done)
            build.leave(rank, 3.0 if rank < 2 else 2.5)
        found = changed(build.build(), kernels, "main")
        assert found.changes[0].gain_s == pytest.approx(gain)


def test_a_lock_keeps_its_order(kernels: Kernels) -> None:
    """Threads take turns: what one does in less time all later ones have sooner."""
    build = TraceBuilder(1)
    for region in (
        Region("parallel", Paradigm.OPENMP, Role.PARALLEL),
        Region("barrier", Paradigm.OPENMP, Role.IMPLICIT_BARRIER),
        Region("critical", Paradigm.OPENMP, Role.LOCK),
    ):
        build.region(region)
    build.enter(0, 0, "main")
    build.fork(0, 0, 2)
    for thread, (begin, end) in enumerate(((0.0, 3.0), (3.0, 4.0))):
        place = (0, thread)
        build.enter(place, 0, "parallel")
        build.enter(place, 0, "critical")
        build.lock(place, begin, 1, acquire=True)
        build.lock(place, end, 1, acquire=False)
        build.leave(place, end)
        build.enter(place, end, "barrier")
        build.leave(place, 4)
        build.leave(place, 4)
    build.join(0, 4)
    build.leave(0, 4)
    trace = build.build()
    run = recorded_run(trace, match_operations(trace, kernels))
    work = run.work.copy()
    work[work == work.max()] = 10**9  # the three seconds become one
    assert run.ends(kernels, work).max() == 2 * 10**9


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9))
def test_gains_are_bounded(seed: int, kernels: Kernels) -> None:
    """Less work never ends later, gains no more than was taken off, and half of it no more."""
    trace = carried_out(random_program(seed))
    found = changed(trace, kernels)
    gains = [change.gain_s for change in found.changes]
    assert gains == sorted(gains, reverse=True)
    for change in found.changes:
        assert 0 <= change.half_gain_s <= change.gain_s + 1e-9
        assert change.gain_s <= change.removed_s + 1e-9
        assert change.runtime_s + change.gain_s == pytest.approx(found.runtime_s)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9))
@example(seed=741127701)  # two ranks are first at a barrier
@example(seed=293)
def test_renaming_ranks_changes_nothing(seed: int, kernels: Kernels) -> None:
    program = random_program(seed)
    renamed = tuple(reversed(range(program.ranks)))
    one = carried_out(program)
    other = carried_out(program, rename=renamed)
    # Of ranks that come last at once the first bears the cost: which paths are tried depends on
    # names then, what they gain does not.
    for name in {*by_path(changed(one, kernels)), *by_path(changed(other, kernels))}:
        (own,) = changed(one, kernels, name).changes
        (again,) = changed(other, kernels, name).changes
        assert own.gain_s == pytest.approx(again.gain_s, abs=2e-8), name
        assert own.removed_s == pytest.approx(again.removed_s, abs=2e-8), name


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9))
@example(seed=741127701)
def test_pairs_in_parts_gain_the_same(
    seed: int, kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = carried_out(random_program(seed))
    whole = changed(trace, kernels)
    with monkeypatch.context() as patched:
        patched.setattr("regionpredict.trace.what_if._PAIRS", 1)
        assert changed(trace, kernels) == whole


def test_ties_of_a_thousand_ranks_share_their_comparisons(kernels: Kernels) -> None:
    """500 late ranks are compared with the same 500 others."""
    analysis = analyse(doubled(1000, 500), kernels)
    run = recorded_run(analysis.trace, analysis.matches)
    compared = _late_and_waiting_intervals(analysis, run, kernels)
    assert len(compared.begin) == 500
    assert set(compared.group.tolist()) == {0}
    assert len(compared.waiting_begin) == 500


def test_an_unknown_call_path(kernels: Kernels) -> None:
    with pytest.raises(UsageError, match="no call path 'main/nothing'"):
        changed(three_ranks(), kernels, "main/nothing")
