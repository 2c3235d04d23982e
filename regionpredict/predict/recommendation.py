"""Recommends one number of threads for a whole program.

A program has one allocation for all parallel regions. The time of the program on n threads is the
time of all parallel regions on at most n threads, plus the serial time. The recommendation is the
smallest number of threads within `PROGRAM_SLACK` of the shortest time. Chatzopoulos 2012, ch. 3,
shows two regions of one program that need different numbers of threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from regionpredict.errors import percent
from regionpredict.machine import Machine, thread_places
from regionpredict.predict.constants import MOST_OF_THE_TIME, PROGRAM_SLACK
from regionpredict.predict.teams import TeamPrediction
from regionpredict.predict.uncertainty import Bounds
from regionpredict.predict.uncertainty.constants import UNKNOWN_PART_CONFIDENCE
from regionpredict.predict.uncertainty.doubts import RULES
from regionpredict.workload.assumed_sizes import sizes_origin

_SLACK = percent(PROGRAM_SLACK.value)
RULE = f"fewest threads within {_SLACK} of the least time"


class SerialCode(NamedTuple):
    """The serial code of a program. `loops` gives the seconds of each loop in a whole run, by its
    location in the source. `exclusive` gives the seconds per thread of loops in a `critical`,
    which all threads run one after the other.

    `unknown` lists loops of unknown length, and `unseen` lists called functions without a body.
    Their time is excluded.
    """

    loops: Mapping[str, float] = MappingProxyType({})
    unknown: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    exclusive: Mapping[str, float] = MappingProxyType({})

    def at(self, threads: int) -> float:
        """Returns the time of all serial loops on this number of threads, in seconds."""
        return sum(self.loops.values()) + threads * sum(self.exclusive.values())


NO_SERIAL_CODE = SerialCode()


class SlowerRegion(NamedTuple):
    """A parallel region that is slower on all threads than on the recommended number of threads.

    `share` is the region's share of the program's time on all threads, and `alone` is its share on
    one thread.
    """

    id: str
    share: float
    alone: float
    bottleneck: str | None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The recommended number of threads for a program, with its speedup.

    Threads fill one socket after the other, and `cores_per_package` is the number of cores used in
    the fullest socket. `threads_per_core` exceeds 1 only if all parallel regions use all hardware
    threads. `seconds` is the time of the whole program, or None for a model without times. `low`
    and `high` bound the speedup. `serial_share` is the known share of serial time, without
    `unknown_serial` loops and `unseen_serial` functions. `serial_loops` are its parts, longest
    first. `race_share` is the share of regions with data races, which count as running on one
    thread. `sizes_from` is the least certain source of sizes, one of `SIZE_ORIGINS`. `weighted_by`
    says how parallel regions are weighted. `curve` is the program's time by number of threads, or a
    relative time if `seconds` is None. `slower` are the parallel regions that take longer on all
    threads, largest loss first. `regions` is the number of loops, `left_out` lists parallel regions
    without an estimate, and `main` is the file of `main`.
    """

    main: str
    packages: int
    threads: int
    cores_per_package: int
    threads_per_core: int
    seconds: float | None
    speedup: float
    low: float
    high: float
    serial_share: float
    confidence: float
    sizes_from: str
    assumed: tuple[str, ...]
    weighted_by: str
    curve: tuple[tuple[int, float], ...]
    regions: int
    left_out: tuple[str, ...]
    unknown_serial: tuple[str, ...] = ()
    unseen_serial: tuple[str, ...] = ()
    serial_loops: tuple[tuple[str, float], ...] = ()
    race_share: float = 0.0
    slower: tuple[SlowerRegion, ...] = ()
    rule: str = RULE


class Recommended(NamedTuple):
    """The recommendation for all programs `together`, and for `each` of several programs, longest
    first. Empty if no region has an estimate.
    """

    together: Recommendation | None = None
    each: tuple[Recommendation, ...] = ()


NOTHING_RECOMMENDED = Recommended()


class _ProgramPart(NamedTuple):
    """A parallel region of a program with its time on one thread in a whole run, and its speedup by
    number of threads.
    """

    team: TeamPrediction
    alone: float
    speedup: Mapping[int, Bounds]
    value: Mapping[int, float]

    def at(self, threads: int) -> float:
        """Returns the time of the region on this number of threads, or on fewer threads if the
        region is limited.
        """
        return self.alone / self.value[_largest_up_to(self.value, threads)]

    def bounds(self, threads: int) -> Bounds:
        """Returns the interval of the region's speedup on this number of threads."""
        return self.speedup[_largest_up_to(self.speedup, threads)]


def recommendation_of(
    teams: Sequence[TeamPrediction], machine: Machine, serial: SerialCode = NO_SERIAL_CODE, *,
    executions: Mapping[str, float] | None = None, measured: Mapping[str, float] | None = None,
    main: str = "",
) -> Recommendation | None:  # fmt: skip
    """Returns the recommendation for a program with these parallel regions. None if no region has
    an estimate.

    `executions` replaces the number of executions of a region, by id. `measured` gives measured
    times of loops on one thread, by id, which replace predicted times. Without any times, all
    regions have the same weight, and serial code has weight 0.
    """
    known = [team for team in teams if team.status != "skipped" and (team.speedup or team.threads)]
    if not known:
        return None
    left_out = tuple(team.facts.id for team in teams if team not in known)
    often = {team.facts.id: team.facts.executions.weight for team in known} | dict(executions or {})
    weights, weighted_by = _times_of_regions(known, often, measured)
    counts = _thread_counts(known, machine)
    parts = [
        _program_part(team, weight, counts) for team, weight in zip(known, weights, strict=True)
    ]
    timed = weighted_by != "equally"
    if not timed:
        serial = serial._replace(loops={}, exclusive={})
    curve = {count: serial.at(count) + sum(part.at(count) for part in parts) for count in counts}
    threads = fewest_within(curve)
    seats = _all_hardware_threads(parts, serial, curve[threads])
    spent = seats[1] if seats else curve[threads]
    alone = serial.at(seats[0] if seats else threads)
    one = serial.at(1) + sum(part.alone for part in parts)
    bounds = [part.bounds(threads) for part in parts]
    slow = alone + sum(p.alone / b.low for p, b in zip(parts, bounds, strict=True))
    fast = alone + sum(p.alone / b.high for p, b in zip(parts, bounds, strict=True))
    speedup = _speedup_ratio(one, spent)
    places = thread_places(machine, min(threads, machine.cores))
    return Recommendation(
        main=main,
        packages=seats[0] // machine.threads_per_core // machine.cores_per_package if seats
        else places.packages,
        threads=seats[0] if seats else threads,
        cores_per_package=machine.cores_per_package if seats else places.together,
        threads_per_core=machine.threads_per_core if seats else 1,
        seconds=spent if timed else None,
        speedup=speedup,
        low=min(_speedup_ratio(one, slow), speedup),
        high=max(_speedup_ratio(one, fast), speedup),
        serial_share=alone / spent if spent else 0.0,
        serial_loops=_longest_serial_loops(serial, seats[0] if seats else threads, spent),
        confidence=_confidence(parts, threads, len(left_out) + len(serial.unknown)),
        sizes_from=_sizes_from(parts),
        assumed=tuple(dict.fromkeys(line for team in known for line in team.assumed)),
        weighted_by=weighted_by,
        curve=tuple(sorted(curve.items())),
        regions=len({name for team in known for name in loops_of(team)}),
        left_out=left_out,
        unknown_serial=serial.unknown,
        unseen_serial=serial.unseen,
        race_share=sum(p.alone for p in parts if _has_race(p.team)) / spent if spent else 0.0,
        slower=_slower_regions(parts, threads, counts[-1], curve[counts[-1]], one),
    )  # fmt: skip


def _longest_serial_loops(
    serial: SerialCode, threads: int, spent: float
) -> tuple[tuple[str, float], ...]:
    """Returns the serial loops with their shares of the program's time `spent`, longest first."""
    times = {place: threads * seconds for place, seconds in serial.exclusive.items()}
    for place, seconds in serial.loops.items():
        times[place] = times.get(place, 0.0) + seconds
    ranked = sorted(times.items(), key=lambda item: (-item[1], item[0]))
    return tuple((place, seconds / spent) for place, seconds in ranked if seconds and spent)


def _sizes_from(parts: Sequence[_ProgramPart]) -> str:
    """Returns the least certain source of sizes of the regions that take most of the time on one
    thread.
    """
    left = MOST_OF_THE_TIME.value * sum(part.alone for part in parts)
    deciding: list[TeamPrediction] = []
    for part in sorted(parts, key=lambda part: -part.alone):
        if deciding and left <= 0.0:
            break
        deciding.append(part.team)
        left -= part.alone
    return sizes_origin(
        [member.facts for team in deciding for member in team.facts.members],
        [name for team in deciding for name in team.unbound],
    )


def fewest_within(curve: Mapping[int, float], slack: float = PROGRAM_SLACK.value) -> int:
    """Returns the smallest number of threads whose time exceeds the shortest time by at most the
    share `slack`.

    >>> fewest_within({1: 10.0, 2: 5.4, 4: 5.0})
    2
    """
    least = min(curve.values())
    return min(count for count, spent in curve.items() if spent <= (1.0 + slack) * least)


def loops_of(team: TeamPrediction) -> list[str]:
    """Returns the ids of the loops of a parallel region."""
    return [member.facts.region.id for member in team.facts.members]


def _times_of_regions(
    teams: Sequence[TeamPrediction], executions: Mapping[str, float],
    measured: Mapping[str, float] | None,
) -> tuple[list[float], str]:  # fmt: skip
    """Returns the time of each parallel region on one thread in a whole run, and the source of
    these times.
    """
    if measured is not None:
        weights = [sum(measured.get(name, 0.0) for name in loops_of(team)) for team in teams]
        if sum(weights) > 0.0:
            return weights, "measured time"
    predicted = [executions[team.facts.id] * team.seconds for team in teams
                 if team.seconds is not None]  # fmt: skip
    if len(predicted) == len(teams) and sum(predicted) > 0.0:
        return predicted, "predicted time"
    return [1.0] * len(teams), "equally"


def _thread_counts(teams: Sequence[TeamPrediction], machine: Machine) -> list[int]:
    counts = {point.threads for team in teams for point in team.speedup}
    if not counts:
        counts = {k * machine.cores_per_package for k in range(1, machine.packages + 1)}
        counts.add(min(team.threads or 1 for team in teams))
    return sorted(counts)


def _program_part(
    team: TeamPrediction, seconds_on_one: float, counts: Sequence[int]
) -> _ProgramPart:
    """Returns a parallel region with its speedup by number of threads.

    Without a curve, the speedup is perfect up to the hinted threads and constant beyond. A region
    with a data race counts as if it ran on one thread, so that its slowdown does not reduce the
    recommendation.
    """
    if _has_race(team):
        return _ProgramPart(team, seconds_on_one, {1: Bounds(1.0, 1.0)}, {1: 1.0})
    if team.speedup:
        bounds = {point.threads: Bounds(point.low, point.high) for point in team.speedup}
        values = {point.threads: point.value for point in team.speedup}
    else:
        values = {count: float(min(count, team.threads or count)) for count in counts}
        bounds = {count: Bounds(value, value) for count, value in values.items()}
    return _ProgramPart(team, seconds_on_one, {1: Bounds(1.0, 1.0)} | bounds, {1: 1.0} | values)


def _has_race(team: TeamPrediction) -> bool:
    return any(RULES.get(note.id) == "race" for member in team.facts.members
               for note in member.facts.diagnostics)  # fmt: skip


def _slower_regions(
    parts: Sequence[_ProgramPart], threads: int, more: int, spent: float, seconds_on_one: float
) -> tuple[SlowerRegion, ...]:
    """Returns the parallel regions that take longer on `more` threads, largest loss first.

    `spent` is the program's time on `more` threads, and `seconds_on_one` is its time on one thread.
    """
    losses = [(part.at(more) - part.at(threads), part) for part in parts]
    return tuple(
        SlowerRegion(part.team.facts.id, part.at(more) / spent, part.alone / seconds_on_one,
                     part.team.bottleneck)
        for loss, part in sorted(losses, key=lambda pair: -pair[0]) if loss > 0.0
    )  # fmt: skip


def _all_hardware_threads(
    parts: Sequence[_ProgramPart], serial: SerialCode, spent: float
) -> tuple[int, float] | None:
    """Returns the number of all hardware threads of the used sockets, and the program's time on
    them. None unless all parallel regions use them and the program gets faster.
    """
    if any(part.team.threads_per_core == 1 for part in parts):
        return None
    most = max(part.team.threads or 1 for part in parts)
    shared = sum(part.alone / (part.team.shared_core_speedup or 1.0) for part in parts)
    shared += serial.at(most)
    return (most, shared) if shared < spent else None


def _confidence(parts: Sequence[_ProgramPart], threads: int, unknown: int) -> float:
    """Returns the mean confidence of the parallel regions, weighted by time.

    Each of the `unknown` parts, whose time is not predicted, has the weight of a mean region.
    """
    times = [part.at(threads) for part in parts]
    if not sum(times):
        return min(part.team.confidence for part in parts)
    mean = sum(times) / len(times)
    sure = sum(part.team.confidence * spent for part, spent in zip(parts, times, strict=True))
    return (sure + UNKNOWN_PART_CONFIDENCE.value * unknown * mean) / (sum(times) + unknown * mean)


def _largest_up_to(by_threads: Mapping[int, object], threads: int) -> int:
    return max(count for count in by_threads if count <= threads)


def _speedup_ratio(seconds_on_one: float, spent: float) -> float:
    return seconds_on_one / spent if spent else 1.0
