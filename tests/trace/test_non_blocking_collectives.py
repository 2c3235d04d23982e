"""Waits in non-blocking collective operations, from their definition."""

from __future__ import annotations

import pytest

from regionpredict.trace import TraceBuilder
from regionpredict.trace.analysis import analyse
from regionpredict.trace.event_trace import Collective
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.results import critical_path, delay_costs, wait_states


def _run(
    *ranks: tuple[float, float, float],
    operation: Collective = Collective.ALLREDUCE,
    root: int = -1,
    noted: float = 0.0,
) -> TraceBuilder:
    """Each rank begins the operation, asks for its end and has it at the given times.

    `noted` seconds after the begin of the call, its request is known.
    """
    build = TraceBuilder(len(ranks))
    for rank, (post, ask, end) in enumerate(ranks):
        build.enter(rank, 0, "main")
        build.enter(rank, post, "MPI_Iallreduce")
        build.collective_request(rank, post + noted, request=4)
        build.leave(rank, post + 0.1)
        build.enter(rank, ask, "MPI_Wait")
        build.collective_complete(rank, end, operation, request=4, root=root)
        build.leave(rank, end)
        build.leave(rank, 20)
    return build


def _waited(build: TraceBuilder, kernels: Kernels, metric: str) -> dict[int, float]:
    analysis = analyse(build.build(), kernels)
    assert dict(analysis.not_analysed) == {}
    found = wait_states(analysis)
    return {
        record.location.rank: record.value
        for record in found.records
        if record.metric == metric and record.value
    }


def test_all_wait_for_the_last_that_begins(kernels: Kernels) -> None:
    # Rank 1 begins at 8; rank 0 waits from 2 on, rank 2 is busy until 5.
    build = _run((1, 2, 8.5), (8, 8.2, 8.5), (1, 5, 8.5))
    waited = _waited(build, kernels, "wait_nxn")
    assert waited == pytest.approx({0: 6.0, 2: 3.0})


def test_the_begin_of_a_call_counts_not_when_its_request_is_known(kernels: Kernels) -> None:
    build = _run((1, 2, 8.5), (8, 8.2, 8.5), (1, 5, 8.5), noted=0.1)
    waited = _waited(build, kernels, "wait_nxn")
    assert waited == pytest.approx({0: 6.0, 2: 3.0})


def test_nobody_waits_for_who_begins_early_and_asks_late(kernels: Kernels) -> None:
    build = _run((1, 2, 2.5), (1, 9, 9.1), (1, 5, 5.2))
    assert _waited(build, kernels, "wait_nxn") == {}


def test_who_asks_behind_the_last_begin_does_not_wait(kernels: Kernels) -> None:
    build = _run((1, 2, 6.5), (6, 9, 9.1), (1, 7, 7.1))
    assert _waited(build, kernels, "wait_nxn") == pytest.approx({0: 4.0})


def test_receivers_wait_for_a_root_that_begins_late(kernels: Kernels) -> None:
    build = _run((6, 6.2, 6.4), (1, 2, 6.5), (1, 8, 8.1), operation=Collective.BCAST, root=0)
    assert _waited(build, kernels, "late_broadcast") == pytest.approx({1: 4.0})


def test_a_root_waits_for_the_last_that_sends(kernels: Kernels) -> None:
    build = _run((1, 2, 7.5), (7, 7.2, 7.4), (1, 3, 3.1), operation=Collective.REDUCE, root=0)
    assert _waited(build, kernels, "early_reduce") == pytest.approx({0: 5.0})


def test_operations_belong_together_in_the_order_in_which_they_begin(kernels: Kernels) -> None:
    """Rank 0 asks for the second one first, and all have a barrier between."""
    build = TraceBuilder(2)
    for rank, late in ((0, 0.0), (1, 3.0)):
        build.enter(rank, 0, "main")
        for request, at in ((1, 1.0), (2, 2.0)):
            build.enter(rank, at + late, "MPI_Iallreduce")
            build.collective_request(rank, at + late, request=request)
            build.leave(rank, at + late + 0.1)
        build.enter(rank, 6, "MPI_Barrier")
        build.collective(rank, 6.1, sent=0, received=0)
        build.leave(rank, 6.1)
        for request, at in ((2, 7.0), (1, 8.0)) if rank == 0 else ((1, 7.0), (2, 8.0)):
            build.enter(rank, at, "MPI_Wait")
            build.collective_complete(rank, at + 0.1, Collective.ALLREDUCE, request=request)
            build.leave(rank, at + 0.1)
        build.leave(rank, 20)
    analysis = analyse(build.build(), kernels)
    assert [str(finding) for finding in analysis.findings] == []
    assert not any(
        record.value for record in wait_states(analysis).records if record.metric == "wait_nxn"
    )


def test_the_causes_of_waits_are_found(kernels: Kernels) -> None:
    build = _run((1, 2, 8.5), (8, 8.2, 8.5), (1, 5, 8.5))
    analysis = analyse(build.build(), kernels)
    found = delay_costs(analysis).totals
    told = found["delay_short.wait_nxn"] + found.get("delay_long.wait_nxn", 0.0)
    assert told == pytest.approx(9.0)
    late = [
        record for record in delay_costs(analysis).records
        if record.metric == "delay_short.wait_nxn" and record.value
    ]  # fmt: skip
    assert {record.location.rank for record in late} == {1}
    assert critical_path(analysis).totals["critical_path"] == pytest.approx(20)


def test_all_that_wait_for_one_rank_are_one_instance(kernels: Kernels) -> None:
    build = _run((1, 2, 8.5), (8, 8.2, 8.5), (1, 5, 8.5))
    (worst,) = wait_states(analyse(build.build(), kernels)).worst
    assert (worst.seconds, worst.longest_s, worst.time_s) == pytest.approx((9.0, 6.0, 8.5))
    assert [location.rank for location in worst.waiting] == [0, 2]
    assert worst.late is not None
    assert (worst.late.rank, worst.late_callpath) == (1, "main/MPI_Iallreduce")


def test_waits_over_time_are_where_they_happen(kernels: Kernels) -> None:
    """Of 20 s in 60 parts: rank 0 waits from 2 to 8, rank 2 from 5 to 8."""
    build = _run((1, 2, 8.5), (8, 8.2, 8.5), (1, 5, 8.5))
    found = wait_states(analyse(build.build(), kernels)).severity
    assert found is not None
    assert found.part_s == pytest.approx(20 / 60)
    parts = found.seconds["wait_nxn"]
    assert sum(parts) == pytest.approx(9.0)
    assert parts[6:24] == pytest.approx([1 / 3] * 9 + [2 / 3] * 9)
    assert not any(parts[:6]) and not any(parts[24:])
