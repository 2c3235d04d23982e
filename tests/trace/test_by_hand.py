"""Small traces whose waits, delays and paths are counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from pingpong import COUNTS, REPORTED, TICKS_PER_SECOND, WHOLE_RUN_IMPACT, pingpong
from records import by_place

from regionpredict.report.trace_results import result_document
from regionpredict.trace import TraceBuilder
from regionpredict.trace.analysis import analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.path_impact import mapped_idle_time, path_impact
from regionpredict.trace.results import critical_path, delay_costs, wait_states

MS = 1e-3


def close(values: dict[str, float]) -> object:
    return pytest.approx(values, rel=1e-9, abs=1e-9)


def _all_init(build: TraceBuilder, ranks: int) -> None:
    for rank in range(ranks):
        build.enter(rank, 0, "main")
        build.enter(rank, 0, "MPI_Init")
        build.leave(rank, 0)


def _work(build: TraceBuilder, rank: int, begin: float, end: float, name: str = "work") -> None:
    build.enter(rank, begin * MS, name)
    build.leave(rank, end * MS)


def test_chain_of_three_ranks(kernels: Kernels) -> None:
    """Rank 1 waits 60 ms for rank 0, which makes rank 2 wait 93 ms, of which 60 are inherited."""
    build = TraceBuilder(3)
    _all_init(build, 3)
    _work(build, 0, 0, 100)
    build.enter(0, 100 * MS, "MPI_Send")
    build.send(0, 100 * MS, 1, size=8)
    build.leave(0, 100 * MS)
    _work(build, 1, 0, 40)
    build.enter(1, 40 * MS, "MPI_Recv")
    build.receive(1, 103 * MS, 0, size=8)
    build.leave(1, 103 * MS)
    _work(build, 1, 103, 123, "work2")
    build.enter(1, 123 * MS, "MPI_Send")
    build.send(1, 123 * MS, 2, size=8)
    build.leave(1, 123 * MS)
    _work(build, 2, 0, 30)
    build.enter(2, 30 * MS, "MPI_Recv")
    build.receive(2, 123 * MS, 1, size=8)
    build.leave(2, 123 * MS)
    for rank in range(3):
        build.leave(rank, 123 * MS)
    analysis = analyse(build.build(), kernels)
    found = delay_costs(analysis)
    assert by_place(wait_states(analysis), "late_sender", MS) == close(
        {"main/MPI_Recv/1": 60, "main/MPI_Recv/2": 93}
    )
    worst, second = wait_states(analysis).worst
    assert (worst.seconds, worst.time_s) == pytest.approx((93 * MS, 123 * MS))
    assert (worst.metric, worst.callpath) == ("late_sender", "main/MPI_Recv")
    assert ([at.rank for at in worst.waiting], worst.late.rank) == ([2], 1)
    assert worst.late_callpath == "main/MPI_Send"
    assert (second.seconds, second.late.rank) == (pytest.approx(60 * MS), 0)
    assert by_place(found, "delay_short.late_sender", MS) == close(
        {"main/work/0": 60, "main/work/1": 10, "main/work2/1": 20, "main/MPI_Recv/1": 3}
    )
    assert by_place(found, "delay_long.late_sender", MS) == close({"main/work/0": 60})
    assert by_place(found, "wait_indirect", MS) == close({"main/MPI_Recv/2": 60})
    assert by_place(found, "wait_direct", MS) == close(
        {"main/MPI_Recv/1": 60, "main/MPI_Recv/2": 33}
    )
    assert by_place(found, "wait_propagating", MS) == close({"main/MPI_Recv/1": 60})
    assert by_place(found, "wait_terminal", MS) == close({"main/MPI_Recv/2": 93})
    assert all(balance.holds for balance in found.balances)
    assert found.counts == {"late_sender": 2}


def test_pingpong_as_the_reference_reports_it(kernels: Kernels) -> None:
    analysis = analyse(pingpong(), kernels)
    results = [wait_states(analysis), delay_costs(analysis), critical_path(analysis)]
    for metric, callpaths in REPORTED.items():
        for callpath, values in callpaths.items():
            for rank, value in enumerate(values):
                found = [
                    record.value
                    for result in results
                    for record in result.records
                    if (record.metric, record.callpath) == (metric, callpath)
                    and str(record.location) == str(rank)
                ]
                assert found, (metric, callpath)
                assert found[0] == pytest.approx(value, rel=1e-9, abs=1e-15), (metric, callpath)
    assert {name: results[0].counts[name] for name in COUNTS} == COUNTS


def test_reference_impact_counts_the_busy_time_of_the_whole_run(kernels: Kernels) -> None:
    """Its values follow from whole-run times; those here are the idle time during the path."""
    analysis = analyse(pingpong(), kernels)
    impact = path_impact(analysis)
    imbalance, _ = mapped_idle_time(impact.path, impact.activities + impact.off_path)
    places = np.argwhere(imbalance > 0).tolist()
    assert {analysis.names[node] for _, node in places} == set(WHOLE_RUN_IMPACT)
    for location, node in places:
        wanted = WHOLE_RUN_IMPACT[analysis.names[node]][location]
        assert imbalance[location, node] == pytest.approx(wanted, rel=1e-9)
    found, path = wait_states(analysis).totals, critical_path(analysis)
    waited = found["late_sender"] + found["late_receiver"] + found["wait_finalize"]
    # rank 0 begins 644,757 ticks after rank 1, whose MPI_Init begins the path at 84,412
    started_later = (644_757 - 84_412) / TICKS_PER_SECOND
    assert path.totals["impact_imbalance"] == pytest.approx(waited + started_later, rel=1e-9)
    assert all(balance.holds for balance in path.balances)


@pytest.mark.parametrize(("ranks", "slow"), [(2, 1), (5, 2), (8, 3)])
def test_slow_ranks_before_a_barrier(kernels: Kernels, ranks: int, slow: int) -> None:
    """The last `slow` ranks work 20 ms instead of 10: all others wait 10 for the first of them."""
    build = TraceBuilder(ranks)
    _all_init(build, ranks)
    for rank in range(ranks):
        done = 20 if rank >= ranks - slow else 10
        _work(build, rank, 0, done)
        build.enter(rank, done * MS, "MPI_Barrier")
        build.collective(rank, 20 * MS)
        build.leave(rank, 20 * MS)
        build.enter(rank, 20 * MS, "MPI_Finalize")
        build.leave(rank, 20 * MS)
        build.leave(rank, 20 * MS)
    analysis = analyse(build.build(), kernels)
    late = ranks - slow
    assert by_place(wait_states(analysis), "wait_barrier", MS) == close(
        {f"main/MPI_Barrier/{rank}": 10 for rank in range(late)}
    )
    assert by_place(delay_costs(analysis), "delay_short.wait_barrier", MS) == close(
        {f"main/work/{late}": 10 * late}
    )
    path = critical_path(analysis)
    assert path.totals["critical_path"] == pytest.approx(20 * MS)
    assert path.totals["impact_imbalance"] == pytest.approx(10 * MS * late)
    assert path.totals["critical_imbalance"] == pytest.approx(
        (20 - (10 * late + 20 * slow) / ranks) * MS
    )
    assert all(balance.holds for balance in path.balances)


def test_only_time_during_the_path_counts_for_imbalance(kernels: Kernels) -> None:
    """The path is rank 1 from 10 to 24 ms: 2 in MPI_Init, 10 of work, 2 in main.

    Rank 0 has entered MPI_Init at 0 and runs on to 40. During the path it works 7 ms less, all of
    which it waits, and waits 2 ms in MPI_Finalize.
    """
    build = TraceBuilder(2)
    for rank, init, done, finalize in ((0, 0, 15, 22), (1, 10, 22, 24)):
        build.enter(rank, 0, "main")
        _work(build, rank, init, 12, "MPI_Init")
        _work(build, rank, 12, done)
        build.enter(rank, done * MS, "MPI_Barrier")
        build.collective(rank, 22 * MS)
        build.leave(rank, 22 * MS)
        _work(build, rank, finalize, 24, "MPI_Finalize")
        build.leave(rank, 40 * MS)
    analysis = analyse(build.build(), kernels)
    path = critical_path(analysis)
    assert by_place(path, "critical_path", MS) == close(
        {"main/1": 2, "main/MPI_Init/1": 2, "main/work/1": 10}
    )
    assert by_place(path, "impact_imbalance", MS) == close({"main/1": 2, "main/work/1": 7})
    assert by_place(path, "impact_intra", MS) == close({"main/work/1": 7})
    assert by_place(path, "impact_inter", MS) == close({"main/1": 2})
    waited = wait_states(analysis).totals
    assert waited["wait_barrier"] + waited["wait_finalize"] == pytest.approx(9 * MS)
    assert path.totals["impact_imbalance"] == pytest.approx(9 * MS)
    assert path.totals["critical_imbalance"] == pytest.approx((2 + 7) / 2 * MS)
    # All of it: 28 ms during the path, and what both do before and after.
    assert path.balances[1].right == pytest.approx((28 + 10 + 10 + 16 + 16) * MS)
    assert all(balance.holds for balance in path.balances)


def _collective(kernels: Kernels, name: str, ends: dict[int, float], root: int = -1, **moved: int):
    """Ranks enter at 1, 4, 2 ms and leave as given."""
    build = TraceBuilder(3)
    for rank, begin in enumerate((1, 4, 2)):
        build.enter(rank, 0, "main")
        build.enter(rank, begin * MS, name)
        build.collective(rank, ends[rank] * MS, root, **moved)
        build.leave(rank, ends[rank] * MS)
        build.leave(rank, 10 * MS)
    return wait_states(analyse(build.build(), kernels))


def test_root_that_comes_last_is_waited_for(kernels: Kernels) -> None:
    found = _collective(kernels, "MPI_Bcast", {0: 5, 1: 5, 2: 5}, root=1)
    assert by_place(found, "late_broadcast", MS) == close(
        {"main/MPI_Bcast/0": 3, "main/MPI_Bcast/2": 2}
    )


def test_broadcast_from_the_first_waits_for_nobody(kernels: Kernels) -> None:
    found = _collective(kernels, "MPI_Bcast", {0: 2, 1: 5, 2: 3}, root=0)
    assert "late_broadcast" not in found.totals


def test_root_waits_for_the_latest_sender(kernels: Kernels) -> None:
    found = _collective(kernels, "MPI_Reduce", {0: 5, 1: 5, 2: 3}, root=0)
    assert by_place(found, "early_reduce", MS) == close({"main/MPI_Reduce/0": 3})


def test_everyone_waits_in_an_exchange_of_all(kernels: Kernels) -> None:
    found = _collective(kernels, "MPI_Alltoall", {0: 5, 1: 5, 2: 5})
    assert by_place(found, "wait_nxn", MS) == close(
        {"main/MPI_Alltoall/0": 3, "main/MPI_Alltoall/2": 2}
    )


def test_nobody_waits_where_nothing_is_moved(kernels: Kernels) -> None:
    found = _collective(kernels, "MPI_Allreduce", {0: 5, 1: 5, 2: 5}, sent=0, received=0)
    assert "wait_nxn" not in found.totals


def test_prefix_waits_for_lower_ranks_alone(kernels: Kernels) -> None:
    found = _collective(kernels, "MPI_Scan", {0: 2, 1: 5, 2: 5})
    assert by_place(found, "early_scan", MS) == close({"main/MPI_Scan/2": 2})


def test_vector_exchange_tells_nothing(kernels: Kernels) -> None:
    found = _collective(kernels, "MPI_Alltoallv", {0: 5, 1: 5, 2: 5})
    assert found.counts == {}


def test_longest_wait_of_a_waitall_counts(kernels: Kernels) -> None:
    """Two senders enter at 3 and 7 ms, the call that waits for both at 2."""
    build = TraceBuilder(3)
    build.enter(0, 0, "main")
    for request in (1, 2):
        build.enter(0, request * 0.1 * MS, "MPI_Irecv")
        build.receive_request(0, request * 0.1 * MS, request)
        build.leave(0, request * 0.1 * MS)
    build.enter(0, 2 * MS, "MPI_Waitall")
    build.receive_complete(0, 8 * MS, 1, 1, size=8)
    build.receive_complete(0, 8 * MS, 2, 2, size=8)
    build.leave(0, 8 * MS)
    build.leave(0, 9 * MS)
    for rank, begin in ((1, 3), (2, 7)):
        build.enter(rank, 0, "main")
        build.enter(rank, begin * MS, "MPI_Send")
        build.send(rank, begin * MS, 0, size=8)
        build.leave(rank, (begin + 1) * MS)
        build.leave(rank, 9 * MS)
    found = wait_states(analyse(build.build(), kernels))
    assert by_place(found, "late_sender", MS) == close({"main/MPI_Waitall/0": 5})
    assert found.counts == {"late_sender": 1}


def test_thread_that_comes_last_to_a_barrier(kernels: Kernels) -> None:
    """Two threads work 2 and 5 ms in a parallel region, which ends with an implicit barrier."""
    from regionpredict.trace import Paradigm, Region, Role

    build = TraceBuilder(1)
    build.region(Region("parallel", Paradigm.OPENMP, Role.PARALLEL))
    build.region(Region("loop", Paradigm.OPENMP, Role.LOOP))
    build.region(Region("barrier", Paradigm.OPENMP, Role.IMPLICIT_BARRIER))
    build.enter(0, 0, "main")
    build.fork(0, 1 * MS, 2)
    for thread, done in ((0, 3), (1, 6)):
        place = (0, thread)
        build.enter(place, 1 * MS, "parallel")
        build.enter(place, 1 * MS, "loop")
        build.leave(place, done * MS)
        build.enter(place, done * MS, "barrier")
        build.leave(place, 6 * MS)
        build.leave(place, 6 * MS)
    build.join(0, 6 * MS)
    build.leave(0, 8 * MS)
    analysis = analyse(build.build(), kernels)
    assert by_place(wait_states(analysis), "omp_implicit_barrier", MS) == close(
        {"main/parallel/barrier/0": 3}
    )
    assert by_place(delay_costs(analysis), "delay_short.omp_implicit_barrier", MS) == close(
        {"main/parallel/loop/0.1": 3}
    )
    assert by_place(critical_path(analysis), "critical_path", MS) == close(
        {"main/0": 3, "main/parallel/loop/0.1": 5}
    )


def test_time_between_calls_counts_where_no_region_is_around_them(kernels: Kernels) -> None:
    """Only MPI is recorded: the run itself is a region, which call paths leave out."""
    build = TraceBuilder(2)
    for rank, done in ((0, 2), (1, 7)):
        build.enter(rank, 0, "MPI_Init")
        build.leave(rank, 1 * MS)
        build.enter(rank, done * MS, "MPI_Barrier")
        build.collective(rank, 7 * MS)
        build.leave(rank, 7 * MS)
    analysis = analyse(build.build(), kernels)
    assert by_place(wait_states(analysis), "wait_barrier", MS) == close({"MPI_Barrier/0": 5})
    assert by_place(delay_costs(analysis), "delay_short.wait_barrier", MS) == close(
        {"program/1": 5}
    )
    path = critical_path(analysis)
    assert by_place(path, "critical_path", MS) == close({"MPI_Init/1": 1, "program/1": 6})
    assert all(balance.holds for balance in path.balances)


def test_clocks_that_differ_are_told(kernels: Kernels) -> None:
    build = TraceBuilder(2)
    build.enter(0, 5 * MS, "MPI_Send")
    build.send(0, 5 * MS, 1, size=8)
    build.leave(0, 6 * MS)
    build.enter(1, 0, "MPI_Recv")
    build.receive(1, 1 * MS, 0, size=8)
    build.leave(1, 2 * MS)
    analysis = analyse(build.build(), kernels)
    assert [finding.message for finding in analysis.findings] == [
        "messages received before they were sent, by up to 0.004 s (from 0 to 1): clocks differ"
    ]
    assert by_place(wait_states(analysis), "late_sender", MS) == close({"MPI_Recv/1": 2})


def test_the_first_lines_count_waits_without_a_cause(kernels: Kernels) -> None:
    """Rank 0 has no events before it sends at 5 s, so no call path delays rank 1: 5 of 12 s."""
    build = TraceBuilder(2)
    build.enter(0, 5, "main")
    build.enter(0, 5, "MPI_Send")
    build.send(0, 5, 1, size=8)
    build.leave(0, 5.5)
    build.leave(0, 6)
    build.enter(1, 0, "main")
    build.enter(1, 0, "MPI_Recv")
    build.receive(1, 5.5, 0, size=8)
    build.leave(1, 5.5)
    build.leave(1, 6)
    analysis = analyse(build.build(), kernels)
    for result in (wait_states(analysis), delay_costs(analysis)):
        lead = result_document(result, analysis, 20).lead
        assert lead[1].endswith(" events, run time 6 s")
        assert lead[0] == "Waiting: 42 % of the time of all locations, 5 s in sum."
