"""Replays a run as recorded. Each call takes its recorded time without waiting, and waits follow
from the other locations.

Without changes, each location ends at the same tick as in the trace. If the work of a location
changes, the waits of others change accordingly. Dependences are as in `replay.py`, with three
exceptions. A message is synchronous if the trace shows that its sender waited, too. In a collective
operation, ranks wait only for the ranks whose data they need (in a broadcast, only for the root).
All ranks leave MPI_Finalize together. A dependence is ignored if the trace contradicts it, because
a location continued before the other arrived. Scans and all-to-alls of varying sizes keep their
time, since the trace does not show which ranks wait for each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.bursts import bursts_of
from regionpredict.trace.collective_table import N_TO_N, N_TO_ONE, ONE_TO_N
from regionpredict.trace.event_trace import Collective, EventTrace, Kind, Paradigm, Role
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import Matches
from regionpredict.trace.mpi_regions import Call, call_of, plain_name
from regionpredict.trace.replay import (
    IDEAL,
    Couplings,
    Dependences,
    Network,
    ends_of,
    outermost_calls,
    timed_steps,
)
from regionpredict.trace.thread_dependencies import thread_synchronisations

Ticks = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A trace prepared for replay.

    `work` has the ticks without waits after each event. `coupled` are the dependences between
    locations, and `waits` marks those for which MPI calls and OpenMP barriers wait. `contradicted`
    is the number of ignored dependences. `opens` are the rows that begin the outermost calls and
    barriers, and `closes` the rows that end them.
    """

    trace: EventTrace
    coupled: Dependences
    waits: NDArray[np.bool_]
    work: Ticks
    contradicted: int
    opens: Ticks
    closes: Ticks

    def start_of_call(self, event: Ticks) -> Ticks:
        """Returns the row that begins the call or barrier around each event."""
        if not len(self.opens):
            return event
        at = np.searchsorted(self.opens, event, side="right") - 1
        inside = (at >= 0) & (event < self.closes[at])
        return np.where(inside, self.opens[at], event)

    def ends(self, kernels: Kernels, work: Ticks | None = None) -> Ticks:
        """Returns the end of each location in ticks from the trace's start, if `work` is done after
        each event.

        Raises BlockedError if the trace is inconsistent.
        """
        steps = timed_steps(self.trace, self.coupled, self.work if work is None else work)
        return ends_of(steps, self.trace, kernels)


def recorded_run(trace: EventTrace, matches: Matches, network: Network = IDEAL) -> RecordedRun:
    """Extracts the dependences and the work from a trace. Only the eager limit of `network` is
    used.
    """
    bursts = bursts_of(trace)
    opens = outermost_calls(bursts.depth)
    closes = _ends_of_calls(trace, bursts.depth, opens)
    couplings = Couplings(trace, matches, Network(eager_limit=network.eager_limit), opens)
    couplings.messages(_synchronous_sends(trace, matches, couplings, closes, network.eager_limit))
    couplings.collectives(*_waits_in_collectives(trace))
    finalize = _entries_into_finalize(trace)
    if finalize is not None:
        couplings.add_collective(finalize)
    slots_of_mpi = couplings.slots
    couplings.teams(thread_synchronisations(trace))
    coupled = couplings.coupled()
    ready = np.full(len(coupled.posts), -1, dtype=np.int64)
    posts = coupled.is_post
    np.maximum.at(ready, coupled.slot[posts], trace.time[coupled.event[posts]])
    in_call = coupled.slot < slots_of_mpi
    at_barrier = ~in_call & _barrier_enters(trace)[coupled.event]
    waits = (in_call | at_barrier) & ~posts
    until = _ends_of_waits(trace, coupled, in_call, at_barrier, closes)
    kept = posts | (ready[coupled.slot] <= until)
    coupled = replace(
        coupled,
        event=coupled.event[kept],
        slot=coupled.slot[kept],
        is_post=coupled.is_post[kept],
        cost=coupled.cost[kept],
    )
    waits = waits[kept]
    work = _work_without_waits(trace, coupled, ready, waits, until[kept], closes)
    barriers = np.flatnonzero(_barrier_enters(trace))
    begins = np.concatenate([opens, barriers])
    order = np.argsort(begins, kind="stable")
    ends = np.concatenate([closes[opens], barriers + 2])[
        order
    ]  # the LEAVE event also belongs to the barrier
    return RecordedRun(
        trace, coupled, waits, work, int(np.count_nonzero(~kept)), begins[order], ends
    )


def _ends_of_calls(trace: EventTrace, depth: Ticks, opens: Ticks) -> Ticks:
    """Returns for each row of `opens` the row that ends the call. Other rows map to themselves."""
    ends = np.flatnonzero((depth == 0) & (np.concatenate([[0], depth[:-1]]) > 0))
    closes = np.arange(len(trace), dtype=np.int64)
    at = np.searchsorted(ends, opens)
    array = at < len(ends)
    closes[opens[array]] = ends[at[array]]
    return closes


def _synchronous_sends(
    trace: EventTrace, matches: Matches, couplings: Couplings, closes: Ticks, limit: float
) -> NDArray[np.bool_]:
    """Returns for each operation whether it is a send that waits for its receiver."""
    operations, kind = trace.operations, trace.kind[trace.operations.event]
    sends = np.flatnonzero(
        ((kind == Kind.SEND) | (kind == Kind.SEND_REQUEST)) & (matches.mate >= 0)
    )
    named = np.array(
        [plain_name(region.name) in ("mpi_ssend", "mpi_issend") for region in trace.regions]
        + [False]
    )
    receives = matches.mate[sends]
    posted = couplings.call(
        np.where(matches.other[receives] >= 0, matches.other[receives], receives)
    )
    done = couplings.call(np.where(matches.other[sends] >= 0, matches.other[sends], sends))
    when = trace.time[posted]
    waited = (when > trace.time[done]) & (when < trace.time[closes[done]])
    size = np.maximum(operations.sent[sends], operations.received[receives])
    array = np.zeros(len(operations), dtype=bool)
    large = (size > limit) & (when <= trace.time[closes[done]])  # otherwise sent eagerly
    array[sends] = large | named[trace.region[couplings.call(sends)]] | waited
    return array


def _waits_in_collectives(trace: EventTrace) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Returns for each operation whether other members of its collective operation wait for it, and
    whether it waits for other members.
    """
    operations = trace.operations
    rank = np.array([place.rank for place in trace.locations], dtype=np.int32)
    location = trace.locations_of(operations.event)
    is_root = operations.root == rank[location]
    everybody = np.isin(operations.collective, (Collective.BARRIER, *N_TO_N))
    array, many = (np.isin(operations.collective, kinds) for kinds in (ONE_TO_N, N_TO_ONE))
    return everybody | (array & is_root) | (many & ~is_root), (
        everybody | (array & ~is_root) | (many & is_root)
    )


def _entries_into_finalize(trace: EventTrace) -> Ticks | None:
    """Returns the rows at which the ranks enter MPI_Finalize, or None unless each rank enters it
    once.
    """
    ends = np.array([call_of(region.name) == Call.FINALIZE for region in trace.regions] + [False])
    rows = np.flatnonzero(ends[trace.region] & (trace.kind == Kind.ENTER))
    location = trace.locations_of(rows)
    ranks = sorted(trace.locations[at].rank for at in location.tolist())
    return rows if len(rows) > 1 and ranks == list(trace.ranks) else None


def _barrier_enters(trace: EventTrace) -> NDArray[np.bool_]:
    """Returns for each event whether it enters an OpenMP barrier."""
    barrier = np.array(
        [
            region.paradigm is Paradigm.OPENMP
            and region.role in (Role.BARRIER, Role.IMPLICIT_BARRIER)
            for region in trace.regions
        ]
        + [False]
    )
    return np.asarray(barrier[trace.region] & (trace.kind == Kind.ENTER))


def _ends_of_waits(
    trace: EventTrace,
    coupled: Dependences,
    in_call: NDArray[np.bool_],
    at_barrier: NDArray[np.bool_],
    closes: Ticks,
) -> Ticks:
    """Returns the time at which the wait of each dependence ends. This is the end of its MPI call
    or barrier, and otherwise the time of its event.
    """
    event = coupled.event
    following = np.minimum(event + 1, len(trace) - 1)
    row = np.where(in_call, closes[event], np.where(at_barrier, following, event))
    return np.asarray(trace.time[row])


def _work_without_waits(
    trace: EventTrace,
    coupled: Dependences,
    ready: Ticks,
    waits: NDArray[np.bool_],
    until: Ticks,
    closes: Ticks,
) -> Ticks:
    """Returns the ticks without waits after each event. In a call, the wait comes first, and the
    remaining time of the call follows. Outside of calls (a fork, a lock, the end of a parallel
    region), the wait precedes the event.
    """
    time = trace.time
    work = np.zeros(len(trace), dtype=np.int64)
    work[:-1] = np.diff(time)
    work[trace.starts[1:][np.diff(trace.starts) > 0] - 1] = 0
    event, full = coupled.event, ready[coupled.slot]
    calls = np.flatnonzero(waits)
    first = event[calls]
    longest = np.zeros(len(trace), dtype=np.int64)
    np.maximum.at(longest, first, np.maximum(full[calls] - time[first], 0))
    rows = np.unique(first)
    last = np.maximum(closes[rows], rows + 1)
    inside = np.zeros(len(trace) + 1, dtype=np.int64)
    np.add.at(inside, rows, 1)
    np.add.at(inside, last, -1)
    work[np.cumsum(inside[:-1]) > 0] = 0
    work[rows] = time[np.minimum(last, len(trace) - 1)] - time[rows] - longest[rows]
    others = np.flatnonzero(~coupled.is_post & ~waits)
    latest = np.full(len(trace), -1, dtype=np.int64)
    np.maximum.at(latest, event[others], full[others])
    rows = np.unique(event[others])
    opening = np.isin(rows, trace.starts)
    before = np.where(opening, -1, time[np.maximum(rows - 1, 0)])
    late = latest[rows] > before
    rows, opening = rows[late], opening[late]
    work[rows[~opening] - 1] = 0
    work[rows] += time[rows] - latest[rows]
    return work
