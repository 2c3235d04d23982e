"""The result of the saturation model: the time and its terms by number of threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from regionpredict.predict.constants import SATURATED
from regionpredict.workload import LevelTraffic


class Point(NamedTuple):
    """The predicted time on one number of threads, with the speedup over one thread, the bottleneck
    and the terms.

    `terms` are `compute` (arithmetic and exposed first-level loads), `cache` (lines from lower
    cache levels), `memory-bandwidth`, `imbalance`, `overhead` and `serialization`, in seconds.
    Their sum is `seconds`. `requesting` is the mean number of cores of the fullest domain that wait
    for memory, and `bandwidth` is their bandwidth in B/s. `memory_bytes` is the memory traffic of
    all threads.
    """

    threads: int
    seconds: float
    speedup: float
    bottleneck: str
    terms: Mapping[str, float]
    requesting: float
    bandwidth: float
    memory_bytes: float = 0.0


class Superlinear(NamedTuple):
    """The smallest number of threads with a speedup above the number of threads, and the reason."""

    threads: int
    speedup: float
    reason: str


class CoreTime(NamedTuple):
    """The seconds of one core for the whole region if all data are in the first-level cache.

    `overlapping` (arithmetic, recurrences, instruction issue) overlaps with data transfers, and
    `loading` (loads and stores) does not. `notes` has one line of text per loop. `figures` are the
    keys of the machine figures that determine the most expensive loop. `slots` is the part of
    `overlapping` that occupies execution pipes, issue slots and the instruction window.
    """

    overlapping: float
    loading: float
    notes: tuple[str, ...]
    figures: tuple[str, ...] = ()
    slots: float = 0.0


@dataclass(frozen=True, slots=True)
class SaturationDerivation:
    """The derivation of a speedup curve of the saturation model.

    `levels` is the traffic of one thread between each cache and the next level, nearest first, and
    `full_levels` the traffic of all cores. `saturation` is the smallest number of threads with 90 %
    of the best speed. `first_touch` is 'parallel' or 'serial', with `placement_reason`. `past`
    describes the cost of new pages and of lines in other cores' caches. `margin` belongs to the
    hint. `chance` is the probability that the hint is right. `spreads` are the possible errors of
    machine figures by term (`machine_uncertainty.py`). `doubled` is the time with all hardware
    threads of the hinted sockets. `otherwise` are the times for the other distribution of
    data-dependent work: skewed if the skew is unknown, even if it is given.
    """

    points: tuple[Point, ...]
    core: CoreTime
    levels: tuple[LevelTraffic, ...]
    full_levels: tuple[LevelTraffic, ...]
    saturation: int
    first_touch: str
    placement_reason: str
    past: str
    within: float
    margin: float
    chance: float
    spreads: Mapping[str, float]
    doubled: Point | None = None
    otherwise: tuple[Point, ...] = ()


def saturation_point(speed: Mapping[int, float], share: float = SATURATED.value) -> int:
    """Returns the smallest number of threads that reaches `share` of the best speed.

    >>> saturation_point({1: 1.0, 2: 1.9, 3: 2.0})
    2
    """
    best = max(speed.values())
    return min(threads for threads, value in speed.items() if value >= share * best)
