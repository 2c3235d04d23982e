"""Delay costs by the equations of Boehme 2014, section 4.2, one wait after the other.

In one thing they follow the reference, not the equations: see `_paying`.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np

from regionpredict.trace.analysis import Analysis
from regionpredict.trace.event_trace import Kind
from regionpredict.trace.wait_classes import CAUSED, PROPAGATING, Wait


class SlowDelays:
    """Costs by (wait state, location, node), and of each waiting point what is explained."""

    def __init__(self, analysis: Analysis) -> None:
        self.points, self.trace = analysis.points, analysis.trace
        self.nodes = analysis.paths.event_node
        self.parent = analysis.paths.parent
        self.ranks = [place.rank for place in self.trace.locations]
        self.segments = [self._segments(at) for at in range(len(self.ranks))]
        self.waiting = [
            int(at) for at in np.flatnonzero(self.points.wait > 0) if self.points.cause[at] >= 0
        ]
        self.pairs = {waiter: self._pair(waiter) for waiter in self.waiting}
        self.paying = {waiter: self._paying(waiter) for waiter in self.waiting}
        self.short: dict[tuple[int, int, int], float] = defaultdict(float)
        self.long: dict[tuple[int, int, int], float] = defaultdict(float)
        self.explained: dict[int, float] = {}
        self.indirect: dict[int, float] = {}
        for waiter, (_, _, delta, waited, direct) in self.pairs.items():
            kind = int(self.points.kind[waiter])
            location = int(self.points.location[self.points.cause[waiter]])
            total = sum(delta.values()) + waited
            self.explained[waiter] = direct * total
            self.indirect[waiter] = direct * waited
            for node, excess in delta.items():
                self.short[kind, location, node] += direct * excess
                for wait in CAUSED:
                    cost = self.propagation(int(wait), waiter) / total if total else 0.0
                    self.long[int(wait), location, node] += cost * excess

        self.propagation_limit = {
            waiter: self._most(waiter, PROPAGATING) for waiter in self.waiting
        }
        messages = (Wait.LATE_SENDER, Wait.LATE_RECEIVER)
        self.by_messages = {waiter: self._most(waiter, messages) for waiter in self.waiting}

    def _segments(self, location: int) -> list[tuple[int, int, int]]:
        """(row of the event that ends it, node, ticks)."""
        found, stack, last = [], [], 0
        for row in range(int(self.trace.starts[location]), int(self.trace.starts[location + 1])):
            time = int(self.trace.time[row])
            if self.trace.kind[row] == Kind.ENTER:
                if stack:
                    found.append((row, stack[-1], time - last))
                stack.append(int(self.nodes[row]))
                last = time
            elif self.trace.kind[row] == Kind.LEAVE:
                found.append((row, stack.pop(), time - last))
                last = time
        return found

    def _before(self, point: int, rank: int) -> int | None:
        location = self.points.location[point]
        for at in range(point - 1, -1, -1):
            if self.points.location[at] != location:
                return None
            group = int(self.points.group[at])
            if self.points.partner[at] == rank or (
                group >= 0 and rank in self.points.groups[group]
            ):
                return at
        return None

    def _times(self, before: int | None, point: int) -> dict[int, int]:
        location = int(self.points.location[point])
        begin = -1 if before is None else int(self.points.event[before])
        end = int(self.points.event[point])
        times: dict[int, int] = defaultdict(int)
        for row, node, ticks in self.segments[location]:
            if begin <= row < end:
                times[node] += ticks
        for at in self._between(before, point):
            if self.points.wait[at] > 0:
                times[int(self.points.node[at])] -= int(self.points.wait[at])
        times = defaultdict(int, {node: max(ticks, 0) for node, ticks in times.items()})
        if before is not None:
            node = int(self.points.node[before])
            left = times[node] - int(self.points.total[before] - self.points.completion[before])
            times[node] = max(left, 0)
        return times

    def _between(self, before: int | None, point: int) -> list[int]:
        location = self.points.location[point]
        first = -1 if before is None else before
        return [at for at in range(first + 1, point) if self.points.location[at] == location]

    def _pair(self, waiter: int):
        cause = int(self.points.cause[waiter])
        mine = self._before(waiter, self.ranks[int(self.points.location[cause])])
        theirs = self._before(cause, self.ranks[int(self.points.location[waiter])])
        late, early = self._times(theirs, cause), self._times(mine, waiter)
        delta = {
            node: ticks - early.get(node, 0)
            for node, ticks in late.items()
            if ticks > early.get(node, 0)
        }
        waited = sum(int(self.points.wait[at]) for at in self._between(theirs, cause))
        total = sum(delta.values()) + waited
        direct = float(self.points.wait[waiter]) / total if total else 0.0
        if self.points.kind[waiter] in (Wait.LATE_SENDER, Wait.LATE_RECEIVER):
            direct = min(direct, 1.0)
        return cause, theirs, delta, waited, direct

    def _paying(self, waiter: int) -> list[int]:
        """The late side's points whose waits hand on what the waiter costs.

        In a collective operation the reference goes over them in order, and counts the ranks met
        last at one point in only from the next such point on; those met first, at once.
        """
        cause = int(self.points.cause[waiter])
        theirs = self._before(cause, self.ranks[int(self.points.location[waiter])])
        if self.points.members[cause] < 0:
            return self._between(theirs, cause)
        members = self.points.groups[self.points.members[cause]].tolist()
        own = self.ranks[int(self.points.location[cause])]
        met = {self._before(cause, rank) for rank in members if rank != own}
        met = sorted(-1 if point is None else point for point in met)
        last = -1 if theirs is None else theirs
        if last == met[0]:
            return self._between(theirs, cause)
        later = [point for point in met if point > last]
        return [point for point in self._between(theirs, cause) if later and point >= later[0]]

    @cache  # noqa: B019
    def propagation(self, wait: int, point: int) -> float:
        """The propagation cost of a waiting point, as far as it ends in waits of that kind."""
        cost = 0.0
        for waiter, (_, _, delta, waited, direct) in self.pairs.items():
            if point not in self.paying[waiter]:
                continue
            total = sum(delta.values()) + waited
            if not total:
                continue
            share = direct if self.points.kind[waiter] == wait else 0.0
            share += self.propagation(wait, waiter) / total
            cost += share * float(self.points.wait[point])
        return cost

    def _most(self, point: int, handing_on: tuple[Wait, ...]) -> float:
        shares = [
            direct
            for waiter, (cause, theirs, _, _, direct) in self.pairs.items()
            if self.points.kind[waiter] in handing_on and point in self._between(theirs, cause)
        ]
        return min(max(shares, default=0.0), 1.0) * float(self.points.wait[point])
