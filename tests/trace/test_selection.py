"""Parts of traces: what is chosen, what loses its counterpart, and sums that hold all the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_programs import carried_out, random_program
from records import by_place

from regionpredict.errors import InputError
from regionpredict.trace import Counter, EventTrace, Kind, TraceBuilder
from regionpredict.trace.analysis import Analysis, analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.results import critical_path, delay_costs, wait_states
from regionpredict.trace.run_options import RunOptions, factors_with
from regionpredict.trace.selection import Selection, select_part

SEEDS = st.integers(0, 1_000_000)
FEW = settings(max_examples=40, deadline=None)
MS = 1e-3


def _part(trace: EventTrace, kernels: Kernels, selection: Selection) -> Analysis:
    part, matches = select_part(trace, match_operations(trace, kernels), selection, kernels)
    return analyse(part, kernels, matches)


def _hold(analysis: Analysis) -> bool:
    results = (delay_costs(analysis), critical_path(analysis))
    return all(balance.holds for result in results for balance in result.balances)


@pytest.mark.slow
@given(SEEDS)
@FEW
def test_all_of_it_is_the_trace(kernels: Kernels, seed: int) -> None:
    trace = carried_out(random_program(seed))
    everything = Selection(frozenset(trace.ranks), (0.0, float("inf")), "main")
    part, whole = _part(trace, kernels, everything), analyse(trace, kernels)
    assert part.findings == ()
    for tell in (wait_states, delay_costs, critical_path):
        assert tell(part).records == tell(whole).records


@given(SEEDS, st.floats(0, 1), st.floats(0, 1))
@FEW
def test_a_span_of_time(kernels: Kernels, seed: int, first: float, last: float) -> None:
    """Pairs inside stay pairs, those cut through are counted, sums hold, time adds up."""
    trace = carried_out(random_program(seed))
    first, last = sorted((first, last))
    end = int(trace.time.max())
    low, high = round(first * end), round(last * end)
    assume(low < high)
    scale = trace.ticks_per_second
    analysis = _part(trace, kernels, Selection(time_s=(low / scale, high / scale)))
    assert _hold(analysis)
    inside = (trace.time >= low) & (trace.time <= high)
    event, mate = trace.operations.event, match_operations(trace, kernels).mate
    cut_off = sum(
        inside[event[row]] and not inside[event[mate[row]]]
        for row in range(len(event))
        if mate[row] >= 0
    )
    told = [f.count for f in analysis.findings if f.message.startswith("messages with their")]
    assert sum(told) == cut_off
    lasting = np.minimum(trace.time[trace.starts[1:] - 1], high) - np.maximum(
        trace.time[trace.starts[:-1]], low
    )
    assert int(analysis.paths.exclusive.sum()) == int(np.maximum(lasting, 0).sum())


@given(SEEDS, st.data())
@FEW
def test_some_ranks(kernels: Kernels, seed: int, data: st.DataObject) -> None:
    """Waits of messages among them are those that they are in the whole."""
    trace = carried_out(random_program(seed))
    ranks = data.draw(st.sets(st.sampled_from(trace.ranks), min_size=1))
    analysis, whole = _part(trace, kernels, Selection(frozenset(ranks))), analyse(trace, kernels)
    assert _hold(analysis)
    assert analysis.trace.ranks == tuple(sorted(ranks))
    matches = match_operations(trace, kernels)
    location = trace.locations_of(trace.operations.event)
    kinds = trace.kind[trace.operations.event]
    kept = [
        row
        for row in np.flatnonzero((kinds == Kind.RECEIVE) & (matches.mate >= 0)).tolist()
        if {int(location[row]), int(location[matches.mate[row]])} <= ranks
    ]
    mine = np.flatnonzero(analysis.trace.kind[analysis.trace.operations.event] == Kind.RECEIVE)
    assert int(np.count_nonzero(analysis.matches.mate[mine] >= 0)) == len(kept)
    for place, value in by_place(wait_states(analysis), "late_receiver").items():
        assert value <= by_place(wait_states(whole), "late_receiver").get(place, 0.0) + 1e-12


def _solver() -> EventTrace:
    """In ms: rank 0 sends late in `solve`, on time in `end`; rank 1 receives 10 and 2 earlier."""
    build = TraceBuilder(2)
    for rank in (0, 1):
        build.enter(rank, 0, "main")
        build.enter(rank, 0, "solve")
        build.enter(rank, 0, "work")
        build.leave(rank, (20 - 10 * rank) * MS)
        call = "MPI_Recv" if rank else "MPI_Send"
        build.enter(rank, (20 - 10 * rank) * MS, call)
        build.receive(1, 21 * MS, 0, size=8) if rank else build.send(0, 20 * MS, 1, size=8)
        build.leave(rank, 21 * MS)
        build.leave(rank, 21 * MS)
        build.enter(rank, (32 - 2 * rank) * MS, call)
        build.receive(1, 33 * MS, 0, size=8) if rank else build.send(0, 32 * MS, 1, size=8)
        build.leave(rank, 33 * MS)
        build.leave(rank, 40 * MS)
    return build.build()


def test_a_call_path_with_what_leads_to_it(kernels: Kernels) -> None:
    analysis = _part(_solver(), kernels, Selection(call_path="main/solve"))
    found = wait_states(analysis)
    assert by_place(found, "late_sender", MS) == pytest.approx({"main/solve/MPI_Recv/1": 10})
    assert by_place(found, "time", MS)["main/0"] == pytest.approx(40)
    assert "main/MPI_Send" not in {record.callpath for record in found.records}
    assert _hold(analysis)


def test_a_send_before_the_span_is_not_taken_for_one_inside(kernels: Kernels) -> None:
    """From 20.5 ms on, the first receive has lost its send: the second is still the second's."""
    analysis = _part(_solver(), kernels, Selection(time_s=(20.5 * MS, 1.0)))
    assert by_place(wait_states(analysis), "late_sender", MS) == pytest.approx(
        {"main/MPI_Recv/1": 2}
    )
    assert [(f.message.split(",")[0], f.count) for f in analysis.findings] == [
        ("messages with their other side outside the selection", 1)
    ]


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(frozenset({7})), "there is no rank 7"),
        (Selection(time_s=(1.0, 2.0)), "nothing happens from 1 s to 2 s"),
        (Selection(call_path="main/other"), "there is no call path 'main/other'"),
    ],
)
def test_what_is_not_there(kernels: Kernels, selection: Selection, message: str) -> None:
    with pytest.raises(InputError, match=message):
        _part(_solver(), kernels, selection)


def _computing() -> EventTrace:
    """Two ranks compute until they meet at 10: rank 0 to 4 and from 6 on, rank 1 to 8, each at
    1,000 instructions a second and twice as many cycles."""
    build = TraceBuilder(2)
    for rank, calls in enumerate(((4, 6), (8, 9))):
        build.enter(rank, 0, "main")
        build.enter(rank, calls[0], "MPI_Barrier")
        build.collective(rank, calls[1], sent=0, received=0)
        build.leave(rank, calls[1])
        build.leave(rank, 10)
    trace = build.build()
    event, grown = [], []
    for location in range(2):
        rows = range(int(trace.starts[location]), int(trace.starts[location + 1]))
        for row in list(rows)[1:]:
            span = int(trace.time[row] - trace.time[row - 1])
            event.append(row)
            grown.append(0 if trace.kind[row] == Kind.COLLECTIVE_END else span)
    per_tick = 1000 / trace.ticks_per_second
    instructions = np.rint(np.array(grown) * per_tick).astype(np.int64)
    rows = np.array(event, dtype=np.int64)
    return replace(
        trace,
        counters=(
            Counter("PAPI_TOT_INS", rows, instructions),
            Counter("PAPI_TOT_CYC", rows, 2 * instructions),
        ),
    )


def test_factors_of_a_span_count_what_is_in_it(kernels: Kernels) -> None:
    trace = _computing()
    whole = factors_with(trace, kernels, RunOptions())
    # From 2 to 5, rank 0 computes for two seconds and rank 1 for three.
    part = factors_with(trace, kernels, RunOptions(selection=Selection(time_s=(2.0, 5.0))))
    assert part.runtime_s == pytest.approx(3.0)
    assert part.useful_s == pytest.approx(5.0)
    assert part.load_balance == pytest.approx(5 / 6)
    assert whole.frequency_hz == pytest.approx(2000)
    assert part.frequency_hz == pytest.approx(2000, rel=1e-3)
    assert part.instructions == pytest.approx(5000, rel=1e-3)


def test_factors_of_some_ranks(kernels: Kernels) -> None:
    part = factors_with(_computing(), kernels, RunOptions(selection=Selection(frozenset({1}))))
    assert part.ranks == 1
    assert part.useful_s == pytest.approx(9.0)
    assert part.load_balance == 1
