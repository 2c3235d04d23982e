"""Computes the cost of serial bodies: `critical`, `ordered`, and code that a single thread
executes.

S is the time of a serial body on one thread, and P(p) the time of the other work on p threads:

- `single`, `master`, `masked`: the other threads wait, so T = P(p) + S (Amdahl 1967).
- `critical`: threads work for Z between two visits and queue for a service time s. This is a
  closed queue with one server per lock, solved by mean value analysis (Reiser and Lavenberg 1980).
  Eyerman and Eeckhout 2010 also find that contention grows with the share of time in the section.
- `ordered`: the bodies of a chunk start after the last body of the previous chunk. Only the work
  before a chunk's first body overlaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class SerialBody(NamedTuple):
    """All serial bodies of one kind. `visits` is the number of executions, and `seconds` their
    total time on one thread.
    """

    kind: str
    visits: float
    seconds: float


def added_by_serial_bodies(
    bodies: Sequence[SerialBody], threads: int, busy: float, alone: float, lock: float,
    chunk: float,
) -> float:  # fmt: skip
    """Returns the seconds that serial bodies add to the `busy` seconds of the busiest thread.

    `alone` is the time of the parallel work on one thread in seconds. `lock` is the time to pass a
    lock to the next thread, and `chunk` is the number of iterations in a piece.
    """
    added = 0.0
    locked = []
    for bare in bodies:
        entering = 0.0 if bare.kind == "single" else bare.visits * lock
        body = bare._replace(seconds=bare.seconds + entering)
        if body.kind == "critical":
            locked.append(body)
        elif body.kind == "ordered":
            added += ordered(threads, busy, alone, body, chunk) - busy
        else:
            added += body.seconds
    return added + queued(threads, busy, *locked) - busy


def queued(threads: int, busy: float, *bodies: SerialBody) -> float:
    """Returns the seconds until all threads have finished `busy` seconds of work and all critical
    sections `bodies`, each with its own lock.

    >>> whole = SerialBody("critical", 100.0, 2.0)
    >>> queued(1, 0.0, whole), queued(8, 0.0, whole), queued(2, 0.0, whole, whole)
    (2.0, 2.0, 3.0)
    """
    places = [body for body in bodies if body.visits and body.seconds]
    if not places:
        return busy
    visits = sum(body.visits for body in places)
    between = busy * threads / visits
    # The service demand of each lock: its mean seconds per visit to any lock.
    demands = [body.seconds / visits for body in places]
    lengths = [0.0] * len(places)
    rate = 0.0
    for customers in range(1, threads + 1):
        waits = [demand * (1.0 + length)
                 for demand, length in zip(demands, lengths, strict=True)]  # fmt: skip
        rate = customers / (between + sum(waits))
        lengths = [rate * spent for spent in waits]
    return visits / rate


def ordered(threads: int, busy: float, alone: float, body: SerialBody, chunk: float) -> float:
    """Returns the seconds of a loop that is distributed in chunks and executes an `ordered` body in
    each iteration.

    A chunk of c out of n iterations takes c (P + S)/n. The work before its first body overlaps with
    the previous chunk.

    >>> ordered(4, 0.25, 1.0, SerialBody("ordered", 1000.0, 0.1), 1.0)
    0.275
    """
    if threads == 1 or not body.visits:
        return busy + body.seconds
    each = alone / body.visits
    chunks = body.visits / max(1.0, chunk)
    chain = alone + body.seconds - chunks * each
    return max(busy + body.seconds / threads, chain + each)
