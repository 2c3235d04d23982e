"""Replays against a simulation in the order of the program, and by hand."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from traced_programs import chain

from regionpredict.errors import InputError
from regionpredict.trace import EventTrace, Paradigm, Region, Role, TraceBuilder
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.replay import BlockedError, Network, replay

pytestmark = pytest.mark.compiler
RANKS = 4


message = st.tuples(
    st.integers(0, RANKS - 1), st.integers(0, RANKS - 1), st.sampled_from([8, 100_000])
).filter(lambda m: m[0] != m[1])
program = st.lists(
    st.tuples(
        st.lists(st.integers(0, 9), min_size=RANKS, max_size=RANKS),
        st.one_of(st.none(), message),
        st.booleans(),
    ),
    max_size=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=program, begins=st.lists(st.integers(0, 9), min_size=RANKS, max_size=RANKS))
def test_replay_is_the_program_in_its_order(
    steps: list[tuple[list[int], tuple[int, int, int] | None, bool]],
    begins: list[int],
    kernels: Kernels,
) -> None:
    """Each step: all compute, then one message (blocking, or received by request) or a barrier."""
    begins[0] = 0  # times count from the first event
    build = TraceBuilder(RANKS)
    ideal, real = list(begins), [float(begin) for begin in begins]
    for rank in range(RANKS):
        build.enter(rank, real[rank], "main")
    for number, (work, sent, immediate) in enumerate(steps):
        for rank in range(RANKS):
            ideal[rank] += work[rank]
            real[rank] += work[rank]
        if sent is None:
            ideal = [max(ideal)] * RANKS
            end = max(real) + 3
            for rank in range(RANKS):
                build.enter(rank, real[rank], "MPI_Barrier")
                build.collective(rank, end)
                build.leave(rank, end)
            real = [end] * RANKS
            continue
        source, to, size = sent
        if immediate:
            build.enter(to, real[to], "MPI_Irecv")
            build.receive_request(to, real[to], number)
            build.leave(to, real[to] + 1)
            real[to] += 1
        posted = ideal[to]
        build.enter(source, real[source], "MPI_Send")
        build.send(source, real[source], to, size=size)
        there = max(real[source], real[to]) + 2
        build.leave(source, there)
        if immediate:
            build.enter(to, real[to], "MPI_Wait")
            build.receive_complete(to, there, source, number, size=size)
        else:
            build.enter(to, real[to], "MPI_Recv")
            build.receive(to, there, source, size=size)
        build.leave(to, there)
        real[source] = real[to] = there
        came = max(ideal[source], posted) if size > 32768 else ideal[source]
        if size > 32768:
            ideal[source] = came
        ideal[to] = max(ideal[to], came)
    for rank in range(RANKS):
        build.leave(rank, real[rank])
    trace = build.build()
    found = replay(trace, match_operations(trace, kernels), kernels)
    assert trace.seconds(found).tolist() == ideal


def message_of(size: int, count: int = 1) -> EventTrace:
    """Rank 0 works 1 s and sends `count` messages at once; rank 1 receives them."""
    build = TraceBuilder(2)
    for rank, name in enumerate(("MPI_Send", "MPI_Recv")):
        build.enter(rank, 0.0, "main")
        for _ in range(count):
            build.enter(rank, 1.0 - rank, name)
            if rank == 0:
                build.send(0, 1.0, 1, size=size)
            else:
                build.receive(1, 0.0, 0, size=size)
            build.leave(rank, 1.0 - rank)
        build.leave(rank, 1.0 - rank)
    return build.build()


@pytest.mark.parametrize(
    ("size", "count", "network", "ends"),
    [
        (1000, 1, Network(), (1.0, 1.0)),
        (1000, 1, Network(latency_s=0.5), (1.0, 1.5)),
        (1000, 1, Network(latency_s=0.5, bandwidth=500.0), (1.0, 3.5)),  # 1 + 2 + 0.5
        (1000, 3, Network(bandwidth=500.0), (1.0, 7.0)),  # one after the other through the port
        (1000, 3, Network(gap_s=4.0, bandwidth=500.0), (1.0, 13.0)),
        (1000, 1, Network(bandwidth=500.0, eager_limit=10), (3.0, 3.0)),  # both are in it
        (1000, 2, Network(overhead_s=0.25), (1.5, 1.5)),  # 1.25, 1.5; it is there at once
    ],
)
def test_costs_of_a_network(
    size: int, count: int, network: Network, ends: tuple[float, float], kernels: Kernels
) -> None:
    trace = message_of(size, count)
    found = replay(trace, match_operations(trace, kernels), kernels, network)
    assert tuple(trace.seconds(found)) == pytest.approx(ends)


def test_a_collective_costs_its_tree(kernels: Kernels) -> None:
    build = TraceBuilder(5)
    for rank in range(5):
        build.enter(rank, 0.0, "main")
        build.enter(rank, float(rank), "MPI_Allreduce")
        build.collective(rank, 4.0, sent=100, received=100)
        build.leave(rank, 4.0)
        build.leave(rank, 4.0)
    trace = build.build()
    network = Network(latency_s=0.1, bandwidth=1000.0)
    found = replay(trace, match_operations(trace, kernels), kernels, network)
    assert trace.seconds(found) == pytest.approx([4 + 3 * 0.2] * 5)  # ceil(log2(5)) rounds


def test_collectives_of_parts(kernels: Kernels) -> None:
    # two halves synchronise apart; MPI_COMM_SELF waits for nobody
    build = TraceBuilder(4)
    halves = [build.communicator("low", (0, 1)), build.communicator("high", (2, 3))]
    alone = build.communicator("self", ())
    for rank, work in enumerate((1.0, 2.0, 3.0, 7.0)):
        build.enter(rank, 0.0, "main")
        for within in (alone, halves[rank // 2]):
            build.enter(rank, work, "MPI_Barrier")
            build.collective(rank, 9.0 if within != alone else work, within=within)
            build.leave(rank, 9.0 if within != alone else work)
        build.leave(rank, 9.0)
    trace = build.build()
    found = replay(trace, match_operations(trace, kernels), kernels)
    assert trace.seconds(found).tolist() == [2, 2, 7, 7]


def test_ranks_that_wait_for_each_other(kernels: Kernels) -> None:
    build = TraceBuilder(2)
    for rank in (0, 1):
        build.enter(rank, 0.0, "main")
        build.enter(rank, 1.0, "MPI_Recv")
        build.receive(rank, 2.0, 1 - rank)
        build.leave(rank, 2.0)
        build.enter(rank, 2.0, "MPI_Send")
        build.send(rank, 2.0, 1 - rank)
        build.leave(rank, 2.0)
        build.leave(rank, 2.0)
    trace = build.build("crossed")
    with pytest.raises(BlockedError, match=r"crossed: .*: location 0 and 1 other wait"):
        replay(trace, match_operations(trace, kernels), kernels)


def test_another_length_of_the_work(kernels: Kernels) -> None:
    trace = chain(3)
    work = (trace.time * 0).astype("int64")
    found = replay(trace, match_operations(trace, kernels), kernels, work=work)
    assert found.tolist() == [0, 0, 0]


def test_a_network_of_negative_costs() -> None:
    with pytest.raises(InputError, match="a network has a negative cost"):
        Network(latency_s=-1)
    with pytest.raises(InputError, match="no bandwidth"):
        Network(bandwidth=0)


@pytest.mark.parametrize(
    "takes_part", [(True, True, True), (True, False, True), (False, True, True)]
)
def test_constructs_that_touch_each_other(
    kernels: Kernels, takes_part: tuple[bool, bool, bool]
) -> None:
    """Each begins at the very time at which the one before ends, the second begins and ends at 2.

    Thread 1 takes part in some of them; both come to the end of a construct when the later does.
    """
    build = TraceBuilder(1)
    build.region(Region("parallel", Paradigm.OPENMP, Role.PARALLEL))
    build.region(Region("ibarrier", Paradigm.OPENMP, Role.IMPLICIT_BARRIER))
    build.enter(0, 0, "main")
    for (begin, end), both in zip(((0, 2), (2, 2), (2, 5)), takes_part, strict=True):
        build.fork(0, begin, 2 if both else 1)
        for thread in range(2 if both else 1):
            build.enter((0, thread), begin, "parallel")
            waits = both and not thread
            build.enter((0, thread), (begin + end) / 2 if waits else end, "ibarrier")
            build.leave((0, thread), end)
            build.leave((0, thread), end)
        build.join(0, end)
    build.leave(0, 6)
    trace = build.build()
    ends = replay(trace, match_operations(trace, kernels), kernels)
    assert ends.tolist() == [6e9, 5e9]
