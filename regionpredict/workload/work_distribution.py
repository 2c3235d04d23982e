"""Computes the load balance of a schedule, and the number of threads that work at the same time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import median
from typing import NamedTuple

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload.constants import (
    MEDIAN_BEND,
    PROFILE_SAMPLES,
    SCATTER,
    WAITED_PIECE,
    WORK_PHASES,
)
from regionpredict.workload.loop_nest import LoopNest, operations_of
from regionpredict.workload.skewed_work import Skew, skewed_share


class WorkProfile(NamedTuple):
    """The distribution of work along the parallel loop.

    `iterations` is the number of parallel iterations. `weights` is the work (operations) at samples
    along the loop, and empty if all iterations are equal. `skew` is the distribution of
    data-dependent work, or None. `per_thread` says that the parallel loop counts threads, so that
    iteration t is the work of thread t. `heaviest` is the share of the work in
    the longest iteration, or 0 if all are equal.
    """

    iterations: float
    weights: tuple[float, ...]
    skew: Skew | None = None
    per_thread: bool = False
    heaviest: float = 0.0


def work_profile(
    nest: LoopNest, skew: Skew | None = None, *, per_thread: bool = False
) -> WorkProfile:
    """Returns the work profile of a nest. `per_thread` says that the parallel loop counts
    threads.
    """
    iterations, env = 1.0, dict[str, float]()
    for loop in nest.parallel:
        iterations *= max(1.0, loop.trips(env))
        env[loop.variable] = loop.middle_value(env)
    weights, heaviest = _sampled_work(nest)
    return WorkProfile(iterations, weights, skew, per_thread, heaviest)


def _sampled_work(nest: LoopNest) -> tuple[tuple[float, ...], float]:
    """Returns the work at samples along the parallel loop, and the longest iteration's share of all
    work. Without samples, all iterations are equal.
    """
    outer = nest.parallel[0]
    conditions = [loop.held for loop in nest.loops if loop.held is not None]
    conditions += [guarded.held for guarded in nest.guarded]
    together = any(held.together for held in conditions)
    if len(nest.parallel) > 1 or not (together or outer.variable in outer.bounds_below):
        return (), 0.0
    trips, samples = outer.trips({}), int(PROFILE_SAMPLES.value)
    places: list[float] = [
        (sample + 0.5) / samples * max(0.0, trips - 1) for sample in range(samples)
    ]
    if trips <= samples and trips == int(trips):
        places = [
            *range(int(trips))
        ]  # each iteration separately, for example if iterations are threads

    def work(position: float) -> float:
        env = {outer.variable: position}
        guarded = sum(part.at(env) for part in nest.guarded)
        return operations_of(outer.children, env) + guarded + outer.work

    weights = [work(outer.begin({}) + outer.step * place) for place in places]
    longest, each = max(weights, default=0.0), max(1.0, trips / samples)
    if each > 1.0:
        weights = _without_scatter(weights)
    for single in {held.single for held in conditions if held.single is not None}:
        own = work(float(single))
        longest = max(longest, own)
        if each > 1.0:  # the samples are next to it
            place = (single - outer.begin({})) / outer.step / trips
            number = min(samples - 1, max(0, int(place * samples)))
            weights[number] += max(0.0, own - weights[number]) / each
    return tuple(weights), longest / (sum(weights) * each) if weights else 0.0


def _without_scatter(weights: list[float]) -> list[float]:
    """Returns the linear trend of the weights if they scatter from sample to sample.

    The work of `while (n != 1) n = n & 1 ? 3 * n + 1 : n / 2;` is erratic. A piece has many
    iterations between two samples, so that only the trend remains. The median of second differences
    ignores steps and ramps.
    """
    bends = (abs(a - 2 * b + c) for a, b, c in zip(weights, weights[1:], weights[2:], strict=False))
    mean = sum(weights) / len(weights)
    if median(bends) < SCATTER.value * MEDIAN_BEND.value * mean:
        return weights
    middle = (len(weights) - 1) / 2
    slope = sum((k - middle) * weight for k, weight in enumerate(weights))
    slope /= sum((k - middle) ** 2 for k in range(len(weights)))
    return [max(0.0, mean + slope * (k - middle)) for k in range(len(weights))]


def largest_share(profile: WorkProfile, threads: int, schedule: Schedule) -> float:
    """Returns the busiest thread's share of the work, which is 1/threads for even work.

    Static pieces of a triangular nest are weighted by samples of the iteration space. With a
    dynamic schedule, threads wait at the end for a part of a piece (`WAITED_PIECE`). The heaviest
    iterations of data-dependent work are assumed to be adjacent.
    """
    if threads == 1:
        return 1.0
    counted = _share_by_bounds(profile, threads, schedule)
    if profile.skew is None:
        return counted
    skewed = skewed_share(profile.skew, profile.iterations, threads, schedule)
    of_data = profile.skew.share
    return max(counted, (1.0 - of_data) * counted + of_data * skewed)


def _share_by_bounds(profile: WorkProfile, threads: int, schedule: Schedule) -> float:
    """Returns the busiest thread's share of the work that follows from loop bounds."""
    total = profile.iterations
    if profile.per_thread and threads <= len(profile.weights) == total:
        there = profile.weights[:threads]
        return max(there) / sum(there)
    if schedule.kind != "static":
        own = max(1.0, min(schedule.chunk or 1.0, total)) if schedule.kind == "dynamic" else 1.0
        if total <= own * threads:  # one piece per thread, or none
            return min(1.0, max(profile.heaviest, own / total))
        waited = WAITED_PIECE.value * own / total * (threads - 1) / threads
        return max(profile.heaviest, 1.0 / threads + waited)
    pieces, longest = float(threads), -(-total // threads)
    if schedule.chunk is not None:
        rounds = -(-total // (schedule.chunk * threads))
        if rounds > 1 and len(profile.weights) == total:
            chunk = int(schedule.chunk)
            parts = [sum(weight for at, weight in enumerate(profile.weights)
                         if at // chunk % threads == thread)
                     for thread in range(threads)]  # fmt: skip
            return max(parts) / sum(parts)
        if rounds > 1:
            return max(profile.heaviest, rounds * schedule.chunk / total)
        pieces, longest = total / schedule.chunk, schedule.chunk  # some threads may have no piece
    even = max(1.0, longest) / total
    if not profile.weights:
        return min(1.0, even)
    busiest = max(piece_weights(profile.weights, pieces)) / sum(profile.weights)
    return min(1.0, max(even, busiest))


def threads_at_work(
    profile: WorkProfile, threads: int, sharers: int, schedule: Schedule
) -> list[tuple[int, float]]:
    """Returns phases of execution as (number of active threads per cache, share of all work), most
    threads first.

    With uneven static pieces, threads with little work finish early and leave the cache to the
    others. Similar phases are merged to at most `WORK_PHASES`.
    """
    weights = profile.weights if schedule == Schedule("static", None) and sharers > 1 else ()
    if not weights:
        return [(sharers, 1.0)]
    pieces = piece_weights(weights, threads)
    done: dict[int, float] = {}
    for first in range(0, threads, sharers):
        before, team = 0.0, sorted(pieces[first : first + sharers])
        for gone, piece_work in enumerate(team):
            active = len(team) - gone
            done[active] = done.get(active, 0.0) + active * (piece_work - before)
            before = piece_work
    total = sum(done.values())
    phases: list[list[float]] = []
    for active, share in sorted(done.items(), reverse=True):
        short = phases and phases[-1][1] + share / total / 2 < 1 / WORK_PHASES.value
        if short or len(phases) == WORK_PHASES.value:
            phases[-1][0] += active * share / total
            phases[-1][1] += share / total
        elif share:
            phases.append([active * share / total, share / total])
    return [(max(1, round(threads_work / share)), share) for threads_work, share in phases]


def piece_weights(weights: Sequence[float], pieces: float) -> list[float]:
    """Returns the work of `pieces` equally long pieces, with a shorter last piece for fractions.
    `weights` are samples of a step function.

    >>> piece_weights([1.0, 1.0, 2.0, 2.0, 2.0], 2.5)
    [2.0, 4.0, 2.0]
    """
    sums = [0.0, *accumulate(weights)]
    size = len(weights)
    upto = [0.0]
    for k in range(1, math.ceil(pieces)):
        place = k / pieces * size
        left = int(place)
        upto.append(sums[left] + (place - left) * weights[left])
    return [b - a for a, b in pairwise([*upto, sums[-1]])]
