"""Random programs: costs by the equations, sums that hold, and what changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_programs import carried_out, random_program
from slow_delays import SlowDelays

from regionpredict.trace import EventTrace, Kind
from regionpredict.trace.analysis import Analysis, analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.profile import TraceResult
from regionpredict.trace.results import critical_path, delay_costs, wait_states
from regionpredict.trace.wait_classes import Wait

SEEDS = st.integers(0, 1_000_000)
FEW = settings(max_examples=60, deadline=None)


def _results(analysis: Analysis) -> list[TraceResult]:
    return [wait_states(analysis), delay_costs(analysis), critical_path(analysis)]


def _table(results: list[TraceResult]) -> dict[tuple[str, str, str], float]:
    return {
        (record.metric, record.callpath, str(record.location)): record.value
        for result in results
        for record in result.records
    }


def _differing(
    first: dict[tuple[str, str, str], float], second: dict[tuple[str, str, str], float]
) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Values that are not the same to a picosecond or nine digits; a missing one is 0."""
    pairs = {
        place: (first.get(place, 0.0), second.get(place, 0.0)) for place in first.keys() | second
    }
    return {
        place: pair
        for place, pair in pairs.items()
        if abs(pair[0] - pair[1]) > max(1e-12, 1e-9 * abs(pair[0]))
    }


@given(SEEDS)
@FEW
def test_costs_follow_the_equations(kernels: Kernels, seed: int) -> None:
    analysis = analyse(carried_out(random_program(seed)), kernels)
    slow, replay = SlowDelays(analysis), analysis.replay
    for found, wanted in ((replay.short_term, slow.short), (replay.long_term, slow.long)):
        table = np.zeros_like(found)
        for place, ticks in wanted.items():
            table[place] = ticks
        np.testing.assert_allclose(found, table, rtol=1e-9, atol=1e-6)
    for point in slow.waiting:
        assert replay.explained[point] == pytest.approx(slow.explained[point], abs=1e-6)
        assert replay.indirect[point] == pytest.approx(slow.indirect[point], abs=1e-6)
        assert replay.propagating[point] == pytest.approx(slow.propagation_limit[point], abs=1e-6)
        by_messages = pytest.approx(slow.by_messages[point], abs=1e-6)
        assert replay.propagating_messages[point] == by_messages


@given(SEEDS)
@FEW
def test_sums_hold_and_nothing_is_found_wrong(kernels: Kernels, seed: int) -> None:
    analysis = analyse(carried_out(random_program(seed)), kernels)
    assert analysis.findings == ()
    results = _results(analysis)
    for result in results:
        for balance in result.balances:
            assert balance.holds, balance
    for record in (record for result in results for record in result.records):
        assert record.value >= 0, record
    replay = analysis.replay
    assert np.array_equal(replay.segment_to[:-1], replay.segment_from[1:])


@pytest.mark.slow
@given(SEEDS, st.lists(st.integers(100, 799), min_size=1))
@FEW
def test_imbalance_on_the_path_is_what_is_waited(
    kernels: Kernels, seed: int, skews: list[int]
) -> None:
    """Equation 5.2.4, where all ranks run before the path begins and after it ends."""
    analysis = analyse(carried_out(random_program(seed), skews=skews), kernels)
    path = critical_path(analysis)
    assert all(balance.holds for balance in path.balances), path.balances
    found = wait_states(analysis).totals
    waited = sum(found.get(wait.metric, 0.0) for wait in Wait if wait is not Wait.INIT_COMPLETION)
    assert path.totals.get("impact_imbalance", 0.0) == pytest.approx(waited, rel=1e-9, abs=1e-15)


@pytest.mark.slow
@given(SEEDS, st.integers(0, 10**12))
@FEW
def test_times_may_be_shifted(kernels: Kernels, seed: int, shift: int) -> None:
    program = random_program(seed)
    first = _table(_results(analyse(carried_out(program), kernels)))
    second = _table(_results(analyse(carried_out(program, shift=shift), kernels)))
    assert _differing(first, second) == {}


@pytest.mark.slow
@given(SEEDS, st.randoms(use_true_random=False))
@FEW
def test_ranks_may_be_renamed(kernels: Kernels, seed: int, draw) -> None:
    """But where two come last at one time: which of them is the cause, their ranks decide."""
    program = random_program(seed)
    names = list(range(program.ranks))
    draw.shuffle(names)
    trace = carried_out(program)
    assume(not _ties(trace))
    first = _table(_results(analyse(trace, kernels)))
    second = _table(_results(analyse(carried_out(program, rename=tuple(names)), kernels)))
    renamed = {
        (metric, path, str(names[int(rank)]) if rank != "None" else rank): value
        for (metric, path, rank), value in first.items()
    }
    assert _differing(renamed, second) == {}


def _ties(trace: EventTrace) -> bool:
    """Whether two ranks enter a call of MPI at one time."""
    enters = trace.kind == Kind.ENTER
    calls = np.array([region.name.startswith("MPI_") for region in trace.regions])
    times = trace.time[enters][calls[trace.region[enters]]]
    return len(np.unique(times)) < len(times)


@pytest.mark.slow
@given(SEEDS)
@FEW
def test_work_may_be_entered_in_pieces(kernels: Kernels, seed: int) -> None:
    program = random_program(seed)
    first = _table(_results(analyse(carried_out(program), kernels)))
    second = _table(_results(analyse(carried_out(program, pieces=2), kernels)))
    for place in [place for place in first if place[0] == "visits"]:
        first.pop(place), second.pop(place)
    assert _differing(first, second) == {}


@pytest.mark.slow
@given(SEEDS)
@FEW
def test_a_trace_without_its_end_is_analysed(kernels: Kernels, seed: int) -> None:
    program = random_program(seed)
    assume(any(kind != "work" for kind, _ in program.steps))
    trace = carried_out(program, finalize=False)
    found = critical_path(analyse(trace, kernels))
    assert all(balance.holds for balance in found.balances)
