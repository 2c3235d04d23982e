"""Replays a traced run on another network. Computation takes as long as in the trace. Waiting times
follow from the other ranks. On the ideal network, a call takes no time, a message arrives when it
is sent, and a collective ends when its last member arrives. A message larger than the eager limit
is sent only when its receiver is ready. Sender and receiver then continue together (rendezvous).
Each rank starts at its recorded time.

Every operation consists of at most two steps. A *post* announces that the rank has arrived. A
*need* waits for the posts of other ranks. A *slot* collects posts. It is full when all its posts
have arrived, and its time is that of the last post. `kernels/replay.c` executes the steps of each
rank until it needs a slot that is not full.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.constant import Constant
from regionpredict.errors import InputError, plural
from regionpredict.trace.bursts import Bursts, bursts_of
from regionpredict.trace.event_trace import EventTrace, Kind
from regionpredict.trace.kernels import Kernels, c_struct
from regionpredict.trace.matching import Matches
from regionpredict.trace.probes import probes_of
from regionpredict.trace.thread_dependencies import Synchronisation, thread_synchronisations

Ticks = NDArray[np.int64]

EAGER_LIMIT = Constant(
    32768.0,
    "byte",
    "assumed",
    "the eager limit of the MPI libraries of the reference traces; the report of factors shows "
    "its effect",
)


@dataclass(frozen=True, slots=True)
class Network:
    """A network as in LogGP (Alexandrov et al. 1995): `latency_s` (L) in seconds, `bandwidth` (1/G)
    in bytes per second, and `overhead_s` (o) in seconds per call. `gap_s` (g) is the time between
    messages of one sender in seconds, and `eager_limit` is in bytes. A collective operation of n
    members costs as much as ceil(log2(n)) messages of its size. The default is the ideal network,
    where nothing takes time.
    """

    latency_s: float = 0.0
    bandwidth: float = float("inf")
    overhead_s: float = 0.0
    gap_s: float = 0.0
    eager_limit: float = EAGER_LIMIT.value

    def __post_init__(self) -> None:
        costs = (self.latency_s, self.overhead_s, self.gap_s, self.eager_limit)
        if min(costs) < 0 or not self.bandwidth > 0:
            raise InputError(
                "a network has a negative cost or no bandwidth",
                remedy="give numbers of at least 0, and a positive bandwidth",
            )


IDEAL = Network()


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of all operations, sorted by location. `work` is the computation before each step,
    in ticks. `slot` is the slot that the step posts to or needs. `cost` is in ticks. For a post it
    is the time in which the sender's port is busy. For a need it is the time after the slot is
    full. `posts` is the number of posts that fill each slot. `begin` and `rest` are the ticks
    before the first and after the last step of each location.
    """

    location: Ticks
    work: Ticks
    slot: Ticks
    is_post: NDArray[np.bool_]
    cost: Ticks
    posts: Ticks
    begin: Ticks
    rest: Ticks


class BlockedError(InputError):
    """A deadlock between ranks."""


def replay(
    trace: EventTrace,
    matches: Matches,
    kernels: Kernels,
    network: Network = IDEAL,
    work: Ticks | None = None,
    bursts: Bursts | None = None,
) -> Ticks:
    """Returns the end time of each location on `network`, in ticks from the trace's start.

    `matches` and `bursts` belong to the trace. `work` replaces the recorded time from each event to
    the next one of its location, in ticks. Raises BlockedError for a deadlock. A deadlock occurs if
    the trace lacks messages, or if the recorded run sent larger messages eagerly.
    """
    steps = steps_of(trace, matches, network, work, bursts)
    return ends_of(steps, trace, kernels)


def steps_of(
    trace: EventTrace,
    matches: Matches,
    network: Network,
    work: Ticks | None = None,
    bursts: Bursts | None = None,
) -> Steps:
    """Returns the steps of the operations of all locations on `network`."""
    bursts = bursts or bursts_of(trace)
    if work is None:
        work = np.where(bursts.own, bursts.length, 0)
    made = Couplings(trace, matches, network, outermost_calls(bursts.depth))
    made.messages()
    made.collectives()
    made.teams(thread_synchronisations(trace))
    overhead = round(network.overhead_s * trace.ticks_per_second)
    return timed_steps(trace, made.coupled(), work, overhead)


@dataclass(frozen=True, slots=True)
class Dependences:
    """The dependences between locations. At each `event`, a location posts to a `slot` or needs it,
    with the `cost` in `Steps`. Entries are in the order of each location.
    """

    event: Ticks
    slot: Ticks
    is_post: NDArray[np.bool_]
    cost: Ticks
    posts: Ticks


def outermost_calls(depth: Ticks) -> Ticks:
    """Returns the rows that begin the outermost MPI calls. `depth` is the number of nested calls
    after each event.
    """
    return np.flatnonzero((depth > 0) & (np.concatenate([[0], depth[:-1]]) == 0))


def timed_steps(trace: EventTrace, coupled: Dependences, work: Ticks, overhead: int = 0) -> Steps:
    """Converts dependences to steps with the computation before each step. `work` has the ticks
    after each event of the trace, and each call takes `overhead` ticks.

    A thread whose first event is a fork is available from the start of its rank.
    """
    starts = trace.starts
    total = np.concatenate([[0], np.cumsum(work)])  # before each event, over all locations
    event, is_post = coupled.event, coupled.is_post
    location = trace.locations_of(event).astype(np.int64)
    done = total[event]
    before = np.empty(len(event), dtype=np.int64)
    if len(event):
        before[1:] = done[:-1]
        first = np.concatenate([[True], location[1:] != location[:-1]])
        before[first] = total[starts[location[first]]]
    rest = total[starts[1:]] - total[starts[:-1]]
    np.subtract.at(rest, location, done - before)
    own = done - before
    if overhead:
        fresh = np.concatenate([[True], event[1:] != event[:-1]]) if len(event) else is_post
        own = own + np.where(fresh, overhead, 0)
    begin = start_times(trace, event[~is_post])
    return Steps(location, own, coupled.slot, is_post, coupled.cost, coupled.posts, begin, rest)


def start_times(trace: EventTrace, needs: Ticks) -> Ticks:
    """Returns the start time of each location in ticks. `needs` are the events that wait for other
    locations.
    """
    begin = np.zeros(len(trace.locations), dtype=np.int64)
    woken = set(needs.tolist()) if len(trace.locations) > len(trace.ranks) else set()
    first_of_rank = 0
    for at, (low, high) in enumerate(pairwise(trace.starts.tolist())):
        if trace.locations[at].rank != trace.locations[first_of_rank].rank:
            first_of_rank = at
        if at != first_of_rank and low in woken:
            begin[at] = begin[first_of_rank]
        elif high > low:
            begin[at] = trace.time[low]
    return begin


class Couplings:
    """Collects the dependences of a trace: event of the call, slot, post or need, and cost.

    `opens` are the rows that begin the outermost MPI calls. Operations in a call belong to the row
    that begins it.
    """

    def __init__(self, trace: EventTrace, matches: Matches, network: Network, opens: Ticks) -> None:
        self.trace, self.matches, self.network, self.opens = trace, matches, network, opens
        self.kind = trace.kind[trace.operations.event]
        self.parts: list[tuple[Ticks, Ticks, NDArray[np.bool_], Ticks]] = []
        self.posts: list[Ticks] = []
        self.slots = 0

    def messages(self, synchronous: NDArray[np.bool_] | None = None) -> None:
        """Adds the dependences of messages. For an eager message, the send posts and the receive
        needs. For any other message, both post and both need. MPI_Probe needs the post of the send.

        `synchronous` has an entry per operation and is true for synchronous sends. By default,
        messages above the eager limit are synchronous.
        """
        network, operations, other = self.network, self.trace.operations, self.matches.other
        sends = (self.kind == Kind.SEND) | (self.kind == Kind.SEND_REQUEST)
        sent = np.flatnonzero(sends & (self.matches.mate >= 0))
        received = self.matches.mate[sent]
        size = np.maximum(operations.sent[sent], operations.received[received])
        eager = size <= network.eager_limit if synchronous is None else ~synchronous[sent]
        slot = np.arange(len(size))
        passes = self._ticks_of_seconds(network.latency_s + size / network.bandwidth)
        injected = self._ticks_of_seconds(np.maximum(network.gap_s, size / network.bandwidth))
        latency = self._ticks_of_seconds(np.full(len(size), network.latency_s))
        send, receive = self.call(sent), self.call(received)
        post = self.call(np.where(other[received] >= 0, other[received], received))
        completed = (self.kind[sent] == Kind.SEND) | (other[sent] >= 0)
        send_done = self.call(np.where(other[sent] >= 0, other[sent], sent))
        self._add(send, slot, True, np.where(eager, injected, 0))
        self._add(receive, slot, False, np.where(eager, latency, passes))
        large = ~eager
        self._add(post[large], slot[large], True, 0)
        waited = large & completed
        self._add(send_done[waited], slot[waited], False, passes[waited])
        self._fill_slots(np.where(eager, 1, 2))
        probes = probes_of(self.trace, self.matches)
        slot = np.arange(len(probes.send))
        self._add(self.call(probes.send), slot, True, 0)
        self._add(
            probes.enter, slot, False, self._ticks_of_seconds(np.full(len(slot), network.latency_s))
        )
        self._fill_slots(np.ones(len(slot), dtype=np.int64))

    def collectives(
        self, posts: NDArray[np.bool_] | None = None, needs: NDArray[np.bool_] | None = None
    ) -> None:
        """Adds the dependences of collective operations. By default, all members post and need.
        `posts` and `needs` restrict this to some operations.
        """
        operations = self.trace.operations
        rows = np.flatnonzero(self.kind == Kind.COLLECTIVE_END)
        instance = self._instance_numbers(rows)
        count = int(instance.max()) + 1 if len(rows) else 0
        members = np.bincount(instance, minlength=count)
        size = np.zeros(count, dtype=np.int64)
        each = np.maximum(operations.sent[rows], operations.received[rows])
        np.maximum.at(size, instance, each)
        rounds = np.ceil(np.log2(np.maximum(members, 1)))
        network = self.network
        cost = self._ticks_of_seconds(rounds * (network.latency_s + size / network.bandwidth))
        call = self.call(rows)
        come = np.ones(len(rows), dtype=bool) if posts is None else posts[rows]
        wait = np.ones(len(rows), dtype=bool) if needs is None else needs[rows]
        self._add(call[come], self.slots + instance[come], True, 0)
        self._add(call[wait], self.slots + instance[wait], False, cost[instance[wait]])
        self._fill_slots(np.bincount(instance[come], minlength=count))

    def add_collective(self, event: Ticks) -> None:
        """Adds an operation at which the locations of these events wait for each other."""
        slot = np.full(len(event), self.slots)
        self._add(event, slot, True, 0)
        self._add(event, slot, False, 0)
        self._fill_slots(np.array([len(event)]))

    def _instance_numbers(self, rows: Ticks) -> Ticks:
        """Returns the number of the collective operation of each row, from 0. MPI_COMM_SELF has
        separate operations for each rank.
        """
        trace = self.trace
        communicator = trace.operations.communicator[rows].astype(np.int64)
        alone = np.array(
            [c.members == () and c.remote is None for c in trace.communicators] + [False]
        )
        location = trace.locations_of(trace.operations.event[rows])
        own_location = np.where(alone[communicator], location, 0)
        keys = np.stack([communicator, own_location, self.matches.instance[rows]])
        return np.unique(keys, axis=1, return_inverse=True)[1].reshape(-1)

    def teams(self, synchronisation: Synchronisation) -> None:
        """Adds the dependences between the OpenMP threads of a rank. They have no additional
        cost.
        """
        self._add(synchronisation.post, self.slots + synchronisation.post_slot, True, 0)
        self._add(synchronisation.need, self.slots + synchronisation.need_slot, False, 0)
        self._fill_slots(np.bincount(synchronisation.post_slot, minlength=synchronisation.count))

    def coupled(self) -> Dependences:
        """Returns all collected dependences, sorted by event."""
        event, slot, is_post, cost = (
            np.concatenate(column) for column in zip(*self.parts, strict=True)
        )
        order = np.lexsort((np.arange(len(event)), ~is_post, event))
        return Dependences(
            event[order], slot[order], is_post[order], cost[order], np.concatenate(self.posts)
        )

    def call(self, rows: Ticks) -> Ticks:
        """Returns the event that begins the outermost MPI call around each operation."""
        event = self.trace.operations.event[rows]
        if not len(self.opens):
            return event
        at = np.searchsorted(self.opens, event, side="right") - 1
        inside = at >= 0
        array = self.opens[np.maximum(at, 0)]
        same = np.searchsorted(self.trace.starts, array, side="right") == np.searchsorted(
            self.trace.starts, event, side="right"
        )
        return np.where(inside & same, array, event)

    def _ticks_of_seconds(self, seconds: NDArray[np.float64]) -> Ticks:
        return np.rint(seconds * self.trace.ticks_per_second).astype(np.int64)

    def _add(self, event: Ticks, slot: Ticks, is_post: bool, cost: Ticks | int) -> None:
        count = len(event)
        filled = np.full(count, cost) if isinstance(cost, int) else cost
        self.parts.append((event, slot, np.full(count, is_post), filled.astype(np.int64)))

    def _fill_slots(self, posts: Ticks) -> None:
        self.posts.append(posts.astype(np.int64))
        self.slots += len(posts)


def ends_of(steps: Steps, trace: EventTrace, kernels: Kernels) -> Ticks:
    """Executes the steps and returns the end time of each location in ticks from the trace's start.
    Raises the same errors as `replay`.
    """
    count = len(steps.begin)
    arrays: dict[str, NDArray[Any]] = {
        "bounds": np.searchsorted(steps.location, np.arange(count + 1)).astype(np.int64),
        "work": steps.work,
        "slot": steps.slot,
        "is_post": steps.is_post.astype(np.uint8),
        "cost": steps.cost,
        "missing": steps.posts.copy(),
        "clock": steps.begin.copy(),
        "place": np.empty(count, dtype=np.int64),
    }
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    table = c_struct(locations=count, slots=len(steps.posts), **arrays)
    library = kernels.load("replay.c")
    library.rp_replay.restype = ctypes.c_int64
    stuck = library.rp_replay(ctypes.byref(table))
    if stuck < 0:
        raise InputError("not enough memory", remedy="filter the trace", path=trace.name)
    if stuck:
        first = int(np.argmax(arrays["place"] < arrays["bounds"][1:]))
        raise BlockedError(
            f"{trace.name}: the replay stops: location {trace.locations[first]} and "
            f"{plural(stuck - 1, 'other')} wait for each other, or for missing events",
            remedy="give a complete trace",
        )
    return np.asarray(arrays["clock"] + steps.rest)
