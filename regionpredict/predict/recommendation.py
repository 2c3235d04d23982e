"""Recommends one number of threads for a whole program.

A program has one allocation for all parallel regions. Its time on n threads is the time of all
their executions with at most n threads, plus the serial time. The recommendation is the smallest
number of threads within `PROGRAM_SLACK` of the shortest time. Chatzopoulos 2012, ch. 3, shows two
regions of one program that need different numbers.
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
from regionpredict.predict.uncertainty.doubts import RULES
from regionpredict.workload.assumed_sizes import sizes_origin

_SLACK = percent(PROGRAM_SLACK.value)
RULE = f"fewest threads within {_SLACK} of the least time"


class SerialCode(NamedTuple):
    """The code outside parallel regions: the seconds of its `loops` in a whole run, by place. The
    time of loops of `unknown` length, and of called functions without bodies (`unseen`), is not
    included.
    """

    loops: Mapping[str, float] = MappingProxyType({})
    unknown: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """The time of all loops."""
        return sum(self.loops.values())


NO_SERIAL_CODE = SerialCode()


class SlowerRegion(NamedTuple):
    """A parallel region that is slower on all threads than on the recommended number. `share` is
    its part of the program's time on all threads, and `alone` is its part on one thread.
    """

    id: str
    share: float
    alone: float
    bottleneck: str | None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The recommended number of threads for a program, with its speedup.

    Threads fill one package after the other, so the fullest package has `cores_per_package`.
    `threads_per_core` exceeds 1 only if all parallel regions agree. `seconds` is the time of the
    whole program. It is None if there are no times (`weighted_by`). `low` and `high` bound the
    speedup. `serial_share` is the known share of serial time (`unknown_serial`, `unseen_serial`),
    with the shares of its `serial_loops`, longest first. `race_share` is that of regions with data
    races, which count as on one thread. `sizes_from` is the least certain of `SIZE_ORIGINS`.
    `curve` is the program's time by number of threads. It has no unit if `seconds` is None.
    `slower` are the parallel regions that take longer on the last number of threads of the curve,
    largest loss first. `regions` counts the loops, `left_out` lists parallel regions without an
    estimate, and `main` is the file of `main`.
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
    """The recommendations: for one program, for several programs `together`, and for `each`,
    longest first. Empty if no region has an estimate.
    """

    together: Recommendation | None = None
    each: tuple[Recommendation, ...] = ()


NOTHING_RECOMMENDED = Recommended()


class _Part(NamedTuple):
    """A parallel region of a program: its time on one thread in a whole run, and its speedup by
    number of threads.
    """

    team: TeamPrediction
    alone: float
    speedup: Mapping[int, Bounds]
    value: Mapping[int, float]

    def at(self, threads: int) -> float:
        """The time of the region on this number of threads, or on its maximum if that is lower."""
        return self.alone / self.value[_most(self.value, threads)]

    def bounds(self, threads: int) -> Bounds:
        """The range of the part's speedup."""
        return self.speedup[_most(self.speedup, threads)]


def recommendation_of(
    teams: Sequence[TeamPrediction], machine: Machine, serial: SerialCode = NO_SERIAL_CODE, *,
    executions: Mapping[str, float] | None = None, measured: Mapping[str, float] | None = None,
    main: str = "",
) -> Recommendation | None:  # fmt: skip
    """The recommendation for the program of these parallel regions. None if no region has an
    estimate.

    `executions` replaces the number of executions of a region, by id. `measured` are measured times
    of loops on one thread, by id. They take precedence over predictions. If there are no times, all
    regions have the same weight, and serial code has none.
    """
    known = [team for team in teams if team.status != "skipped" and (team.speedup or team.threads)]
    if not known:
        return None
    often = {team.facts.id: team.facts.executions.weight for team in known} | dict(executions or {})
    weights, weighted_by = _weights(known, often, measured)
    counts = _counts(known, machine)
    parts = [_part(team, weight, counts) for team, weight in zip(known, weights, strict=True)]
    timed = weighted_by != "equally"
    alone = serial.seconds if timed else 0.0
    curve = {count: alone + sum(part.at(count) for part in parts) for count in counts}
    threads = fewest_within(curve)
    seats = _all_hardware_threads(parts, alone, curve[threads])
    spent = seats[1] if seats else curve[threads]
    one = alone + sum(part.alone for part in parts)
    bounds = [part.bounds(threads) for part in parts]
    slow = alone + sum(p.alone / b.low for p, b in zip(parts, bounds, strict=True))
    fast = alone + sum(p.alone / b.high for p, b in zip(parts, bounds, strict=True))
    speedup = _ratio(one, spent)
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
        low=min(_ratio(one, slow), speedup),
        high=max(_ratio(one, fast), speedup),
        serial_share=alone / spent if spent else 0.0,
        serial_loops=_longest_serial_loops(serial, spent) if timed else (),
        confidence=_confidence(parts, threads),
        sizes_from=_sizes_from(parts),
        assumed=tuple(dict.fromkeys(line for team in known for line in team.assumed)),
        weighted_by=weighted_by,
        curve=tuple(sorted(curve.items())),
        regions=len({name for team in known for name in loops_of(team)}),
        left_out=tuple(team.facts.id for team in teams if team not in known),
        unknown_serial=serial.unknown,
        unseen_serial=serial.unseen,
        race_share=sum(p.alone for p in parts if _is_wrong(p.team)) / spent if spent else 0.0,
        slower=_slower_regions(parts, threads, counts[-1], curve[counts[-1]], one),
    )  # fmt: skip


def _longest_serial_loops(serial: SerialCode, spent: float) -> tuple[tuple[str, float], ...]:
    """The serial loops with a share of the time, longest first."""
    ranked = sorted(serial.loops.items(), key=lambda item: (-item[1], item[0]))
    return tuple((place, seconds / spent) for place, seconds in ranked if seconds and spent)


def _sizes_from(parts: Sequence[_Part]) -> str:
    """The origin of the sizes of the regions that take most of the time on one thread."""
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
    """The smallest number of threads whose time is within a share of the shortest time.

    >>> fewest_within({1: 10.0, 2: 5.4, 4: 5.0})
    2
    """
    least = min(curve.values())
    return min(count for count, spent in curve.items() if spent <= (1.0 + slack) * least)


def loops_of(team: TeamPrediction) -> list[str]:
    """The ids of the loops of a parallel region."""
    return [member.facts.region.id for member in team.facts.members]


def _weights(
    teams: Sequence[TeamPrediction], executions: Mapping[str, float],
    measured: Mapping[str, float] | None,
) -> tuple[list[float], str]:  # fmt: skip
    """The serial time of each parallel region in a whole run, and where it comes from."""
    if measured is not None:
        weights = [sum(measured.get(name, 0.0) for name in loops_of(team)) for team in teams]
        if sum(weights) > 0.0:
            return weights, "measured time"
    predicted = [executions[team.facts.id] * team.seconds for team in teams
                 if team.seconds is not None]  # fmt: skip
    if len(predicted) == len(teams) and sum(predicted) > 0.0:
        return predicted, "predicted time"
    return [1.0] * len(teams), "equally"


def _counts(teams: Sequence[TeamPrediction], machine: Machine) -> list[int]:
    counts = {point.threads for team in teams for point in team.speedup}
    if not counts:
        counts = {k * machine.cores_per_package for k in range(1, machine.packages + 1)}
        counts.add(min(team.threads or 1 for team in teams))
    return sorted(counts)


def _part(team: TeamPrediction, alone: float, counts: Sequence[int]) -> _Part:
    """The part of a region for a model without a curve: full speed up to the hinted threads,
    constant beyond.

    A region with a data race counts as if it ran on one thread. Its slowdown on more threads does
    not reduce the recommendation.
    """
    if _is_wrong(team):
        return _Part(team, alone, {1: Bounds(1.0, 1.0)}, {1: 1.0})
    if team.speedup:
        bounds = {point.threads: Bounds(point.low, point.high) for point in team.speedup}
        values = {point.threads: point.value for point in team.speedup}
    else:
        values = {count: float(min(count, team.threads or count)) for count in counts}
        bounds = {count: Bounds(value, value) for count, value in values.items()}
    return _Part(team, alone, {1: Bounds(1.0, 1.0)} | bounds, {1: 1.0} | values)


def _is_wrong(team: TeamPrediction) -> bool:
    return any(RULES.get(note.id) == "race" for member in team.facts.members
               for note in member.facts.diagnostics)  # fmt: skip


def _slower_regions(
    parts: Sequence[_Part], threads: int, more: int, spent: float, one: float
) -> tuple[SlowerRegion, ...]:
    """The parallel regions that take longer on `more` threads, largest loss first. The program
    takes the time `spent` there, and `one` on one thread.
    """
    losses = [(part.at(more) - part.at(threads), part) for part in parts]
    return tuple(
        SlowerRegion(part.team.facts.id, part.at(more) / spent, part.alone / one,
                     part.team.bottleneck)
        for loss, part in sorted(losses, key=lambda pair: -pair[0]) if loss > 0.0
    )  # fmt: skip


def _all_hardware_threads(
    parts: Sequence[_Part], alone: float, spent: float
) -> tuple[int, float] | None:
    """All hardware threads of the packages with their time, if all parallel regions need them and
    they are faster. None otherwise.
    """
    if any(part.team.threads_per_core == 1 for part in parts):
        return None
    shared = alone + sum(part.alone / (part.team.shared_core_speedup or 1.0) for part in parts)
    most = max(part.team.threads or 1 for part in parts)
    return (most, shared) if shared < spent else None


def _confidence(parts: Sequence[_Part], threads: int) -> float:
    """The mean confidence of the parallel regions, weighted by time."""
    times = [part.at(threads) for part in parts]
    whole = sum(times)
    if not whole:
        return min(part.team.confidence for part in parts)
    return (
        sum(part.team.confidence * spent for part, spent in zip(parts, times, strict=True)) / whole
    )


def _most(by_threads: Mapping[int, object], threads: int) -> int:
    return max(count for count in by_threads if count <= threads)


def _ratio(one: float, spent: float) -> float:
    return one / spent if spent else 1.0
