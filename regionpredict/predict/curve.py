"""The result of the saturation model: the time and its terms for every number of threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from regionpredict.predict.constants import SATURATED
from regionpredict.workload import LevelTraffic


class Point(NamedTuple):
    """The result for one number of threads: seconds, speedup over one thread, bottleneck class, and
    the terms in seconds.

    `terms`: `compute` (arithmetic and first-cache loads that are not hidden), `cache` (lines from
    lower caches), `memory-bandwidth`, `imbalance`, `overhead`, `serialization`. They add up to
    `seconds`. `requesting` is the number of cores of the fullest domain that wait for memory at a
    time, and `bandwidth` their bandwidth in B/s. `memory_bytes` is the memory traffic of all
    threads.
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
    """The smallest number of threads that is less than its speedup, the speedup, and the reason."""

    threads: int
    speedup: float
    reason: str


class CoreTime(NamedTuple):
    """The seconds of one core for the whole region if all data are in the first-level cache.

    `overlapping` (arithmetic, recurrences, instruction issue) overlaps with data transfers, and
    `loading` (loads and stores) does not. `notes` has one line for each loop. `slots` is the part
    of `overlapping` that occupies pipes, issue slots and the window. `figures` are the keys of the
    machine's figures for the most expensive loop.
    """

    overlapping: float
    loading: float
    notes: tuple[str, ...]
    figures: tuple[str, ...] = ()
    slots: float = 0.0


@dataclass(frozen=True, slots=True)
class SaturationDerivation:
    """The derivation of the curve.

    `levels` is the traffic of one thread below each cache, nearest first, and `full_levels` that of
    all cores. `saturation` is the smallest number of threads with 90 % of the best speed.
    `first_touch` is 'parallel' or 'serial', with the reason. `past` describes the cost of new pages
    and of lines in other cores for the largest number of threads. `margin` is that of the hint.
    `chance` is the probability that the hint is right, given the spreads and the doubtful figures.
    `spreads` are the possible errors of the deciding figures by term (`machine_uncertainty.py`).
    `doubled` is the time with all hardware threads of the hinted packages. `otherwise` are the
    times for the other possible distribution of data-dependent work. The work is skewed if the skew
    is unknown, and even if it is given.
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
    """The smallest number of threads that reaches `share` of the best speed.

    >>> saturation_point({1: 1.0, 2: 1.9, 3: 2.0})
    2
    """
    best = max(speed.values())
    return min(threads for threads, value in speed.items() if value >= share * best)
