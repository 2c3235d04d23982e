"""Which loop carries the reuse of an array in a cache of a given size: layer conditions.

From the innermost loop outward: as long as what one iteration of a loop touches fits the cache,
whatever the loop touches again is found there, and the whole loop misses each distinct line once.
From the first loop on where it does not fit, its iterations miss what their bodies miss (Stengel
et al. 2015, sec. 2.4, layer conditions; the working sets of loop levels of Ferrante, Sarkar and
Thrash 1991). Data that all threads share is counted once in a cache that they share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from regionpredict.analysis.groups import LINE, Group, Nest, NumericLoop
from regionpredict.analysis.groups_lines import lattice_lines

Env = dict[str, float]
_NODES = ((0.1127016654, 0.2777777778), (0.5, 0.4444444444), (0.8872983346, 0.2777777778))
"""Gauss-Legendre points and weights on [0, 1]: exact for polynomials up to degree five."""


class Lines(NamedTuple):
    """Cache lines of one array: `touched` in all, `written` of them; `private` to a thread."""

    touched: float
    written: float

    def times(self, factor: float) -> Lines:
        """The lines of `factor` executions."""
        return Lines(self.touched * factor, self.written * factor)

    def plus(self, other: Lines) -> Lines:
        """The sum."""
        return Lines(self.touched + other.touched, self.written + other.written)


Key = tuple[str, bool]  # (array, private)
Volume = dict[Key, Lines]


class Carrier(NamedTuple):
    """The loop along which an array's reuse hits: `loop` (None: none), `bytes` of an iteration."""

    loop: NumericLoop | None
    window_bytes: float


@dataclass(frozen=True, slots=True)
class Misses:
    """Lines that one thread misses in a cache, an array; shared arrays counted for all threads.

    `carriers` name, an array, the outermost loop whose reuse the cache holds.
    """

    volume: Volume
    carriers: dict[Key, Carrier]


class Footprints:
    """Lines and misses of one thread's part of a nest."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self._groups: dict[int, list[Group]] = {}
        self._footprints: dict[tuple[object, ...], Volume] = {}  # the same for every cache
        self._joins: dict[tuple[int, ...], list[Group]] = {}
        self._held: set[int] = set()  # groups that a loop further out has counted already

    # -- footprints -----------------------------------------------------------------------------

    def groups_below(self, loop: NumericLoop) -> list[Group]:
        """The groups inside a loop, at any depth."""
        found = self._groups.get(id(loop))
        if found is None:
            found = list(loop.groups)
            for child in loop.children:
                found += self.groups_below(child)
            self._groups[id(loop)] = found
        return found

    def footprint(self, loops: Sequence[NumericLoop], env: Env, groups: Sequence[Group]) -> Volume:
        """Distinct lines an array that `groups` touch while all of `loops` and below run once."""
        active = {id(loop) for loop in loops}
        asked = (frozenset(active), tuple(id(g) for g in groups), tuple(env.values()))
        known = self._footprints.get(asked)
        if known is not None:
            return dict(known)
        by_key: dict[Key, list[tuple[Group, float, float, float, float]]] = {}
        ranges: dict[tuple[int, ...], dict[str, _Range]] = {}
        for group in self._join(groups):
            chain = [
                loop
                for position, loop in enumerate(group.loops)
                if any(id(above) in active for above in group.loops[: position + 1])
            ]
            key = tuple(id(loop) for loop in chain)
            if key not in ranges:
                ranges[key] = _ranges(chain, env)
            found = by_key.setdefault((group.array, group.private), [])
            for part in _rows_apart(group, ranges[key]):
                found.append((part, *_group_lines(part, chain, ranges[key], env)))
        made = {key: _union(found) for key, found in by_key.items()}
        self._footprints[asked] = made
        return dict(made)

    def _join(self, groups: Sequence[Group]) -> list[Group]:
        key = tuple(id(group) for group in groups)
        found = self._joins.get(key)
        if found is None:
            found = self._joins[key] = _joined(groups)
        return found

    # -- misses ---------------------------------------------------------------------------------

    def misses(self, capacity: float, sharers: float) -> Misses:
        """What one thread's part of the region misses in a cache of `capacity` bytes.

        `sharers` threads work in the cache at once: each brings its private lines, the shared
        ones are there once.
        """
        carriers: dict[Key, Carrier] = {}
        volume = self._loop(self.nest.root, {}, capacity, sharers, carriers)
        for key in [k for k in volume if not k[1] and self._only_gathered(k[0])]:
            del volume[key]
        for group in self.groups_below(self.nest.root):
            if group.irregular:
                key = (group.array, True)
                lines = self._gathered(group, capacity, sharers)
                volume[key] = volume[key].plus(lines) if key in volume else lines
        return Misses(volume, carriers)

    def _gathered(self, group: Group, capacity: float, sharers: float) -> Lines:
        """Misses of random accesses: each with P = 1 - C/WS (Chatzopoulos 2012, eq. 4.2)."""
        number = 1.0
        for one in _ranges(group.loops, {}).values():
            number *= max(0.0, one.trips)
        lines = max(1.0, group.extent / LINE)
        first = lines * -math.expm1(-number * sharers / lines) / sharers
        missing = max(first, number * max(0.0, 1.0 - capacity / max(1.0, group.extent)))
        return Lines(missing, missing if group.written else 0.0)

    def _only_gathered(self, array: str) -> bool:
        groups = self.groups_below(self.nest.root)
        return all(group.irregular for group in groups if group.array == array)

    def held(self, sharers: float) -> float:
        """Bytes that `sharers` threads touch in the whole region."""
        root = self.nest.root
        return _bytes(self.footprint((root,), {}, self.groups_below(root)), sharers)

    def window(self, loop: NumericLoop, env: Env, sharers: float) -> float:
        """Bytes that all sharers touch in one iteration of `loop`."""
        groups = self.groups_below(loop)
        inner = self.footprint(loop.children, env, groups)
        return _bytes(inner, sharers)

    def _loop(
        self, loop: NumericLoop, env: Env, capacity: float, sharers: float,
        carriers: dict[Key, Carrier],
    ) -> Volume:  # fmt: skip
        trips = self._trips(loop, env)
        if trips <= 0:
            return {}
        points: tuple[tuple[float, float], ...] = ((0.5, 1.0),)
        if loop.variable in loop.below() and trips > 1:
            # Threads stand at places far apart: their mean moves over a part of the range only.
            spread = 1.0 / sharers if loop.parallel else 1.0
            points = tuple((0.5 + (place - 0.5) * spread, weight) for place, weight in _NODES)
        whole: Volume | None = None
        total: Volume = {}
        for place, weight in points:
            inside = {**env, loop.variable: self._value(loop, env, place)}
            window = self.window(loop, inside, sharers)
            if window <= capacity:
                if whole is None:
                    whole = self.footprint((loop,), env, self._fresh(self.groups_below(loop)))
                    if loop.parallel:
                        whole = self._shared_by_drift(loop, env, whole, sharers)
                part = {key: lines.times(weight) for key, lines in whole.items()}
                if place == 0.5:
                    for key in whole:
                        carriers[key] = Carrier(loop, window)
            else:
                still = self._fresh(self._standing(loop))
                self._held |= {id(group) for group in still}
                body = self._body(loop, inside, capacity, sharers, carriers)
                self._held -= {id(group) for group in still}
                # Threads in step read a shared line at about the same time: it comes once for all.
                part = {key: lines.times(weight * trips) for key, lines in body.items()}
                if still:
                    for key, lines in self.footprint((loop,), env, still).items():
                        part[key] = lines.times(weight).plus(part.get(key, Lines(0.0, 0.0)))
            for key, lines in part.items():
                total[key] = total[key].plus(lines) if key in total else lines
        return total

    def _body(
        self, loop: NumericLoop, env: Env, capacity: float, sharers: float,
        carriers: dict[Key, Carrier],
    ) -> Volume:  # fmt: skip
        """Misses of an iteration that does not fit: its inner loops, neighbours that fit joined."""
        total: Volume = {}

        def add(volume: Volume) -> None:
            for key, lines in volume.items():
                total[key] = total[key].plus(lines) if key in total else lines

        waiting = list(loop.children)
        if loop.groups:
            add(self.footprint((), env, self._fresh(loop.groups)))
        while waiting:
            cluster = [waiting.pop(0)]
            while waiting:
                joined = [*cluster, waiting[0]]
                groups = [g for one in joined for g in self.groups_below(one)]
                if _bytes(self.footprint(joined, env, groups), sharers) > capacity:
                    break
                cluster.append(waiting.pop(0))
            if len(cluster) > 1:
                groups = [g for one in cluster for g in self.groups_below(one)]
                add(self.footprint(cluster, env, self._fresh(groups)))
            else:
                add(self._loop(cluster[0], env, capacity, sharers, carriers))
        return total

    def _fresh(self, groups: Sequence[Group]) -> list[Group]:
        return [group for group in groups if id(group) not in self._held]

    def _standing(self, loop: NumericLoop) -> list[Group]:
        """Groups that stand still in everything inside `loop`: `c[i][j]` in the loop over k.

        Touched in the last inner iteration and again in the first of the next, their line is
        still there however much the inner loops bring in.
        """
        if len(loop.children) != 1:
            return []
        inner = self.groups_below(loop.children[0])
        found = []
        for group in inner:
            below = group.loops[group.loops.index(loop) + 1 :]
            if not group.irregular and not any(group.slopes.get(one.variable) for one in below):
                found.append(group)
        for group in loop.groups:
            if any(g.array == group.array and g.slopes == group.slopes for g in found):
                found.append(group)
        return found

    def _shared_by_drift(
        self, loop: NumericLoop, env: Env, whole: Volume, sharers: float
    ) -> Volume:
        """The pieces of drifting groups overlap: together they touch what one thread touches."""
        groups = self._fresh([g for g in self.groups_below(loop) if g.drifting])
        for key, lines in self.footprint((loop,), env, groups).items():
            gone = lines.times(-(1.0 - 1.0 / sharers))
            whole[key] = whole[key].plus(gone)
        return whole

    def _trips(self, loop: NumericLoop, env: Env) -> float:
        return loop.trips(env) if loop.chunk is None else min(loop.chunk, loop.trips(env))

    @staticmethod
    def _value(loop: NumericLoop, env: Env, place: float) -> float:
        return loop.begin(env) + loop.step * max(0.0, loop.trips(env) - 1) * place


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


def _rows_apart(group: Group, ranges: Mapping[str, _Range]) -> list[Group]:
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


class _Range(NamedTuple):
    """A loop's variable over its active outer loops: mean trips and the whole extent."""

    trips: float
    extent: float  # steps between the smallest and the largest value, plus one
    depends: frozenset[str]


def _ranges(chain: Sequence[NumericLoop], env: Env) -> dict[str, _Range]:
    middle, low, high = dict(env), dict(env), dict(env)
    found: dict[str, _Range] = {}
    active: set[str] = set()
    for loop in chain:
        trips = loop.trips(middle)
        begin = loop.begin(middle)
        depends = loop.depends & active
        if loop.chunk is not None and loop.chunk < trips:
            # The middle piece stands for all threads' pieces.
            begin += loop.step * (trips - loop.chunk) / 2
            trips = loop.chunk
            extent = trips
            ends = (begin, begin + loop.step * (trips - 1))
        elif depends:
            firsts = (loop.begin(low), loop.begin(high))
            lasts = [
                loop.begin(at) + loop.step * max(0.0, loop.trips(at) - 1) for at in (low, high)
            ]
            ends = (min(*firsts, *lasts), max(*firsts, *lasts))
            extent = max(trips, (ends[1] - ends[0]) / abs(loop.step) + 1)
        else:
            extent = trips
            ends = (begin, begin + loop.step * max(0.0, trips - 1))
        found[loop.variable] = _Range(trips, extent, depends)
        middle[loop.variable] = begin + loop.step * max(0.0, trips - 1) / 2
        low[loop.variable], high[loop.variable] = min(ends), max(ends)
        active.add(loop.variable)
    return found


def _group_lines(
    group: Group, chain: Sequence[NumericLoop], ranges: dict[str, _Range], env: Env
) -> tuple[float, float, float, float]:
    """(touched lines, written lines, lowest address, highest address) of one group."""
    if group.irregular:
        number = 1.0
        for loop in chain:
            number *= max(0.0, ranges[loop.variable].trips)
        lines = max(1.0, group.extent / LINE)
        touched = lines * -math.expm1(-number / lines)
        return touched, touched if group.written else 0.0, 0.0, group.extent
    levels = []
    base = 0.0
    low = high = 0.0
    names = {loop.variable for loop in chain}
    for name, slope in group.slopes.items():
        one = ranges.get(name) if name in names else None
        if one is None:
            base += slope * env.get(name, 0.0)
            continue
        step = next(loop.step for loop in chain if loop.variable == name)
        steps = one.trips if any(v in group.slopes for v in one.depends) else one.extent
        if steps <= 0:
            return 0.0, 0.0, 0.0, 0.0
        levels.append((slope * step, steps))
        reach = slope * step * (steps - 1)
        low, high = low + min(0.0, reach), high + max(0.0, reach)
    if any(ranges[loop.variable].trips <= 0 for loop in chain):
        return 0.0, 0.0, 0.0, 0.0
    touched = lattice_lines(levels, group.offsets, group.element)
    written = touched if group.written == group.offsets else 0.0
    if group.written and not written:
        written = lattice_lines(levels, group.written, group.element)
    base += _begin(group, chain, env)
    return touched, written, base + low + group.offsets[0], base + high + group.offsets[-1]


def _begin(group: Group, chain: Sequence[NumericLoop], env: Env) -> float:
    """Bytes from the array's begin to the first address, offsets left out."""
    at = dict(env)
    total = 0.0
    for loop in chain:
        begin = loop.begin(at)
        if loop.chunk is not None and loop.chunk < loop.trips(at):
            begin += loop.step * (loop.trips(at) - loop.chunk) / 2
        at[loop.variable] = begin
        total += group.slopes.get(loop.variable, 0.0) * begin
    return total


def _union(found: list[tuple[Group, float, float, float, float]]) -> Lines:
    """Lines of several groups of one array: added, less what overlaps by position and density."""
    if len(found) == 1:
        return Lines(found[0][1], found[0][2])
    kept: list[list[float]] = []
    for _, touched, written, low, high in sorted(found, key=lambda item: -item[1]):
        extra, fresh = touched, written
        for other in kept:
            overlap = min(high, other[3]) - max(low, other[2]) + 1
            length = max(1.0, high - low + 1)
            if overlap <= 0:
                continue
            size = max(LINE, other[3] - other[2] + 1)
            density = min(1.0, other[0] * LINE / size)
            share = min(1.0, overlap / length) * density
            extra -= touched * share
            fresh -= written * share * (1.0 if other[1] else 0.0)
        kept.append([max(0.0, extra), max(0.0, fresh), low, high])
    return Lines(sum(one[0] for one in kept), sum(one[1] for one in kept))


def _bytes(volume: Volume, sharers: float) -> float:
    return LINE * sum(
        lines.touched * (sharers if private else 1.0) for (_, private), lines in volume.items()
    )
