"""Distinct cache lines that the threads of one cache touch together, an array at a time.

The threads of a team stand a piece apart along the parallel loop: to a reference that moves with
it they are one more level of its lattice, so that neighbours that share a line count it once, and
data that all of them read is there once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar, cast

from regionpredict.analysis.groups import LINE, Group, Nest, NumericLoop
from regionpredict.analysis.groups_lines import lattice_lines

Env = Mapping[str, float]
Level = tuple[float, float]  # (bytes a step, steps)


class Lines(NamedTuple):
    """Cache lines of one array: `touched` in all, `written` of them."""

    touched: float
    written: float

    def times(self, factor: float) -> Lines:
        """The lines of `factor` executions."""
        return Lines(self.touched * factor, self.written * factor)

    def plus(self, other: Lines) -> Lines:
        """The sum."""
        return Lines(self.touched + other.touched, self.written + other.written)


Volume = dict[str, Lines]  # by array


class TeamLevel(NamedTuple):
    """Threads along one parallel loop: `threads` of them, `apart` units of its variable."""

    variable: str
    apart: float
    threads: float


class Range(NamedTuple):
    """A loop's variable over its active outer loops: mean trips and the whole extent."""

    trips: float
    extent: float  # steps between the smallest and the largest value, plus one
    depends: frozenset[str]
    step: int
    first: float  # the variable at the first iteration of all loops around


class _Part(NamedTuple):
    """The lines of one group and where one thread's lie: bytes from the array's begin.

    `team` are the levels of the threads, each (bytes apart, threads).
    """

    touched: float
    written: float
    low: float
    high: float
    team: tuple[Level, ...]
    levels: tuple[Level, ...]
    offsets: tuple[float, ...]
    origin: float  # the address of the first step, offsets left out
    slanted: bool = False  # a triangle: one step's range depends on another's place
    strides: tuple[float, ...] = ()  # of the levels with several steps, the widest first


def team_of(nest: Nest, threads: float) -> tuple[TeamLevel, ...]:
    """How `threads` neighbours stand along the parallel loops, whose pieces have been set."""
    left = threads
    found = []
    for loop in reversed(nest.parallel):
        if loop.chunk is None:
            continue
        along = min(left, max(1.0, -(-loop.trips({}) // loop.chunk)))
        if along > 1:
            found.append(TeamLevel(loop.variable, loop.chunk * loop.step, along))
            left /= along
    return tuple(found)


_Memo = TypeVar("_Memo")


def shared_memo(nest: Nest, name: str, empty: _Memo) -> _Memo:
    """The nest's memo of that name."""
    return cast(_Memo, nest.memo.setdefault(name, empty))


class TeamFootprints:
    """Footprints of the `threads` neighbouring threads that share a cache."""

    def __init__(self, nest: Nest, threads: float) -> None:
        self.nest = nest
        self.threads = threads
        self.team = team_of(nest, threads)
        # What teams whose threads are far apart touch in inner loops is the same for all of them.
        self.key = (threads, len(self.team) if self._far() else self.team)
        self._chunks = tuple(loop.chunk for loop in nest.parallel)
        self._groups = shared_memo(nest, "groups", dict[int, list[Group]]())
        self._known = shared_memo(nest, "footprints", dict[tuple[object, ...], Volume]())
        self._still = shared_memo(nest, "ranges", dict[tuple[int, ...], dict[str, Range]]())
        self._joins = shared_memo(nest, "joins", dict[tuple[int, ...], list[Group]]())

    def _far(self) -> bool:
        """Whether no two threads can meet in a line as long as each stays in its iteration."""
        moving = {group.array for group in self.nest.groups() if self._moves(group)}
        chains: dict[int, Mapping[str, Range]] = {}
        for group in self.nest.groups():
            if group.irregular or group.private or group.array not in moving:
                continue
            if not self._moves(group):
                return False
            inner = group.loops[-1]
            ranges = chains.get(id(inner))
            if ranges is None:
                ranges = chains[id(inner)] = loop_ranges(group.loops, {})
            for team in self.team:
                apart = abs(group.slopes.get(team.variable, 0.0) * team.apart)
                reach = LINE + group.element + 2 * (group.offsets[-1] - group.offsets[0])
                for name, slope in group.slopes.items():
                    stride = abs(slope * ranges[name].step)
                    if name != team.variable and stride < apart:
                        reach += stride * (ranges[name].extent - 1)
                if apart <= reach:
                    return False
        return True

    def _moves(self, group: Group) -> bool:
        return any(group.slopes.get(team.variable) for team in self.team)

    def groups_below(self, loop: NumericLoop) -> list[Group]:
        """The groups inside a loop, at any depth."""
        found = self._groups.get(id(loop))
        if found is None:
            found = list(loop.groups)
            for child in loop.children:
                found += self.groups_below(child)
            self._groups[id(loop)] = found
        return found

    def footprint(
        self,
        loops: Sequence[NumericLoop],
        env: Env,
        groups: Sequence[Group],
        *,
        apart: bool = False,
    ) -> Volume:
        """Distinct lines an array that `groups` touch while all of `loops` and below run once.

        Threads that drift apart in a triangle touch much the same lines, and neighbours the same
        at the edges of their pieces, but at other times: `apart` counts them for each thread.
        """
        active = [id(loop) for loop in loops]
        parts: list[object] = [loop.part for loop in loops]
        if loops and loops[0].parallel:
            parts += self._chunks
        asked = (self.key, *active, *parts, tuple(map(id, groups)), *env.values(), apart)
        known = self._known.get(asked)
        if known is None:
            known = self._known[asked] = self._count(frozenset(active), env, groups, apart)
        return known

    def bytes(self, loops: Sequence[NumericLoop], env: Env, groups: Sequence[Group]) -> float:
        """The size of that footprint."""
        return LINE * sum(lines.touched for lines in self.footprint(loops, env, groups).values())

    def _count(
        self, active: frozenset[int], env: Env, groups: Sequence[Group], apart: bool
    ) -> Volume:
        by_array: dict[str, list[_Part]] = {}
        ranges: dict[tuple[int, ...], dict[str, Range]] = {}
        for group in self._join(groups):
            chain = _active_chain(group, active)
            key = tuple(map(id, chain))
            if key not in ranges:
                ranges[key] = self._ranges_of(chain, key, env)
            found = by_array.setdefault(group.array, [])
            for part in _rows_apart(group, ranges[key]):
                one = self._part(part, ranges[key], env, apart)
                if one is not None:
                    found.append(one)
        return {array: _union(parts) for array, parts in by_array.items() if parts}

    def _ranges_of(
        self, chain: Sequence[NumericLoop], key: tuple[int, ...], env: Env
    ) -> dict[str, Range]:
        """The loops' ranges; where nothing around them changes them, worked out once."""
        if any(one.depends or one.chunk is not None or one.part is not None for one in chain):
            return loop_ranges(chain, env)
        found = self._still.get(key)
        if found is None:
            found = self._still[key] = loop_ranges(chain, env)
        return found

    def _join(self, groups: Sequence[Group]) -> list[Group]:
        key = tuple(map(id, groups))
        found = self._joins.get(key)
        if found is None:
            found = self._joins[key] = _joined(groups)
        return found

    def _part(
        self, group: Group, ranges: Mapping[str, Range], env: Env, apart: bool
    ) -> _Part | None:  # fmt: skip
        if group.irregular:
            return self._spread(group, ranges)
        if any(one.trips <= 0 for one in ranges.values()):
            return None
        levels: list[Level] = []
        copies, apart_levels = 1.0, list[Level]()
        origin = low = high = 0.0
        slanted = False
        for name, slope in group.slopes.items():
            one = ranges.get(name)
            if one is None:
                origin += slope * env.get(name, 0.0)
                continue
            origin += slope * one.first
            stride = slope * one.step
            moving = one.depends and not one.depends.isdisjoint(group.slopes)
            slanted = slanted or bool(moving)
            levels.append((stride, one.trips if moving else one.extent))
            if stride > 0:
                high += stride * (one.extent - 1)
            else:
                low += stride * (one.extent - 1)
        own = tuple(levels)
        if group.private:
            copies = self.threads
        elif group.drifts:
            if apart or not group.drifts <= ranges.keys():
                copies = self.threads
        else:
            for team in self.team:
                slope = group.slopes.get(team.variable, 0.0)
                if not slope:
                    continue
                if apart and team.variable in ranges:
                    copies *= team.threads
                else:
                    levels.append((slope * team.apart, team.threads))
                apart_levels.append((slope * team.apart, team.threads))
        touched = copies * lattice_lines(levels, group.offsets, group.element)
        written = touched if group.written == group.offsets else 0.0
        if group.written and not written:
            written = copies * lattice_lines(levels, group.written, group.element)
        return _Part(
            touched, written, origin + low + group.offsets[0],
            origin + high + group.offsets[-1] + group.element, tuple(apart_levels), own,
            group.offsets, origin, slanted,
            tuple(sorted([abs(s) for s, steps in own if steps > 1], reverse=True)),
        )  # fmt: skip

    def _spread(self, group: Group, ranges: Mapping[str, Range]) -> _Part:
        """Random accesses: lines hit at least once."""
        number = 1.0 if group.private else self.threads
        for one in ranges.values():
            number *= max(0.0, one.trips)
        lines = max(1.0, group.extent / LINE)
        touched = lines * -math.expm1(-number / lines) * (self.threads if group.private else 1.0)
        written = touched if group.written else 0.0
        return _Part(touched, written, 0.0, group.extent, (), (), (0.0,), 0.0)


def _active_chain(group: Group, active: frozenset[int]) -> list[NumericLoop]:
    for position, loop in enumerate(group.loops):
        if id(loop) in active:
            return list(group.loops[position:])
    return []


def _joined(groups: Sequence[Group]) -> list[Group]:
    """Groups of the same addresses as one: `c[i][j]` before, in and after the loop over k, or
    in two loops over the same range.
    """
    found: dict[tuple[object, ...], Group] = {}
    for group in groups:
        moving = tuple(
            (group.slopes[one.variable], depth, one.step, repr(one.first), repr(one.limit))
            for depth, one in enumerate(group.loops)
            if one.variable in group.slopes
        )
        key = (group.array, group.private, moving)
        other = found.get(key) if not group.irregular else None
        if other is None:
            found[(*key, id(group)) if group.irregular else key] = group
            continue
        shorter = min(other, group, key=lambda one: len(one.loops))
        found[key] = replace(
            shorter,
            offsets=tuple(sorted({*other.offsets, *group.offsets})),
            written=tuple(sorted({*other.written, *group.written})),
        )
    return list(found.values())


def _rows_apart(group: Group, ranges: Mapping[str, Range]) -> list[Group]:
    """The group in parts whose addresses do not interleave: `y[k-1][i]` and `y[k][i]`."""
    if len(group.offsets) < 2:
        return [group]
    moving = [name for name in group.slopes if name in ranges]
    reach = sum(abs(group.slopes[name]) * max(0.0, ranges[name].extent - 1) for name in moving)
    parts: list[list[float]] = [[group.offsets[0]]]
    for offset in group.offsets[1:]:
        if offset - parts[-1][-1] > reach + LINE:
            parts.append([])
        parts[-1].append(offset)
    if len(parts) == 1:
        return [group]
    return [
        replace(group, offsets=tuple(part), written=tuple(w for w in group.written if w in part))
        for part in parts
    ]


def loop_ranges(chain: Sequence[NumericLoop], env: Env) -> dict[str, Range]:
    """The range of every loop of a chain, outermost first, those around it at `env`."""
    middle = dict(env)
    first, low, high = middle.copy(), middle.copy(), middle.copy()
    found: dict[str, Range] = {}
    for loop in chain:
        begin, trips = loop.piece(middle)
        start, step = begin, loop.step
        ends = (begin, begin + step * max(0.0, trips - 1))
        extent = trips
        depends = loop.depends & found.keys()
        if depends:
            start, _ = loop.piece(first)
            all_ends = list(ends)
            for at in (low, high):
                one, number = loop.piece(at)
                all_ends += [one, one + step * max(0.0, number - 1)]
            ends = (min(all_ends), max(all_ends))
            extent = max(trips, (ends[1] - ends[0]) / abs(step) + 1)
        variable = loop.variable
        found[variable] = Range(trips, extent, depends, step, start)
        first[variable] = start
        middle[variable] = begin + step * max(0.0, trips - 1) / 2
        low[variable], high[variable] = ends if ends[0] <= ends[1] else ends[::-1]
    return found


def _union(parts: list[_Part]) -> Lines:
    """Lines of several groups of one array: added, less what overlaps by position and density."""
    if len(parts) == 1:
        return Lines(parts[0].touched, parts[0].written)
    kept: list[_Part] = []
    touched = written = 0.0
    for part in sorted(parts, key=lambda one: -one.touched):
        extra, fresh = part.touched, part.written
        for other in kept:
            share = _covered(part, other)
            extra -= part.touched * share
            fresh -= part.written * share * (1.0 if other.written else 0.0)
        kept.append(part)
        touched += max(0.0, extra)
        written += max(0.0, fresh)
    return Lines(touched, min(written, touched))


def _covered(part: _Part, other: _Part) -> float:
    """The share of a part's lines that another has touched."""
    low, high, other_low, other_high = part.low, part.high, other.low, other.high
    touched = other.touched
    if part.team == other.team:
        for _, threads in other.team:
            touched /= threads
    else:
        reach, other_reach = _reach(part.team) / 2, _reach(other.team) / 2
        low, high = low - reach, high + reach
        other_low, other_high = other_low - other_reach, other_high + other_reach
    overlap = min(high, other_high) - max(low, other_low)
    if overlap <= 0:
        return 0.0
    if part.team == other.team and _holds(other, part):
        return 1.0
    density = 1.0
    if part.team != other.team or not _in_step(part, other):
        density = min(1.0, touched * LINE / max(LINE, other_high - other_low))
    return min(1.0, overlap / max(1.0, high - low)) * density


def _in_step(part: _Part, other: _Part) -> bool:
    """Whether two parts walk over the same places: `b[k][j]` and `b[i][j]`, j standing still."""
    if part.slanted or other.slanted:
        return False
    if part.strides != other.strides:
        return False
    ahead = part.origin + part.offsets[0] - (other.origin + other.offsets[0])
    for stride in part.strides:
        ahead = math.remainder(ahead, stride)
    return abs(ahead) <= LINE / 2


def _reach(team: tuple[Level, ...]) -> float:
    """Bytes between the first and the last thread."""
    return sum(abs(apart) * (threads - 1) for apart, threads in team)


def _holds(other: _Part, part: _Part) -> bool:
    """Whether every step of a part lies in a run of the other: `a[j][0]` beside `a[j][i]`."""
    rest = list(other.levels)
    for level in part.levels:
        if level not in rest:
            return False
        rest.remove(level)
    reach = sum(abs(stride) * (steps - 1) for stride, steps in rest)
    span = float(LINE)
    for stride, steps in sorted((abs(stride), steps) for stride, steps in rest):
        if stride > span:
            return False
        span += stride * (steps - 1)
    ahead = part.origin + part.offsets[0] - (other.origin + other.offsets[0])
    down = sum(min(0.0, stride * (steps - 1)) for stride, steps in rest)
    beyond = part.offsets[-1] - part.offsets[0] - (other.offsets[-1] - other.offsets[0])
    return down - LINE / 2 <= ahead and ahead + beyond <= down + reach + LINE / 2
