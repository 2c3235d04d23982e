"""The reference's rules for wait states (Scalasca 2.6), each on a trace of a few events by hand."""

from __future__ import annotations

import pytest
from records import by_place

from regionpredict.trace import TraceBuilder
from regionpredict.trace.analysis import analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.profile import TraceResult
from regionpredict.trace.results import delay_costs, wait_states

MS = 1e-3


def close(values: dict[str, float]) -> object:
    return pytest.approx(values, rel=1e-9, abs=1e-9)


def _begun(ranks: int) -> TraceBuilder:
    build = TraceBuilder(ranks)
    for rank in range(ranks):
        build.enter(rank, 0, "main")
    return build


def _waits(build: TraceBuilder, ranks: int, kernels: Kernels) -> TraceResult:
    for rank in range(ranks):
        build.leave(rank, 100 * MS)
    return wait_states(analyse(build.build(), kernels))


def _send(
    build: TraceBuilder, rank: int, span: tuple[float, float], to: int, name: str = "MPI_Send",
    tag: int = 0, size: int = 8,
) -> None:  # fmt: skip
    build.enter(rank, span[0] * MS, name)
    build.send(rank, span[0] * MS, to, tag, size)
    build.leave(rank, span[1] * MS)


def _receive(
    build: TraceBuilder, rank: int, span: tuple[float, float], source: int, tag: int = 0,
    size: int = 8,
) -> None:  # fmt: skip
    build.enter(rank, span[0] * MS, "MPI_Recv")
    build.receive(rank, span[1] * MS, source, tag, size)
    build.leave(rank, span[1] * MS)


@pytest.mark.parametrize(
    ("call", "wait"),
    [
        ("MPI_Wait", 3),
        ("MPI_Waitany", 3),
        ("MPI_Waitsome", 3),
        ("MPI_Waitall", 3),
        ("MPI_Test", 0),
        ("MPI_Testall", 0),
        ("mpi_wait_", 3),
    ],
)
def test_calls_that_complete_a_receive(kernels: Kernels, call: str, wait: float) -> None:
    """It begins at 2 ms, the sender enters MPI_Isend at 5."""
    build = _begun(2)
    build.enter(0, 1 * MS, "MPI_Irecv")
    build.receive_request(0, 1 * MS, 7)
    build.leave(0, 1 * MS)
    build.enter(0, 2 * MS, call)
    build.receive_complete(0, 6 * MS, 1, 7, size=8)
    build.leave(0, 6 * MS)
    build.enter(1, 5 * MS, "MPI_Isend")
    build.send_request(1, 5 * MS, 0, 3, size=8)
    build.leave(1, 5.5 * MS)
    build.enter(1, 5.5 * MS, "MPI_Wait")
    build.send_complete(1, 6 * MS, 3)
    build.leave(1, 6 * MS)
    found = by_place(_waits(build, 2, kernels), "late_sender", MS)
    assert found == close({f"main/{call}/0": wait} if wait else {})


@pytest.mark.parametrize(
    ("call", "waits_there"),
    [
        ("MPI_Send", True),
        ("MPI_Ssend", True),
        ("MPI_Bsend", False),
        ("MPI_Rsend", False),
        ("MPI_Sendrecv", False),
    ],
)
def test_sends_that_wait_for_their_receiver(kernels: Kernels, call: str, waits_there: bool) -> None:
    """From 1 ms until the receive begins at 4."""
    build = _begun(2)
    _send(build, 0, (1, 5), 1, call)
    _receive(build, 1, (4, 5), 0)
    found = by_place(_waits(build, 2, kernels), "late_receiver", MS)
    assert found == close({f"main/{call}/0": 3} if waits_there else {})


def test_a_send_that_was_done_before_anybody_asked_did_not_wait(kernels: Kernels) -> None:
    build = _begun(2)
    _send(build, 0, (1, 2), 1)
    _receive(build, 1, (4, 5), 0)
    assert _waits(build, 2, kernels).counts == {}


@pytest.mark.parametrize("late_sender", [False, True])
def test_longest_late_receiver_of_a_waitall(kernels: Kernels, late_sender: bool) -> None:
    """Receivers come at 4 and 7 ms to what is waited for from 2 on; a late sender hides them."""
    build = _begun(4)
    for request, to in ((1, 1), (2, 2)):
        build.enter(0, 1 * MS, "MPI_Isend")
        build.send_request(0, 1 * MS, to, request, size=8)
        build.leave(0, 1 * MS)
    if late_sender:
        build.enter(0, 1 * MS, "MPI_Irecv")
        build.receive_request(0, 1 * MS, 3)
        build.leave(0, 1 * MS)
        _send(build, 3, (3, 3), 0)
    build.enter(0, 2 * MS, "MPI_Waitall")
    build.send_complete(0, 8 * MS, 1)
    build.send_complete(0, 8 * MS, 2)
    if late_sender:
        build.receive_complete(0, 8 * MS, 3, 3, size=8)
    build.leave(0, 8 * MS)
    _receive(build, 1, (4, 5), 0)
    _receive(build, 2, (7, 8), 0)
    found = _waits(build, 4, kernels)
    wanted = {"late_sender": 1.0} if late_sender else {"late_receiver": 5.0}
    for metric in ("late_sender", "late_receiver"):
        value = wanted.get(metric)
        here = {"main/MPI_Waitall/0": value} if value else {}
        assert by_place(found, metric, MS) == close(here)


def test_of_equal_late_receivers_the_last_send_counts(kernels: Kernels) -> None:
    """Both come at 4 ms: the delay is that of the rank to which the later request went."""
    build = _begun(3)
    for request, to in ((1, 2), (2, 1)):
        build.enter(0, 1 * MS, "MPI_Isend")
        build.send_request(0, 1 * MS, to, request, size=8)
        build.leave(0, 1 * MS)
    build.enter(0, 2 * MS, "MPI_Waitall")
    build.send_complete(0, 5 * MS, 1)
    build.send_complete(0, 5 * MS, 2)
    build.leave(0, 5 * MS)
    for rank in (1, 2):
        _receive(build, rank, (4, 5), 0)
        build.leave(rank, 9 * MS)
    build.leave(0, 9 * MS)
    found = delay_costs(analyse(build.build(), kernels))
    assert by_place(found, "delay_short.late_receiver", MS) == close({"main/1": 2})


@pytest.mark.parametrize(
    ("first", "second", "order"),
    [((1, 5), (2, 3), "different"), ((1, 3), (2, 5), None), ((1, 5), (1, 3), "same")],
)
def test_messages_received_in_the_wrong_order(
    kernels: Kernels, first: tuple[int, float], second: tuple[int, float], order: str | None
) -> None:
    """(rank, time in ms) of what is received first, from 1 ms on, and second.

    Where the second message was sent before the first, the wait for the first was for the order.
    """
    build = _begun(3)
    sent = sorted([(first[1], first[0], 0), (second[1], second[0], 1)])
    for time, rank, tag in sent:
        _send(build, rank, (time, time), 0, tag=tag)
    _receive(build, 0, (1, 6), first[0], tag=0)
    _receive(build, 0, (7, 8), second[0], tag=1)
    found = _waits(build, 3, kernels)
    idle = {"main/MPI_Recv/0": first[1] - 1}
    assert by_place(found, "late_sender", MS) == close(idle)
    assert by_place(found, "late_sender_wo", MS) == close(idle if order else {})
    for kind in ("different", "same"):
        assert by_place(found, f"lswo_{kind}", MS) == close(idle if kind == order else {})
    assert found.counts.get("late_sender_wo", 0) == (1 if order else 0)


def test_a_waitall_is_out_of_order_only_for_what_comes_after_it(kernels: Kernels) -> None:
    """It takes messages sent at 3 and 5 ms, and waits for the later one; a third was sent at 4."""
    build = _begun(3)
    _send(build, 1, (5, 5), 0)
    _send(build, 2, (3, 3), 0)
    _send(build, 2, (4, 4), 0, tag=1)
    for request in (1, 2):
        build.enter(0, 1 * MS, "MPI_Irecv")
        build.receive_request(0, 1 * MS, request)
        build.leave(0, 1 * MS)
    build.enter(0, 2 * MS, "MPI_Waitall")
    build.receive_complete(0, 6 * MS, 1, 1, size=8)
    build.receive_complete(0, 6 * MS, 2, 2, size=8)
    build.leave(0, 6 * MS)
    without = _waits(_copy(build), 3, kernels)
    assert "late_sender_wo" not in without.totals
    _receive(build, 0, (7, 8), 2, tag=1)
    found = _waits(build, 3, kernels)
    assert by_place(found, "lswo_different", MS) == close({"main/MPI_Waitall/0": 3})


def _copy(build: TraceBuilder) -> TraceBuilder:
    from copy import deepcopy

    return deepcopy(build)


def test_messages_without_a_payload_are_told_apart(kernels: Kernels) -> None:
    """A late sender and a late receiver of each kind."""
    build = _begun(2)
    for at, size in ((0, 0), (20, 8)):
        _receive(build, 0, (at + 1, at + 4), 1, size=size)
        _send(build, 0, (at + 5, at + 8), 1, size=size)
        _send(build, 1, (at + 3, at + 4), 0, size=size)
        _receive(build, 1, (at + 7, at + 8), 0, size=size)
    assert _waits(build, 2, kernels).counts == {
        "late_sender": 2,
        "late_receiver": 2,
        "late_sender_syncs": 1,
        "late_receiver_syncs": 1,
    }


def test_nobody_waits_for_a_message_to_nobody(kernels: Kernels) -> None:
    build = _begun(1)
    _send(build, 0, (1, 2), -1)
    _receive(build, 0, (3, 4), -1)
    analysis = analyse(build.build(), kernels)
    assert len(analysis.points) == 0
    assert [str(finding) for finding in analysis.findings] == []


@pytest.mark.parametrize(
    ("call", "metric"),
    [
        ("MPI_Barrier", "barrier_completion"),
        ("MPI_Allreduce", "nxn_completion"),
        ("MPI_Reduce_scatter_block", "nxn_completion"),
    ],
)
def test_completion_begins_when_the_first_rank_has_left(
    kernels: Kernels, call: str, metric: str
) -> None:
    """Ranks enter at 1, 4 and 2 ms and leave at 5, 6 and 8."""
    build = _begun(3)
    for rank, (begin, end) in enumerate(((1, 5), (4, 6), (2, 8))):
        build.enter(rank, begin * MS, call)
        build.collective(rank, end * MS)
        build.leave(rank, end * MS)
    found = _waits(build, 3, kernels)
    assert by_place(found, metric, MS) == close({f"main/{call}/1": 1, f"main/{call}/2": 3})


def test_receivers_without_a_payload_complete_with_the_others(kernels: Kernels) -> None:
    """Where all calls overlap everybody synchronises who moves anything; rank 2 does not."""
    build = _begun(3)
    for rank, (begin, end, sent) in enumerate(((1, 5, 8), (4, 6, 8), (2, 8, 0))):
        build.enter(rank, begin * MS, "MPI_Allgatherv")
        build.collective(rank, end * MS, sent=sent, received=sent)
        build.leave(rank, end * MS)
    found = _waits(build, 3, kernels)
    assert by_place(found, "wait_nxn", MS) == close({"main/MPI_Allgatherv/0": 3})
    assert by_place(found, "nxn_completion", MS) == close({"main/MPI_Allgatherv/1": 1})


def test_a_rank_does_not_wait_for_itself(kernels: Kernels) -> None:
    build = _begun(2)
    alone = build.communicator("MPI_COMM_SELF", ())
    one = build.communicator("one", (1,))
    for rank, within in ((0, alone), (1, alone), (1, one)):
        build.enter(rank, (10 * within + rank) * MS, "MPI_Barrier")
        build.collective(rank, (10 * within + 5) * MS, within=within)
        build.leave(rank, (10 * within + 5) * MS)
    assert _waits(build, 2, kernels).counts == {}


def test_of_those_who_come_last_the_first_rank_of_the_communicator_counts(
    kernels: Kernels,
) -> None:
    """Ranks 0 and 2 come last, both at 4 ms; rank 2 of the world is rank 0 of the communicator."""
    build = _begun(4)
    part = build.communicator("part", (2, 1, 0))
    for rank, begin in enumerate((4, 1, 4)):
        build.enter(rank, begin * MS, "MPI_Allreduce")
        build.collective(rank, 5 * MS, within=part)
        build.leave(rank, 5 * MS)
    for rank in range(4):
        build.leave(rank, 9 * MS)
    found = delay_costs(analyse(build.build(), kernels))
    assert by_place(found, "delay_short.wait_nxn", MS) == close({"main/2": 3})


def test_scan_goes_by_ranks_of_the_communicator(kernels: Kernels) -> None:
    """Rank 2 of the world is the first, and waits for nobody; rank 0 is the last."""
    build = _begun(3)
    turned = build.communicator("turned", (2, 1, 0))
    for rank, begin in enumerate((1, 4, 2)):
        build.enter(rank, begin * MS, "MPI_Scan")
        build.collective(rank, 5 * MS, within=turned)
        build.leave(rank, 5 * MS)
    found = _waits(build, 3, kernels)
    assert by_place(found, "early_scan", MS) == close({"main/MPI_Scan/0": 3})


def test_waits_of_messages_hand_on_by_messages_alone(kernels: Kernels) -> None:
    """Rank 1 waits for rank 0 from 1 to 4 ms, and then makes rank 2 wait in a barrier, which the
    reference does not count as handing on."""
    build = _begun(3)
    _send(build, 0, (4, 4), 1)
    _receive(build, 1, (1, 4), 0)
    for rank, begin in enumerate((4, 6, 2)):
        build.enter(rank, begin * MS, "MPI_Barrier")
        build.collective(rank, 6 * MS)
        build.leave(rank, 6 * MS)
    found = _waits(build, 3, kernels)
    assert by_place(found, "wait_propagating", MS) != {}
    assert "wait_propagating.late_sender" not in found.totals
    assert by_place(found, "wait_terminal.late_sender", MS) == close({"main/MPI_Recv/1": 3})
    assert by_place(found, "wait_direct.late_sender", MS) == close({"main/MPI_Recv/1": 3})


def test_members_pay_from_the_next_last_meeting_on(kernels: Kernels) -> None:
    """Rank 0 waits 2 ms for rank 1, 3 and 4 for rank 2, works 10, and is late in a barrier.

    Rank 3 waits there 1 ms for what was since MPI_Init, 10 of work and 9 of waits; rank 1 17 ms
    for 10 and 7; rank 2 10 ms for 10. Rank 1 was met last before the wait of 3 ms, and rank 2
    next after the wait of 4: the reference counts rank 1 in only there, and 3 ms are left out.
    """
    build = _begun(4)
    for rank in range(4):
        build.enter(rank, 0, "MPI_Init")
        build.leave(rank, 0)

    def work(rank: int, name: str, begin: float, end: float) -> None:
        build.enter(rank, begin * MS, name)
        build.leave(rank, end * MS)

    work(1, "one", 0, 2)
    _send(build, 1, (2, 2), 0)
    work(2, "two", 0, 5)
    _send(build, 2, (5, 5), 0)
    work(2, "two", 5, 9)
    _send(build, 2, (9, 9), 0)
    work(3, "three", 0, 18)
    for begin, end, source in ((0, 2, 1), (2, 5, 2), (5, 9, 2)):
        _receive(build, 0, (begin, end), source)
    work(0, "late", 9, 19)
    for rank, begin in enumerate((19, 2, 9, 18)):
        build.enter(rank, begin * MS, "MPI_Barrier")
        build.collective(rank, 19 * MS)
        build.leave(rank, 19 * MS)
        build.leave(rank, 19 * MS)
    found = delay_costs(analyse(build.build(), kernels))
    assert by_place(found, "delay_short.wait_barrier", MS) == close(
        {"main/late/0": 10 / 19 + 10 + 10}
    )
    assert by_place(found, "delay_long.wait_barrier", MS) == close(
        {"main/one/1": 2 / 19, "main/two/2": 3 / 19 + 4 / 19 + 4}
    )
    paid, *others = found.balances
    assert paid.holds and all(other.holds for other in others)
    left_out = "costs of waits between points with members of a collective operation"
    assert paid.parts[left_out] == pytest.approx(3 * MS)
