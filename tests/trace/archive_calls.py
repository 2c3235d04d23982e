"""The calls in an archive as the package `otf2` reads them, and waits by their definitions.

A busy host makes a sleep longer. So what a test expects comes from the recorded times, which are
whole nanoseconds, and not from what the program asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest

from regionpredict.trace.analysis import Analysis
from regionpredict.trace.results import wait_states

Place = tuple[int, int]
"""Rank and thread."""


class Call(NamedTuple):
    """A region that was entered and left, in nanoseconds. `joins` is when its collective operation
    begins, else its own begin."""

    name: str
    role: str
    begin: int
    end: int
    joins: int

    @property
    def length(self) -> int:
        return self.end - self.begin

    def wait(self, until: int) -> int:
        """The wait for something that begins at `until`: no longer than the call, and not less
        than nothing."""
        return max(min(until, self.end) - self.joins, 0)


@dataclass
class Location:
    """One thread: its calls in the order of their begins, its teams from fork to join, and from
    when to when it held each lock."""

    calls: list[Call] = field(default_factory=list)
    teams: list[tuple[int, int]] = field(default_factory=list)
    held: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    first: int = 0
    last: int = 0

    def named(self, *names: str) -> list[Call]:
        return [call for call in self.calls if call.name in names]

    def of_role(self, role: str) -> list[Call]:
        return [call for call in self.calls if call.role == role]


def archive(folder: Path) -> dict[Place, Location]:
    """All locations of the archive in a folder."""
    import otf2

    with otf2.reader.open(str(folder / "traces.otf2")) as trace:
        assert trace.timer_resolution == 10**9
        processes = list(trace.definitions.location_groups)
        places: dict[object, Place] = {}
        for location in trace.definitions.locations:
            rank = processes.index(location.group)
            thread = sum(1 for place in places.values() if place[0] == rank)
            places[location] = (rank, thread)
        found = {place: Location() for place in places.values()}
        opened: dict[Place, list[int]] = {place: [] for place in found}
        forked: dict[Place, int] = {}
        acquired: dict[tuple[Place, int], int] = {}
        for location, event in trace.events:
            place = places[location]
            here, time = found[place], event.time
            here.first = here.first if here.calls else time
            here.last = time
            match type(event).__name__:
                case "Enter":
                    opened[place].append(len(here.calls))
                    role = str(event.region.region_role).rpartition(".")[2]
                    here.calls.append(Call(event.region.name, role, time, time, time))
                case "Leave":
                    at = opened[place].pop()
                    here.calls[at] = here.calls[at]._replace(end=time)
                case "MpiCollectiveBegin":
                    at = opened[place][-1]
                    here.calls[at] = here.calls[at]._replace(joins=time)
                case "ThreadFork":
                    forked[place] = time
                case "ThreadJoin":
                    here.teams.append((forked[place], time))
                case "ThreadAcquireLock":
                    acquired[place, event.lock_id] = time
                case "ThreadReleaseLock":
                    span = acquired[place, event.lock_id], time
                    here.held.setdefault(event.lock_id, []).append(span)
        assert not any(opened.values())
        return found


def waits_for_last(
    calls: Sequence[Sequence[Call]], begun: Sequence[Sequence[Call]] | None = None
) -> list[int]:
    """The sums of each member's waits in its calls, of which the k-th of all belong together.

    A member waits until the last one takes part. Of non-blocking operations, `begun` are the calls
    that begin them, and `calls` those that complete them.
    """
    starts = begun or calls
    assert len({*map(len, calls), *map(len, starts)}) == 1
    latest = [max(call.joins for call in together) for together in zip(*starts, strict=True)]
    return [
        sum(call.wait(until) for call, until in zip(mine, latest, strict=True)) for mine in calls
    ]


def waits_for_partner(calls: Iterable[Call], partners: Iterable[Call]) -> int:
    """The sum of the waits in calls for the begin of the partner's call."""
    return sum(call.wait(partner.begin) for call, partner in zip(calls, partners, strict=True))


def seconds_waited(analysis: Analysis, metric: str, of: str = "") -> dict[Place, float]:
    """What the package finds, by rank and thread: in call paths that end in `of`."""
    found = {(place.rank, place.thread): 0.0 for place in analysis.trace.locations}
    for record in wait_states(analysis).records:
        if record.metric == metric and record.location and record.callpath.endswith(of):
            found[record.location.rank, record.location.thread] += record.value
    return found


def seconds(nanoseconds: Mapping[Place, int]) -> object:
    """Equals the same times in seconds, to a nanosecond."""
    return pytest.approx({place: ticks * 1e-9 for place, ticks in nanoseconds.items()}, abs=1e-9)
