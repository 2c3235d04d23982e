"""Factors of a part of a run, by hand: a call path, a region, and what MPI_Init encloses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from regionpredict.errors import InputError, UsageError
from regionpredict.trace import EventTrace, Kind, Paradigm, Region, Role, TraceBuilder
from regionpredict.trace.event_trace import Counter
from regionpredict.trace.factors import RunFactors
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.run_options import RunOptions, factors_with
from regionpredict.trace.run_part import part_of_call_path, part_of_region
from regionpredict.trace.selection import Selection

pytestmark = pytest.mark.compiler


def two_phases(rounds: int = 2, skew: float = 0.0) -> EventTrace:
    """Each round: `assemble` (rank 0 works 1 s, rank 1 2 s, barrier), then `solve` (rank 0 works
    3 s, rank 1 1 s, and both wait until 4). Rank 1 enters `solve` `skew` seconds later."""
    build = TraceBuilder(2)
    for rank in range(2):
        build.enter(rank, 0, "main")
        now = 0.0
        for _ in range(rounds):
            for name, work, late, length in (
                ("assemble", 1 + rank, 0.0, 2.0),
                ("solve", 3 - 2 * rank, skew * rank, 4.0),
            ):
                build.enter(rank, now + late, name)
                build.enter(rank, now + late + work, "MPI_Barrier")
                build.collective(rank, now + length, sent=0, received=0)
                build.leave(rank, now + length)
                build.leave(rank, now + length)
                now += length
        build.leave(rank, now)
    return build.build("two phases")


def of(trace: EventTrace, kernels: Kernels, path: str) -> RunFactors:
    return factors_with(trace, kernels, RunOptions(selection=Selection(call_path=path)))


def test_each_phase_has_factors_of_its_own(kernels: Kernels) -> None:
    trace = two_phases()
    first, second = of(trace, kernels, "main/assemble"), of(trace, kernels, "main/solve")
    assert (first.runtime_s, second.runtime_s) == (4, 8)
    assert (first.useful_s, second.useful_s) == (6, 8)
    assert first.load_balance == pytest.approx(3 / 4)
    assert second.load_balance == pytest.approx(4 / 6)
    assert (first.communication, second.communication) == (1, 6 / 8)
    assert second.serialisation == 1
    by_name = factors_with(trace, kernels, RunOptions(phase="solve"))
    assert by_name.useful_s == second.useful_s


def test_work_elsewhere_while_others_are_in_the_path_is_not_useful(kernels: Kernels) -> None:
    part = of(two_phases(skew=0.5), kernels, "main/solve")
    assert part.runtime_s == 8
    assert part.useful_s == 8


def test_time_outside_all_instances_has_no_length(kernels: Kernels) -> None:
    part = part_of_call_path(two_phases(), "main/solve", kernels)
    assert part.instances == 4
    assert part.trace.time.max() / part.trace.ticks_per_second == 8
    assert (np.diff(part.trace.time[: int(part.trace.starts[1])]) >= 0).all()


def test_a_recursive_region_counts_once() -> None:
    build = TraceBuilder(1)
    for time in (0, 1, 2):
        build.enter(0, time, "f")
    for time in (3, 4, 5):
        build.leave(0, time)
    part = part_of_region(build.build(), "f")
    assert part.instances == 1
    assert part.trace.time.max() / part.trace.ticks_per_second == 5


def test_counters_are_shared_out_at_the_ends(kernels: Kernels) -> None:
    """Read with the calls of MPI alone: a reading in `solve` is of more than `solve`."""
    trace = two_phases(rounds=1)
    rows = np.flatnonzero(
        np.array([region.name == "MPI_Barrier" for region in trace.regions] + [False])[trace.region]
    )
    previous = np.concatenate([[0], rows[:-1]])
    previous[rows > trace.starts[1]] = np.maximum(previous[rows > trace.starts[1]], trace.starts[1])
    seconds = (trace.time[rows] - trace.time[previous]) / trace.ticks_per_second
    useful = np.where(trace.kind[rows] == Kind.ENTER, seconds, 0)
    grown = np.rint(1000 * useful).astype(np.int64)
    counters = (
        Counter("PAPI_TOT_INS", rows, grown),
        Counter("PAPI_TOT_CYC", rows, 2 * grown),
    )
    part = of(replace(trace, counters=counters), kernels, "main/solve")
    assert part.instructions == pytest.approx(4000)
    assert part.frequency_hz == pytest.approx(2000)


def test_a_span_that_ends_in_a_call_counts_no_cycles_of_the_call(kernels: Kernels) -> None:
    """Computes at 2 GHz from 0 to 4 s and waits at 1 GHz to 8 s. Readings are at 4 and 8 s."""
    build = TraceBuilder(1)
    for name, time in (("main", 0.0), ("solve", 1.0), ("MPI_Barrier", 4.0)):
        build.enter(0, time, name)
    for time in (8.0, 9.0, 10.0):
        build.leave(0, time)
    trace = build.build()
    rows = np.flatnonzero(np.isin(trace.time, [4 * 10**9, 8 * 10**9]))
    counters = tuple(
        Counter(name, rows, np.array([8000, 4000]) * factor)
        for name, factor in (("PAPI_TOT_CYC", 1), ("PAPI_TOT_INS", 3))
    )
    selection = Selection(time_s=(2.0, 6.0))
    part = factors_with(replace(trace, counters=counters), kernels, RunOptions(selection=selection))
    assert part.frequency_hz == pytest.approx(2000)
    assert part.instructions == pytest.approx(12_000)


def test_threads_keep_what_they_do_while_the_path_lasts(kernels: Kernels) -> None:
    build = TraceBuilder(1)
    build.region(Region("parallel", Paradigm.OPENMP, Role.PARALLEL))
    build.region(Region("barrier", Paradigm.OPENMP, Role.IMPLICIT_BARRIER))
    build.enter(0, 0, "main")
    build.enter(0, 3, "solve")
    build.fork(0, 3, 2)
    for thread, work in enumerate((4, 2)):
        place = (0, thread)
        build.enter(place, 3, "parallel")
        build.enter(place, 3 + work, "barrier")
        build.leave(place, 7)
        build.leave(place, 7)
    build.join(0, 7)
    build.leave(0, 7)
    build.leave(0, 9)
    part = of(build.build("team"), kernels, "main/solve")
    assert part.runtime_s == 4
    assert part.load_balance == pytest.approx(6 / 8)


def with_set_up() -> EventTrace:
    """Rank 1 leaves MPI_Init at 5, rank 0 at 4; then 10 and 8 s of work until they finalize."""
    build = TraceBuilder(2)
    for rank in range(2):
        build.enter(rank, 0, "main")
        build.enter(rank, 1 + 3 * rank, "MPI_Init")
        build.leave(rank, 4 + rank)
        build.enter(rank, 15 - 2 * rank, "MPI_Barrier")
        build.collective(rank, 15, sent=0, received=0)
        build.leave(rank, 15)
        build.enter(rank, 15, "MPI_Finalize")
        build.leave(rank, 16)
        build.leave(rank, 20)
    return build.build("set-up")


def test_what_initialization_costs_is_named(kernels: Kernels) -> None:
    whole = factors_with(with_set_up(), kernels, RunOptions())
    assert whole.initialized is not None
    assert whole.initialized.left_out == pytest.approx(1 - 10 / 20)
    assert whole.initialized.load_balance == pytest.approx(18 / 20)
    assert whole.initialized.parallel == pytest.approx(18 / 20)
    part = factors_with(with_set_up(), kernels, RunOptions(phase="initialized"))
    assert (part.runtime_s, part.useful_s) == (10, 18)
    assert part.initialized is None
    assert factors_with(two_phases(), kernels, RunOptions()).initialized is None


def test_what_is_not_there(kernels: Kernels) -> None:
    for options, message in (
        (RunOptions(selection=Selection(call_path="main/x")), "there is no call path 'main/x'"),
        (RunOptions(phase="x"), "there is no region 'x'"),
        (RunOptions(phase="initialized"), "there is nothing between MPI_Init and MPI_Finalize"),
    ):
        with pytest.raises(InputError, match=message):
            factors_with(two_phases(), kernels, options)
    with pytest.raises(UsageError, match="cannot be combined"):
        RunOptions.of(
            definition="reference", eager_limit=None, latency_s=None, bandwidth=None,
            overhead_s=None, frequency_hz=None, phase="solve", mark=None,
            selection=Selection(call_path="main/solve"),
        )  # fmt: skip
