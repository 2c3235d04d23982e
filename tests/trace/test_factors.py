"""Programs whose factors have a closed form, and what a run that has none says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from traced_programs import chain, doubled, exchange, team_chain, team_doubled

from regionpredict.errors import InputError
from regionpredict.trace import EventTrace, Location, TraceBuilder
from regionpredict.trace.factors import SERIALISATIONS, RunFactors, run_factors
from regionpredict.trace.iterations import iterations_of
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.replay import Network

pytestmark = pytest.mark.compiler


def of(trace: EventTrace, kernels: Kernels, **options: object) -> RunFactors:
    return run_factors(trace, match_operations(trace, kernels), kernels, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "k"), [(2, 1), (4, 1), (4, 3), (7, 2), (16, 16)])
def test_k_of_n_with_double_work(n: int, k: int, kernels: Kernels) -> None:
    # mean (n + k) / n over max 2; the ideal run lasts as long as the longest work
    found = of(doubled(n, k, wait=0.5), kernels)
    assert found.load_balance == pytest.approx((n + k) / (2 * n), abs=1e-12)
    assert found.serialisation == 1
    assert found.transfer == pytest.approx(2 / 2.5)
    assert found.parallel == pytest.approx((n + k) / n / 2.5)
    assert found.ideal_runtime_s == 2


@pytest.mark.parametrize("n", [2, 3, 8, 50])
def test_a_chain_is_serial(n: int, kernels: Kernels) -> None:
    found = of(chain(n), kernels)
    assert (found.load_balance, found.serialisation, found.transfer) == (1, 1 / n, 1)


def test_an_exchange_that_transfer_bounds(kernels: Kernels) -> None:
    found = of(exchange(6, compute=1.0, transfer=3.0), kernels)
    assert (found.load_balance, found.serialisation, found.transfer) == (1, 1, 0.25)
    assert found.ideal_runtime_s == 3


@pytest.mark.parametrize(("n", "k"), [(2, 1), (4, 3), (8, 2)])
def test_threads_are_processes_too(n: int, k: int, kernels: Kernels) -> None:
    found = of(team_doubled(n, k), kernels)
    assert (found.ranks, found.width) == (1, n)
    assert found.load_balance == pytest.approx((n + k) / (2 * n))
    assert (found.serialisation, found.transfer) == (1, 1)
    assert found.team is not None
    assert found.team.load_balance == pytest.approx((n + k) / (2 * n))
    assert (found.team.serial, found.team.scheduling) == (1, 1)


def test_the_serial_part_of_a_team(kernels: Kernels) -> None:
    # 3 s serial, then 4 threads of which one works 2 s and three 1 s: A = 20, 11, 11, 8
    team = of(team_doubled(4, 1, serial=3.0), kernels).team
    assert team is not None
    assert (team.serial, team.scheduling) == (pytest.approx(11 / 20), 1)
    assert team.load_balance == pytest.approx(8 / 11)
    assert team.efficiency == pytest.approx(8 / 20)
    assert team.serial_s == pytest.approx(3)


@pytest.mark.parametrize("n", [2, 5])
def test_a_lock_makes_a_chain(n: int, kernels: Kernels) -> None:
    found = of(team_chain(n), kernels)
    assert (found.load_balance, found.serialisation, found.transfer) == (1, 1 / n, 1)


def test_what_threads_wait_for_ends_with_the_last(kernels: Kernels) -> None:
    # the ideal run keeps the barrier: 3 s serial and 2 s of the busiest thread
    found = of(team_doubled(4, 1, serial=3.0), kernels)
    assert found.ideal_runtime_s == pytest.approx(5)
    assert found.serialisation == 1


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    work=st.lists(st.lists(st.integers(1, 50), min_size=3, max_size=3), min_size=1, max_size=6),
    delay=st.integers(0, 20),
)
def test_factors_are_shares_and_multiply(
    work: list[list[int]], delay: int, kernels: Kernels
) -> None:
    build = TraceBuilder(3)
    now = 0
    for rank in range(3):
        build.enter(rank, 0.0, "main")
    for times in work:
        end = now + max(times) + delay
        for rank, time in enumerate(times):
            build.enter(rank, float(now + time), "MPI_Barrier")
            build.collective(rank, float(end))
            build.leave(rank, float(end))
        now = end
    for rank in range(3):
        build.leave(rank, float(now))
    found = of(build.build(), kernels)
    useful = [sum(times[rank] for times in work) for rank in range(3)]
    assert found.ideal_runtime_s == pytest.approx(sum(map(max, work)))
    assert found.parallel == pytest.approx(sum(useful) / 3 / now)
    assert found.communication == pytest.approx(max(useful) / now)
    for factor in (found.load_balance, found.serialisation, found.transfer):
        assert 0 < factor <= 1


def test_definitions_of_serialisation(kernels: Kernels) -> None:
    # rank 1 begins 4 s late and works 1 s; rank 0 works 2 s and waits for it
    build = TraceBuilder(2)
    for rank, (begin, end) in enumerate([(0.0, 2.0), (4.0, 5.0)]):
        build.enter(rank, begin, "main")
        build.enter(rank, end, "MPI_Barrier")
        build.collective(rank, 5.0)
        build.leave(rank, 5.0)
        build.leave(rank, 5.0)
    trace = build.build()
    found = of(trace, kernels)
    # own: max(2, 4 + 1) of 5; useful: 2 of 5; of their lives: 2 of 5, 1 of 1
    assert found.serialisations == {"reference": 1, "useful": 0.4, "ideal-run": 1}
    assert found.serialisation == 1
    assert of(trace, kernels, definition="useful").serialisation == 0.4
    with pytest.raises(InputError, match="unknown definition of serialisation 'other'; use one of"):
        of(trace, kernels, definition="other")
    assert set(found.serialisations) == set(SERIALISATIONS)


def late_receiver(size: int) -> EventTrace:
    """Rank 0 sends after 1 s and works 2 s more; rank 1 works 4 s before it receives."""
    build = TraceBuilder(2)
    build.enter(0, 0.0, "main")
    build.enter(0, 1.0, "MPI_Send")
    build.send(0, 1.0, 1, size=size)
    build.leave(0, 1.0)
    build.leave(0, 3.0)
    build.enter(1, 0.0, "main")
    build.enter(1, 4.0, "MPI_Recv")
    build.receive(1, 4.0, 0, size=size)
    build.leave(1, 4.0)
    build.leave(1, 4.0)
    return build.build("late")


def test_the_eager_limit_decides_who_waits(kernels: Kernels) -> None:
    small, large = of(late_receiver(32768), kernels), of(late_receiver(32769), kernels)
    assert small.ideal_runtime_s == 4
    assert large.ideal_runtime_s == 6  # rank 0 waits until 4 s, then works 2 s
    by_limit = {point.limit: point.ideal_runtime_s for point in small.eager}
    assert by_limit[0] == 6
    assert of(late_receiver(32769), kernels, network=Network(eager_limit=40000)).serialisation == 1
    assert large.trimmed  # its own network did not wait: the real run took 4 s


def test_a_run_that_rendezvous_would_block(kernels: Kernels) -> None:
    # both send first, then receive: only a network that buffers goes on
    build = TraceBuilder(2)
    for rank in (0, 1):
        build.enter(rank, 0.0, "main")
        build.enter(rank, 1.0, "MPI_Send")
        build.send(rank, 1.0, 1 - rank, size=10**6)
        build.leave(rank, 1.0)
        build.enter(rank, 1.0, "MPI_Recv")
        build.receive(rank, 2.0, 1 - rank, size=10**6)
        build.leave(rank, 2.0)
        build.leave(rank, 2.0)
    found = of(build.build(), kernels)
    assert found.ideal_runtime_s == 1
    assert "replayed without a limit" in found.notes[0]


def test_a_rank_without_events(kernels: Kernels) -> None:
    build = TraceBuilder(3)
    for rank in (0, 2):
        build.enter(rank, 0.0, "main")
        build.leave(rank, 1.0)
    trace = build.build("cut")
    with pytest.raises(
        InputError, match="cut: 3 ranks announced, 2 with events; the first without events is 1"
    ):
        of(trace, kernels)


def test_a_thread_that_was_never_used(kernels: Kernels) -> None:
    # rank 0's second thread has no events: half of what there was is used
    trace = doubled(1, 0)
    wider = replace(
        trace,
        locations=(*trace.locations, Location(0, 1)),
        starts=np.append(trace.starts, trace.starts[-1]),
    )
    assert of(wider, kernels).load_balance == 0.5
    with pytest.raises(InputError, match=r"location 0\.1 has no events"):
        iterations_of(wider)


def test_a_trace_of_calls_alone(kernels: Kernels) -> None:
    # between its calls a rank works: 3 of 4 s and 1 of 4 s
    build = TraceBuilder(2)
    for rank, work in enumerate((3.0, 1.0)):
        build.enter(rank, 0.0, "MPI_Init")
        build.leave(rank, 0.5)
        build.enter(rank, 0.5 + work, "MPI_Barrier")
        build.collective(rank, 3.5)
        build.leave(rank, 3.5)
        build.enter(rank, 3.5, "MPI_Finalize")
        build.leave(rank, 4.0)
    found = of(build.build(), kernels)
    assert found.load_balance == pytest.approx(2 / 3)
    assert found.communication == pytest.approx(3 / 4)
    assert found.serialisation == 1


def test_a_trace_without_work(kernels: Kernels) -> None:
    build = TraceBuilder(1)
    build.enter(0, 0.0, "MPI_Init")
    build.leave(0, 1.0)
    with pytest.raises(InputError, match="no process computes anything outside MPI"):
        of(build.build(), kernels)


def test_a_nominal_network_replaces_the_real_one(kernels: Kernels) -> None:
    # the exchange's 3 s become 0.5 s of latency: 3 * (1 + 0.5) s
    found = of(exchange(4, 1.0, 3.0), kernels, nominal=Network(latency_s=0.5))
    assert found.runtime_s == pytest.approx(4.5)
    assert found.transfer == pytest.approx(1 / 1.5)
