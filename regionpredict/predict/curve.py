"""The saturation model's result: a time for every number of threads, and what each is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from regionpredict.predict.constants import SATURATED
from regionpredict.workload import LevelTraffic


class Point(NamedTuple):
    """One number of threads: seconds, speedup over one thread, class, and the terms in seconds.

    `terms`: `compute` (arithmetic and loads from the first cache, where not hidden), `cache`
    (lines from the caches beyond it), `memory-bandwidth`, `imbalance`, `overhead`,
    `serialization`; they add up to `seconds`. `requesting` is the number of cores of the fullest
    domain that wait for memory at any time, `bandwidth` what they then get, in B/s. `memory_bytes`
    is what all threads move to and from memory.
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
    """The fewest threads whose speedup is larger than their number, that speedup, and why."""

    threads: int
    speedup: float
    reason: str


class CoreTime(NamedTuple):
    """Seconds of one core for the whole region, data in the first cache.

    `overlapping` (arithmetic, recurrences, instruction issue) hides behind data transfers,
    `loading` (loads and stores) does not. `notes` tell, a line each, how each loop was judged;
    `slots` is the part of `overlapping` that keeps pipes and issue busy, whatever waits for its own
    results. `figures` are the keys of the machine's figures that the heaviest loop's time comes
    from.
    """

    overlapping: float
    loading: float
    notes: tuple[str, ...]
    figures: tuple[str, ...] = ()
    slots: float = 0.0


@dataclass(frozen=True, slots=True)
class SaturationDerivation:
    """How the curve came about.

    `levels` is the traffic on one thread below each cache, nearest first, `full_levels` on all
    cores; `saturation` the fewest threads that reach 90 % of the best speed; `first_touch`
    'parallel' or 'serial' and why. `past` tells what new pages and lines of other cores cost on
    the most threads, empty where nothing. `margin` is the hint's, `chance` that it is right by
    the spreads of measured curves and by the machine's figures in doubt; `spreads` are, by term,
    how far off those that decide may be (`machine_uncertainty.py`). `doubled` is the time with all
    hardware threads of the hinted packages, None where a core has one. `otherwise` are the times if
    data spread the work in the other way that is possible: skewed where nobody said how, evenly
    where the caller said so; none where no data do.
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
    """The fewest threads that reach `share` of the best speed.

    >>> saturation_point({1: 1.0, 2: 1.9, 3: 2.0})
    2
    """
    best = max(speed.values())
    return min(threads for threads, value in speed.items() if value >= share * best)
