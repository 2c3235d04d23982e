"""The cost of serial bodies: `critical`, `ordered`, and code that a single thread executes.

Serial bodies are removed from the concurrent work. Each kind has a time on one thread, which is
combined with the rest:

- `single`, `master`, `masked`: the others wait, T = P(p) + S (Amdahl 1967).
- - `critical`: threads that work for Z between two visits queue for a service time s. This is a
  closed queue with one server per lock, by mean value analysis (Reiser and Lavenberg 1980), and
  never faster than S of one lock. Eyerman and Eeckhout 2010 also find that contention grows with
  the share of the time inside.
- - `ordered`: the bodies of a chunk start when the previous chunk has finished its last. Only the
  work before a chunk's first body overlaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class SerialBody(NamedTuple):
    """All executions of one kind of serial body. `visits` is their number, and `seconds` their time
    on one thread.
    """

    kind: str
    visits: float
    seconds: float


def added_by_serial_bodies(
    bodies: Sequence[SerialBody], threads: int, busy: float, alone: float, lock: float,
    chunk: float,
) -> float:  # fmt: skip
    """The seconds that serial bodies add to the `busy` seconds of the busiest thread.

    `alone` is the parallel work on one thread in seconds, `lock` the transfer of a lock to the next
    thread, and `chunk` the number of iterations in a piece.
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
    """The seconds until all threads have done `busy` seconds of work and all visits of `bodies`.
    Each body has its own lock.

    >>> whole = SerialBody("critical", 100.0, 2.0)
    >>> queued(1, 0.0, whole), queued(8, 0.0, whole), queued(2, 0.0, whole, whole)
    (2.0, 2.0, 3.0)
    """
    places = [body for body in bodies if body.visits and body.seconds]
    if not places:
        return busy
    visits = sum(body.visits for body in places)
    between = busy * threads / visits
    # The probability that a visit is to this lock, weighted by seconds.
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
    """The seconds of a loop whose iterations execute an `ordered` body. The loop is distributed in
    chunks.

    A chunk of c iterations takes c (P + S)/n. The work before its first body overlaps with the
    previous chunk.

    >>> ordered(4, 0.25, 1.0, SerialBody("ordered", 1000.0, 0.1), 1.0)
    0.275
    """
    if threads == 1 or not body.visits:
        return busy + body.seconds
    each = alone / body.visits
    chunks = body.visits / max(1.0, chunk)
    chain = alone + body.seconds - chunks * each
    return max(busy + body.seconds / threads, chain + each)
