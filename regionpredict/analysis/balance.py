"""How evenly a schedule deals the iterations out: the largest share of the work of one thread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from regionpredict.analysis.groups import Nest, NumericLoop, work
from regionpredict.ir import Region

_SAMPLES = 64


class Schedule(NamedTuple):
    """`kind` 'static', 'dynamic', 'guided' (auto and runtime count as static); `chunk` or None."""

    kind: str
    chunk: float | None


def schedule_of(region: Region) -> Schedule:
    """The schedule clause of a region; static without a chunk where there is none."""
    clause = region.clause("schedule")
    text = (clause.text or "") if clause is not None else ""
    kind = re.split(r"[,:]", text.split(":")[-1])[0].strip().lower()
    after = text.split(",")[-1].strip() if "," in text else ""
    chunk = float(after) if after.isdigit() and int(after) > 0 else None
    if kind in ("dynamic", "guided"):
        return Schedule(kind, chunk or 1.0)
    return Schedule("static", chunk)


def piece(trips: float, threads: int, schedule: Schedule) -> float:
    """Iterations that one thread runs one after the other."""
    if schedule.chunk is not None and schedule.kind != "guided":
        return min(schedule.chunk, trips)
    return trips / threads


def chunks(trips: float, threads: int, schedule: Schedule) -> float:
    """Pieces handed out in all."""
    if schedule.kind == "guided" and schedule.chunk is not None:
        left, number = trips, 0.0
        # Pieces of left / p down to the smallest (OpenMP 5.2, sec. 11.5.3): a geometric row.
        while left > 1 and number < 64 * threads:
            left -= max(schedule.chunk, left / (2 * threads))
            number += 1
        return number
    own = piece(trips, threads, schedule)
    return -(-trips // own) if own >= 1 else trips


def largest_share(nest: Nest, threads: int, schedule: Schedule) -> float:
    """The busiest thread's part of the work: 1/threads where the work is even.

    Static pieces of a triangular nest are weighed at samples of the iteration space; a dynamic
    schedule leaves half a piece of waiting.
    """
    if threads == 1:
        return 1.0
    total = _shared_iterations(nest)
    if schedule.kind != "static":
        own = max(1.0, min(schedule.chunk or 1.0, total)) if schedule.kind == "dynamic" else 1.0
        return min(1.0, 1.0 / threads + 0.5 * own / total * (threads - 1) / threads)
    weights = _samples(nest)
    if schedule.chunk is not None and schedule.chunk * threads < total:
        rounds = -(-total // (schedule.chunk * threads))
        return min(1.0, rounds * schedule.chunk / total)
    even = max(1.0, -(-total // threads)) / total
    if not weights:
        return min(1.0, even)
    return min(1.0, max(even, _busiest(weights, threads)))


def _shared_iterations(nest: Nest) -> float:
    """Iterations that the threads share; kept with the nest."""
    known = nest.memo.get("shared iterations")
    if not isinstance(known, float):
        known = 1.0
        for loop in nest.parallel:
            known *= max(1.0, loop.trips(_middle(nest, loop)))
        nest.memo["shared iterations"] = known
    return known


def _middle(nest: Nest, upto: NumericLoop) -> dict[str, float]:
    env: dict[str, float] = {}
    for loop in nest.parallel:
        if loop is upto:
            break
        env[loop.variable] = loop.begin(env) + loop.step * max(0.0, loop.trips(env) - 1) / 2
    return env


def _samples(nest: Nest) -> tuple[float, ...]:
    """The weights along the parallel loop, kept with it; empty where they are even."""
    outer = nest.parallel[0]
    if outer.samples is None:
        outer.samples = tuple(_weights(nest) or ())
    return outer.samples


def at_work(nest: Nest, threads: int, sharers: int, schedule: Schedule) -> list[tuple[int, float]]:
    """(threads of one cache that work at a time, share of all work done so), most first.

    Where static pieces differ, the threads with the light ones leave the cache to the others. At
    most three numbers stand for all.
    """
    weights = _samples(nest) if schedule == Schedule("static", None) and sharers > 1 else ()
    if not weights:
        return [(sharers, 1.0)]
    pieces = _pieces(weights, threads)
    done: dict[int, float] = {}
    for first in range(0, threads, sharers):
        before, team = 0.0, sorted(pieces[first : first + sharers])
        for gone, piece_work in enumerate(team):
            active = len(team) - gone
            done[active] = done.get(active, 0.0) + active * (piece_work - before)
            before = piece_work
    total = sum(done.values())
    found: list[list[float]] = []
    for active, share in sorted(done.items(), reverse=True):
        if found and (found[-1][1] + share / total / 2 < 1 / 3 or len(found) == 3):
            found[-1][0] += active * share / total
            found[-1][1] += share / total
        elif share:
            found.append([active * share / total, share / total])
    return [(max(1, round(threads_work / share)), share) for threads_work, share in found]


def _weights(nest: Nest) -> list[float] | None:
    """Work at samples along the parallel loop; None where every iteration does the same."""
    outer = nest.parallel[0]
    if len(nest.parallel) > 1 or outer.variable not in outer.below():
        return None
    trips = outer.trips({})
    found = []
    for sample in range(_SAMPLES):
        at = outer.begin({}) + outer.step * (sample + 0.5) / _SAMPLES * max(0.0, trips - 1)
        found.append(work(outer.children, {outer.variable: at}) + 1.0)
    return found


def _busiest(weights: Sequence[float], threads: int) -> float:
    """The heaviest of `threads` equal pieces, the samples joined by steps."""
    size, total = len(weights), sum(weights)
    width = size / threads
    # Where the weights only rise or fall, the heaviest piece is the last or the first.
    if all(a <= b for a, b in pairwise(weights)):
        weights = weights[::-1]
    if all(a >= b for a, b in pairwise(weights)):
        whole = min(size - 1, int(width))
        return (sum(weights[:whole]) + (width - whole) * weights[whole]) / total
    return max(_pieces(weights, threads)) / total


def _pieces(weights: Sequence[float], threads: int) -> list[float]:
    """The weights of `threads` equal pieces, the samples joined by steps."""
    sums = [0.0, *accumulate(weights)]
    size = len(weights)
    upto = [0.0]
    for k in range(1, threads):
        place = k / threads * size
        left = int(place)
        upto.append(sums[left] + (place - left) * weights[left])
    return [b - a for a, b in pairwise([*upto, sums[-1]])]
