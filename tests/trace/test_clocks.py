"""Clocks that differ: what is told of them, and times corrected by the controlled logical clock."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import carried_out, random_program

from regionpredict.trace import EventTrace, Kind, Paradigm, Region, Role, TraceBuilder
from regionpredict.trace.analysis import analyse
from regionpredict.trace.call_paths import call_paths
from regionpredict.trace.clock_conditions import clock_conditions, late_events, violations
from regionpredict.trace.clock_correction import correct_clocks_of
from regionpredict.trace.collective_table import collective_table
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.thread_dependencies import Synchronisation

SEEDS = st.integers(0, 1_000_000)
FEW = settings(max_examples=60, deadline=None)


def _conditions(trace: EventTrace, kernels: Kernels) -> dict[str, Synchronisation]:
    matches = match_operations(trace, kernels)
    return clock_conditions(
        trace, matches, collective_table(trace, call_paths(trace, kernels), matches)
    )


def _corrected(trace: EventTrace, kernels: Kernels) -> EventTrace:
    return correct_clocks_of(trace, _conditions(trace, kernels).values(), kernels)


def _with_clocks(trace: EventTrace, offsets: list[int], drifts: list[float]) -> EventTrace:
    """The times that clocks with such offsets (ticks) and drifts would have shown."""
    location = trace.locations_of(np.arange(len(trace)))
    drift = np.resize(drifts, len(trace.locations))[location]
    time = (trace.time * (1 + drift)).astype(np.int64)
    time += np.resize(offsets, len(trace.locations))[location]
    return replace(trace, time=time - time.min())


@given(
    SEEDS, st.lists(st.integers(0, 20_000), min_size=2), st.lists(st.floats(0, 0.01), min_size=2)
)
@FEW
def test_no_violation_is_left(
    kernels: Kernels, seed: int, offsets: list[int], drifts: list[float]
) -> None:
    trace = _with_clocks(carried_out(random_program(seed)), offsets, drifts)
    conditions = _conditions(trace, kernels)
    after = correct_clocks_of(trace, conditions.values(), kernels)
    assert violations(after, late_events(after, conditions)) == ((), ())
    assert np.all(after.time >= trace.time)
    for first, end in zip(trace.starts[:-1], trace.starts[1:], strict=True):
        old, new = np.diff(trace.time[first:end]), np.diff(after.time[first:end])
        assert np.all(new >= 0.99 * old - 1), "order is kept and intervals hardly shrink"
    assert np.array_equal(_corrected(after, kernels).time, after.time)
    assert not [finding for finding in after.findings if "circle" in finding.message]


@given(SEEDS)
@FEW
def test_times_without_violations_stay(kernels: Kernels, seed: int) -> None:
    trace = carried_out(random_program(seed))
    conditions = _conditions(trace, kernels)
    assert violations(trace, late_events(trace, conditions)) == ((), ())
    after = correct_clocks_of(trace, conditions.values(), kernels)
    assert np.array_equal(after.time, trace.time)
    assert after.findings == trace.findings


@given(SEEDS, st.lists(st.integers(0, 20_000), min_size=2))
@FEW
def test_sums_hold_after_the_correction(kernels: Kernels, seed: int, offsets: list[int]) -> None:
    from regionpredict.trace.results import critical_path, delay_costs

    trace = _with_clocks(carried_out(random_program(seed)), offsets, [0.0])
    analysis = analyse(trace, kernels, correct_clocks=True)
    for result in (delay_costs(analysis), critical_path(analysis)):
        assert all(balance.holds for balance in result.balances), result.balances


def _late_receiver_clock() -> EventTrace:
    """In microseconds: rank 1's clock is 400 behind when it receives."""
    build = TraceBuilder(2, ticks_per_second=1e6)
    build.enter(0, 1000e-6, "MPI_Send")
    build.send(0, 1000e-6, 1, size=8)
    build.leave(0, 1100e-6)
    build.enter(1, 0, "work")
    build.leave(1, 500e-6)
    build.enter(1, 500e-6, "MPI_Recv")
    build.receive(1, 600e-6, 0, size=8)
    build.leave(1, 700e-6)
    build.enter(1, 10_700e-6, "work")
    build.leave(1, 60_700e-6)
    return build.build()


def test_a_shift_fades_after_and_grows_before(kernels: Kernels) -> None:
    """Forward 400 at the receive, less 1 % of what passes; before it 1 % less for what passed."""
    trace = _late_receiver_clock()
    after = _corrected(trace, kernels)
    assert after.time[:3].tolist() == [1000, 1000, 1100]
    shifts = (after.time - trace.time)[3:].tolist()
    # 700: 400 - 1; 10,700: 400 - 101; 60,700: gone. 500: 400 - 1; 0: 400 - 6
    assert shifts == [394, 399, 399, 400, 399, 299, 0]
    found, told = violations(trace, late_events(trace, _conditions(trace, kernels)))
    assert [(v.kind, v.source.rank, v.to.rank, v.count, v.largest) for v in found] == [
        ("message", 0, 1, 1, 400)
    ]
    assert "by up to 0.0004 s (from 0 to 1)" in told[0].message


def test_what_others_need_is_not_moved_past_it(kernels: Kernels) -> None:
    """Rank 1 sends to rank 2 just before it receives: no more than 10 may be added there."""
    build = TraceBuilder(3, ticks_per_second=1e6)
    build.enter(0, 1000e-6, "MPI_Send")
    build.send(0, 1000e-6, 1, size=8)
    build.leave(0, 1100e-6)
    build.enter(1, 0, "MPI_Send")
    build.send(1, 590e-6, 2, size=8)
    build.leave(1, 590e-6)
    build.enter(1, 600e-6, "MPI_Recv")
    build.receive(1, 600e-6, 0, size=8)
    build.leave(1, 600e-6)
    build.enter(2, 0, "MPI_Recv")
    build.receive(2, 600e-6, 1, size=8)
    build.leave(2, 600e-6)
    after = _corrected(build.build(), kernels)
    rank_1 = after.time[3:9].tolist()
    assert rank_1 == [4, 600, 989, 1000, 1000, 1000]


@pytest.mark.parametrize(
    ("call", "root", "early"),
    [("MPI_Barrier", -1, 1), ("MPI_Allreduce", -1, 1), ("MPI_Bcast", 0, 1), ("MPI_Reduce", 1, 1),
     ("MPI_Scan", -1, 1)],
)  # fmt: skip
def test_collectives_are_left_after_those_they_need(
    kernels: Kernels, call: str, root: int, early: int
) -> None:
    build = TraceBuilder(2, ticks_per_second=1e6)
    for rank, begin, end in ((0, 900, 1000), (1, 100, 300)):
        build.enter(rank, begin * 1e-6, call)
        build.collective(rank, end * 1e-6, root=root)
        build.leave(rank, end * 1e-6)
    trace = build.build()
    found, _ = violations(trace, late_events(trace, _conditions(trace, kernels)))
    assert [(v.kind, v.source.rank, v.to.rank, v.largest) for v in found] == [
        ("collective", 0, early, 600)
    ]
    after = _corrected(trace, kernels)
    assert after.time[-1] - after.time[3] >= 198  # its length
    ends = after.time[after.kind == Kind.COLLECTIVE_END]
    assert (ends.tolist(), int(after.time[0])) == ([900, 800], 800)


@pytest.mark.parametrize(
    ("call", "root", "moved"),
    [
        ("MPI_Gatherv", 0, ((8, 8), (0, 0))),  # the root's own alone
        ("MPI_Allgatherv", -1, ((0, 8), (0, 8))),
        ("MPI_Scatterv", 0, ((0, 0), (0, 8))),
    ],
)
def test_who_receives_from_nobody_needs_nobody(
    kernels: Kernels, call: str, root: int, moved: tuple[tuple[int, int], ...]
) -> None:
    build = TraceBuilder(2, ticks_per_second=1e6)
    for rank, (sent, received) in enumerate(moved):
        build.enter(rank, (100 + 400 * rank) * 1e-6, call)
        build.collective(rank, (200 + 400 * rank) * 1e-6, root, sent, received)
        build.leave(rank, (200 + 400 * rank) * 1e-6)
    trace = build.build()
    assert violations(trace, late_events(trace, _conditions(trace, kernels))) == ((), ())
    assert _corrected(trace, kernels).time.tolist() == trace.time.tolist()


def test_threads_begin_after_the_fork_and_leave_barriers_together(kernels: Kernels) -> None:
    build = TraceBuilder(1, ticks_per_second=1e6)
    build.region(Region("parallel", Paradigm.OPENMP, Role.PARALLEL))
    build.region(Region("barrier", Paradigm.OPENMP, Role.IMPLICIT_BARRIER))
    build.enter(0, 0, "main")
    build.fork(0, 1000e-6, 2)
    for thread, late in ((0, 0), (1, -200)):
        build.enter((0, thread), (1010 + late) * 1e-6, "parallel")
        build.enter((0, thread), (1100 + late) * 1e-6, "barrier")
        build.leave((0, thread), (1150 + late) * 1e-6)
        build.leave((0, thread), (1150 + late) * 1e-6)
    build.join(0, 1200e-6)
    build.leave(0, 2000e-6)
    trace = build.build()
    found, told = violations(trace, late_events(trace, _conditions(trace, kernels)))
    # the fork by 190, the barrier by 150
    assert [(v.kind, str(v.source), str(v.to), v.count, v.largest) for v in found] == [
        ("thread", "0", "0.1", 2, 190)
    ]
    after = _corrected(trace, kernels)
    assert violations(after, late_events(after, _conditions(after, kernels))) == ((), ())
    assert after.time[int(trace.starts[1])] >= 1000
    assert len(told) == 1


def test_a_join_that_no_part_is_known_for_needs_nobody(kernels: Kernels) -> None:
    """The worker takes part in one of two constructs: nothing tells which, so nothing is late."""
    build = TraceBuilder(1, ticks_per_second=1e6)
    build.region(Region("parallel", Paradigm.OPENMP, Role.PARALLEL))
    build.enter(0, 0, "main")
    for begin in (1000, 2000):
        build.fork(0, begin * 1e-6, 2)
        build.enter(0, begin * 1e-6, "parallel")
        build.leave(0, (begin + 100) * 1e-6)
        build.join(0, (begin + 200) * 1e-6)
    build.leave(0, 3000e-6)
    build.enter((0, 1), 2010e-6, "parallel")
    build.leave((0, 1), 2090e-6)
    trace = build.build()
    assert violations(trace, late_events(trace, _conditions(trace, kernels))) == ((), ())
    assert _corrected(trace, kernels).time.tolist() == trace.time.tolist()
