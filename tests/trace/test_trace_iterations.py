"""Iterations found and cut out; runs without the noise of their computation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from traced_programs import chain, doubled

from regionpredict.errors import InputError
from regionpredict.trace import Counter, EventTrace, Kind, TraceBuilder
from regionpredict.trace.event_slices import cut_trace
from regionpredict.trace.factors import run_factors
from regionpredict.trace.iterations import iterations_of
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.nominal_run import nominal_work
from regionpredict.trace.run_options import RunOptions, factors_with

pytestmark = pytest.mark.compiler

START, FINISH = 10.0, 5.0


def stepping(durations: list[float], collective: bool = True, mark: str = "step") -> EventTrace:
    """A long start and two ranks that step: both work, exchange a message, and meet in a barrier.

    In each step rank 0 works all of the duration but a second, rank 1 half of that.
    """
    build = TraceBuilder(2)
    for rank in (0, 1):
        build.enter(rank, 0.0, "main")
        build.enter(rank, START - 1, "MPI_Bcast")
        build.collective(rank, START, root=0)
        build.leave(rank, START)
    now = START
    for duration in durations:
        ends = now + duration
        for rank in (0, 1):
            work = (duration - 1) / (1 + rank)
            build.enter(rank, now, mark)
            if rank == 0:
                build.enter(0, now + work, "MPI_Send")
                build.send(0, now + work, 1, size=8)
            else:
                build.enter(1, now + work, "MPI_Recv")
                build.receive(1, ends - 1, 0, size=8)
            build.leave(rank, ends - 1)
            if collective:
                build.enter(rank, ends - 1, "MPI_Barrier")
                build.collective(rank, ends)
                build.leave(rank, ends)
            build.leave(rank, ends)
        now = ends
    for rank in (0, 1):
        build.enter(rank, now + FINISH, "MPI_Finalize")
        build.leave(rank, now + FINISH)
        build.leave(rank, now + FINISH)
    return build.build("stepping")


DURATIONS = [6.0, 3.0, 3.0, 3.0, 5.0, 9.0, 4.0]


def test_iterations_end_with_their_collective() -> None:
    found = iterations_of(stepping(DURATIONS))
    assert found.period == 2
    # from the end of the first barrier to that of the last
    assert found.duration_s.tolist() == DURATIONS[1:]
    times = np.cumsum([START, *DURATIONS])[1:]
    trace = stepping(DURATIONS)
    for row in found.bounds:
        assert trace.seconds(trace.time[row]).tolist() == times.tolist()
        assert set(trace.kind[row].tolist()) == {int(Kind.LEAVE)}
    assert found.noise == pytest.approx(np.std(DURATIONS[1:]) / np.mean(DURATIONS[1:]))
    assert found.cleanest_range() == (0, 3)


def test_iterations_without_a_collective() -> None:
    found = iterations_of(stepping([3.0] * 6, collective=False))
    assert found.period == 1
    assert found.duration_s.tolist() == [3.0] * 5


def test_marked_iterations() -> None:
    found = iterations_of(stepping(DURATIONS), "step")
    assert found.period is None
    assert found.count == len(DURATIONS) - 1
    with pytest.raises(InputError, match="location 0 enters 'other' 0 times"):
        iterations_of(stepping(DURATIONS), "other")


def test_nothing_that_repeats() -> None:
    with pytest.raises(InputError, match="no iterations are found"):
        iterations_of(doubled(4, 1))


def test_a_cut_is_a_trace(kernels: Kernels) -> None:
    trace = stepping(DURATIONS)
    found = iterations_of(trace)
    part, matches = cut_trace(
        trace, match_operations(trace, kernels), found.bounds[:, 0], found.bounds[:, 2]
    )
    assert part.seconds(part.time.max()) == 6.0
    for location in (0, 1):
        rows = slice(part.starts[location], part.starts[location + 1])
        kinds, regions = part.kind[rows].tolist(), part.region[rows].tolist()
        opened = []
        for kind, region in zip(kinds, regions, strict=True):
            if kind == Kind.ENTER:
                opened.append(region)
            elif kind == Kind.LEAVE:
                assert opened.pop() == region
        assert not opened
        assert part.regions[regions[0]].name == "main"
    sends = np.flatnonzero(part.kind[part.operations.event] == Kind.SEND)
    assert len(sends) == 2
    assert (matches.mate[sends] >= 0).all()


def test_factors_of_iterations(kernels: Kernels) -> None:
    # two steps of 3 s: 2 s and 1 s of work, then a second of waiting for nothing
    clean = factors_with(stepping([3.0] * 5), kernels, RunOptions(phase="clean"))
    assert clean.runtime_s == pytest.approx(6)
    assert clean.load_balance == pytest.approx(0.75)
    assert clean.serialisation == pytest.approx(1)
    assert clean.transfer == pytest.approx(2 / 3)
    assert clean.iterations is not None
    assert clean.iterations.count == 4
    whole = factors_with(stepping([3.0] * 5), kernels, RunOptions(phase="iterations"))
    assert whole.runtime_s == pytest.approx(12)
    assert whole.parallel == pytest.approx(clean.parallel)


def test_cycles_take_the_place_of_time(kernels: Kernels) -> None:
    # rank 1 of 2 was interrupted: its 2 s are 1e9 cycles, as rank 0's 1 s; 1 GHz
    trace = doubled(2, 1)
    enters = np.flatnonzero((trace.kind == Kind.ENTER) & (trace.time > 0))
    counter = Counter("PAPI_TOT_CYC", enters, np.array([10**9, 10**9]))
    noisy = replace(trace, counters=(counter,))
    work = nominal_work(noisy, 1e9)
    assert work[enters - 1].tolist() == [10**9, 10**9]
    options = RunOptions(frequency_hz=1e9, nominal=RunOptions().ideal)
    assert factors_with(noisy, kernels, options).load_balance == 1
    assert run_factors(noisy, match_operations(noisy, kernels), kernels).load_balance == 0.75
    with pytest.raises(InputError, match="has no counter of cycles"):
        nominal_work(chain(3), 1e9)
