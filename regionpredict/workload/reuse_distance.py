"""The number of distinct cache lines between two uses of a line, for each reference.

The distances are those of an LRU stack. A larger cache hits, and a smaller one misses (Mattson,
Gecsei, Slutz and Traiger 1970; Ding and Zhong 2003). One thread runs the whole region, and caches
are empty at the start. Each loop carries the reuse of lines that consecutive iterations touch.
Their number is the sum over its iterations minus the lines of the whole loop. The distance is the
footprint of one iteration, or of several if another reference used the line earlier (layer
conditions: Stengel et al. 2015, sec. 2.4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

from regionpredict.workload.constants import REUSE_SAMPLES, ROUNDING
from regionpredict.workload.footprint_tables import FootprintTables
from regionpredict.workload.loop_nest import (
    Affine,
    LoopHeader,
    LoopNest,
    NestLoop,
    ReferenceGroup,
    with_contents,
)
from regionpredict.workload.team_footprint import TeamFootprints
from regionpredict.workload.thread_nest import undivided

_Env = dict[str, float]
_Place = tuple[ReferenceGroup, float]
"""A reference, given by its group and its offset in the group."""
_MIDDLE = 1 / 2


class ReuseShare(NamedTuple):
    """The `share` of a reference's executions with a distance of `lines` other lines since the last
    use of their line.

    `lines` is None for the first access to a line. `carried_by` is the variable of the loop whose
    previous iteration used the line. It is None if the line was used in the same iteration of all
    loops. `spread` says that the distances are random and uniform from 0 to `lines`.
    """

    share: float
    lines: float | None
    carried_by: str | None
    spread: bool = False

    def hits(self, lines: float) -> float:
        """The share of the reference's executions that hit in a cache of this number of lines."""
        if self.lines is None:
            return 0.0
        if self.spread:
            return self.share * min(1.0, lines / max(1.0, self.lines))
        return self.share if self.lines < lines else 0.0


class ReferenceReuse(NamedTuple):
    """A reference: its number in the region, its executions, and its reuse, nearest first."""

    number: int
    executions: float
    uses: tuple[ReuseShare, ...]

    def hits(self, lines: float) -> float:
        """The share of its executions that hit in a cache of this number of lines."""
        return sum(use.hits(lines) for use in self.uses)


def reuse_distances(
    nest: LoopNest, line_bytes: int, *, samples: int = int(REUSE_SAMPLES.value)
) -> tuple[ReferenceReuse, ...]:
    """The reuse of every reference of a nest, in source order.

    If inner loops grow or shrink, a loop is evaluated at several positions.
    """
    counter = _ReuseCounter(nest, line_bytes, samples)
    return tuple(counter.reuse(reference) for reference in sorted(counter.references, key=_number))


def misses(reuses: Sequence[ReferenceReuse], lines: float) -> float:
    """The references of the whole region that miss in a cache of this number of lines."""
    return sum(reuse.executions * (1.0 - reuse.hits(lines)) for reuse in reuses)


@dataclass(frozen=True, slots=True)
class _Reference:
    """A reference with the `path` of its loops. An irregular reference is a separate group.

    `alike` is the first group whose references touch the same number of lines.
    """

    number: int
    address: tuple[int, float]  # its group in the nest, and its offset in the group
    group: ReferenceGroup
    alike: ReferenceGroup
    path: tuple[NestLoop, ...]

    @property
    def offset(self) -> float:
        """Bytes from the start of its group."""
        return self.address[1]


def _movement(group: ReferenceGroup) -> tuple[object, ...]:
    """The inputs of the number of lines of one reference in a group, except the offset of the
    reference.

    References with equal numbers of lines may still differ: one number may be an expression in
    the program's names, and the other may not.
    """
    return (
        tuple([loop.index for loop in group.loops]), tuple(group.slopes.items()),
        tuple(map(type, group.slopes.values())), group.element, group.private, group.drifts,
        group.aligned, group.irregular,
    )  # fmt: skip


def _number(reference: _Reference) -> int:
    return reference.number


class _ReuseCounter:
    """Counts the lines of single references with the footprints of one thread."""

    def __init__(self, nest: LoopNest, line_bytes: int, samples: int) -> None:
        self.line_bytes = line_bytes
        self.samples = samples
        self.footprints = TeamFootprints(undivided(nest), 1.0, line_bytes, FootprintTables())
        self.references: list[_Reference] = []
        # Unique numbers for new groups and loops.
        self._numbers = count(len(tuple(nest.groups())) + len(nest.loops))
        self._runs: dict[int, float] = {}  # executions of a loop's body
        self._alike: dict[tuple[object, ...], ReferenceGroup] = {}
        self._iterations: dict[tuple[int, tuple[float, ...]], float] = {}
        self._windows: dict[tuple[int, float, tuple[float, ...]], float] = {}
        self._leading: dict[tuple[int, int], list[_Reference]] = {}
        self._visit(nest.root, ())
        self._by_array: dict[str, list[_Reference]] = {}
        self._latest: dict[int, _Reference] = {}  # the last previous reference to the same address
        latest: dict[tuple[int, float], _Reference] = {}
        for reference in sorted(self.references, key=_number):
            if reference.address in latest:
                self._latest[reference.number] = latest[reference.address]
            else:
                self._by_array.setdefault(reference.group.array, []).append(reference)
            latest[reference.address] = reference

    def _visit(self, loop: NestLoop, around: tuple[NestLoop, ...]) -> None:
        path = (*around, loop)
        for group in loop.groups:
            alike = self._alike.setdefault(_movement(group), group)
            for number, place in zip(group.order, group.places, strict=True):
                own = group
                if group.irregular:
                    own = replace(group, index=next(self._numbers), offsets=(place,))
                self.references.append(_Reference(number, (group.index, place), own, alike, path))
        for child in loop.children:
            self._visit(child, path)

    def reuse(self, reference: _Reference) -> ReferenceReuse:
        """The reuse of one reference."""
        body = reference.path[-1].index
        executions = self._runs.get(body)
        if executions is None:
            executions = self._runs[body] = self._executions(reference.path, 0, {})
        if executions <= 0:
            return ReferenceReuse(reference.number, 0.0, ())
        if reference.group.irregular:
            return ReferenceReuse(
                reference.number, executions, self._random_reuse(reference, executions)
            )
        last = self._latest.get(reference.number)
        if last is not None:
            env: _Env = {}
            for loop in reference.path:
                env = _at(loop, env, _MIDDLE)
            away = self._lines_since(reference, last.number, env)
            return ReferenceReuse(reference.number, executions, (ReuseShare(1.0, away, None),))
        uses: list[ReuseShare] = []
        first = self._run(reference, 0, {}, 1.0, uses)
        uses.append(ReuseShare(first, None, None))
        every = [use._replace(share=use.share / executions) for use in uses]
        return ReferenceReuse(reference.number, executions, _merged_reuse(every))

    def _executions(self, path: Sequence[NestLoop], depth: int, env: _Env) -> float:
        if depth == len(path):
            return 1.0
        loop = path[depth]
        trips = float(loop.trips(env))
        places = self._places(loop)
        inside = [self._executions(path, depth + 1, _at(loop, env, place)) for place in places]
        return trips * sum(inside) / len(places)

    def _places(self, loop: NestLoop) -> Sequence[float]:
        """The positions along a loop (0 to 1) at which it is evaluated. There is one position if
        iterations are equal, and several otherwise.
        """
        number = self.samples if loop.variable in loop.bounds_below else 1
        return [(2 * at + 1) / (2 * number) for at in range(number)]

    def _random_reuse(self, reference: _Reference, executions: float) -> tuple[ReuseShare, ...]:
        """The reuse of random accesses. Except for first accesses, previous accesses are uniformly
        distributed over the lines of the array (Chatzopoulos 2012, eq. 4.2).
        """
        lines = max(1.0, reference.group.extent / self.line_bytes)
        each = executions / float(lines)
        first = -math.expm1(-each) / each
        carrier = reference.path[-1].variable
        return (
            ReuseShare(1.0 - first, lines - 1.0, carrier, spread=True),
            ReuseShare(first, None, None),
        )

    def _run(
        self, reference: _Reference, depth: int, env: _Env, runs: float, uses: list[ReuseShare]
    ) -> float:
        """The first accesses in one execution of the loop at a depth. `uses` receives the reuse in
        `runs` executions of the loop.

        Loops are processed from the innermost outwards.
        """
        loop = reference.path[depth]
        trips = float(loop.trips(env))
        if trips <= 0:
            return 0.0
        places = self._places(loop)
        each = trips / len(places)
        inner = reference.path[depth + 1] if depth + 1 < len(reference.path) else None
        before, ahead = (
            self._preceding_references(reference, depth),
            self._leading_references(reference, depth),
        )
        # If all previous references are in the inner loop, its run gave the remaining ones.
        only_inner = inner is not None and len(before) == len(
            self._leading_references(reference, depth + 1)
        )
        fresh: list[tuple[float, _Env]] = []
        for place in places:
            inside = _at(loop, env, place)
            first = below = 1.0
            if inner is not None:
                first = below = self._run(reference, depth + 1, inside, runs * each, uses)
            if before and not only_inner:
                first = min(below, self._fresh(reference, before, loop.children, inside))
            if below > first:
                between = self._lines_between(reference, before, inner, loop, inside)
                uses.append(ReuseShare((below - first) * each * runs, between, None))
            fresh.append((first * each, inside))
        total = sum(lines for lines, _ in fresh)
        if not total:
            return 0.0
        whole = min(total, self._fresh(reference, ahead, (loop,), env))
        if whole >= total:  # no reuse
            return whole
        alone = self._fresh(reference, [], (loop,), env)
        own = max(0.0, total - max(whole, alone))
        others = total - whole - own
        turns = self._iterations_since(reference, ahead, loop)
        for lines, inside in fresh:
            share = runs * lines / total
            if own > 0:
                away = self._own_distance(reference, depth, inside)
                uses.append(ReuseShare(share * own, away, loop.variable))
            if others > 0:
                away = self._window(loop, inside, turns) - 1.0
                uses.append(ReuseShare(share * others, away, loop.variable))
        return whole

    def _fresh(
        self,
        reference: _Reference,
        before: Sequence[_Reference],
        loops: Sequence[NestLoop],
        env: _Env,
    ) -> float:
        """The lines that the reference adds to those of `before` during one execution of
        `loops`.
        """
        if not before:
            return self._lines_of_one(reference, loops, env)
        own = self._lines([*before, reference], loops, env)
        return max(0.0, own - self._lines(before, loops, env))

    def _lines(
        self, references: Sequence[_Reference], loops: Sequence[NestLoop], env: _Env
    ) -> float:
        """The lines of one array."""
        # In a fixed order, so that results are cached for the next reference.
        places = [(each.group, each.offset) for each in sorted(references, key=_number)]
        return self._touched(loops, env, places)

    def _touched(self, loops: Sequence[NestLoop], env: _Env, places: Sequence[_Place]) -> float:
        volume = self.footprints.footprint(loops, env, self._parts(places))
        return float(sum(lines.touched for lines in volume.values()))

    def _lines_of_one(self, reference: _Reference, loops: Sequence[NestLoop], env: _Env) -> float:
        """The lines of one reference. They do not depend on its offset if its array may start
        anywhere.
        """
        group = reference.alike
        offset = reference.offset if group.aligned else group.offsets[0]
        return self._touched(loops, env, [(group, offset)])

    def _parts(self, places: Sequence[_Place]) -> list[ReferenceGroup]:
        """The references as parts of their groups."""
        parts: dict[int, tuple[ReferenceGroup, set[float]]] = {}
        for group, offset in places:
            parts.setdefault(group.index, (group, set()))[1].add(offset)
        return [
            self.footprints.part(group, tuple(sorted(offsets)))
            for group, offsets in parts.values()
        ]  # fmt: skip

    def _other_references(self, reference: _Reference, depth: int) -> list[_Reference]:
        """The other references to its array inside the loop at a depth."""
        loop = reference.path[depth].index
        return [
            other for other in self._by_array[reference.group.array]
            if other is not reference and not other.group.irregular
            and depth < len(other.path) and other.path[depth].index == loop
        ]  # fmt: skip

    def _preceding_references(self, reference: _Reference, depth: int) -> list[_Reference]:
        """The references before it in one iteration of the loop at a depth."""
        others = self._other_references(reference, depth)
        if depth + 1 == len(reference.path):
            return [other for other in others if other.number < reference.number]
        inner = reference.path[depth + 1].index
        ahead = self._leading_references(reference, depth + 1)
        return ahead + [
            other for other in others
            if other.number < reference.number
            and (len(other.path) <= depth + 1 or other.path[depth + 1].index != inner)
        ]  # fmt: skip

    def _leading_references(self, reference: _Reference, depth: int) -> list[_Reference]:
        """The references that access a line before it while the loop at a depth runs."""
        known = self._leading.get((reference.number, depth))
        if known is None:
            known = self._leading[reference.number, depth] = [
                other for other in self._other_references(reference, depth)
                if self._leads(other, reference, depth)
            ]  # fmt: skip
        return known

    def _leads(self, other: _Reference, reference: _Reference, depth: int) -> bool:
        slopes = reference.group.slopes
        gap = other.offset - reference.offset
        if (
            other.path[-1].index != reference.path[-1].index
            or other.group.slopes != slopes
            or not gap
        ):
            return other.number < reference.number
        moving = [
            slopes[loop.variable] * loop.step
            for loop in reference.path[depth:]
            if slopes.get(loop.variable)
        ]
        if not moving:
            return other.number < reference.number
        near = [stride for stride in moving if abs(stride) <= abs(gap)]
        stride = max(near, key=abs) if near else min(moving, key=abs)
        return gap * stride > 0

    def _iterations_since(
        self, reference: _Reference, ahead: Sequence[_Reference], loop: NestLoop
    ) -> float:
        """The number of iterations since one of the leading references accessed the same line."""
        stride = abs(reference.group.slopes.get(loop.variable, 0.0) * loop.step)
        turns = [1.0]
        if stride:
            gaps = [abs(other.offset - reference.offset) / stride for other in ahead
                    if other.group.slopes == reference.group.slopes]  # fmt: skip
            turns = [max(1.0, gap) for gap in gaps] or turns
        return min(turns)

    def _own_distance(self, reference: _Reference, depth: int, inside: _Env) -> float:
        """The number of other lines between two uses of a line in consecutive iterations of a loop.

        If the line is constant in the inner loops, their last iteration used it.
        """
        loop, env = reference.path[depth], dict(inside)
        for inner in reference.path[depth + 1 :]:
            if reference.group.slopes.get(inner.variable) or len(loop.children) > 1 or loop.groups:
                break
            loop = inner
            env[inner.variable] = inner.middle(env)
        return self._iteration(loop, env) - 1.0

    def _iteration(self, loop: NestLoop, env: _Env) -> float:
        """The lines of all arrays in one iteration of a loop."""
        asked = (loop.index, tuple(env.values()))
        known = self._iterations.get(asked)
        if known is None:
            known = self.footprints.bytes(loop.children, env, loop.groups_below) / self.line_bytes
            self._iterations[asked] = known
        return known

    def _window(self, loop: NestLoop, inside: _Env, turns: float) -> float:
        """The lines of all arrays in this number of iterations of a loop, starting at the position
        in `inside`.
        """
        if turns <= 1:
            return self._iteration(loop, inside)
        asked = (loop.index, turns, tuple(inside.values()))
        known = self._windows.get(asked)
        if known is None:
            some = _shortened(loop, inside[loop.variable], turns, self._numbers)
            known = self.footprints.bytes((some,), inside, some.groups_below) / self.line_bytes
            self._windows[asked] = known
        return known

    def _lines_since(self, reference: _Reference, last: int, env: _Env) -> float:
        """The lines of other arrays between a reference of the same loop and this one."""
        loop = reference.path[-1].index
        between = [
            (other.group, other.offset) for other in self.references
            if last < other.number < reference.number and other.path[-1].index == loop
            and other.group.array != reference.group.array
        ]  # fmt: skip
        return self.footprints.bytes((), env, self._parts(between)) / self.line_bytes

    def _lines_between(
        self, reference: _Reference, before: Sequence[_Reference], inner: NestLoop | None,
        loop: NestLoop, env: _Env,
    ) -> float:  # fmt: skip
        """The other lines since the line was used in the same iteration of a loop."""
        if inner is None:
            last = max((other.number for other in before), default=reference.number)
            return self._lines_since(reference, last, env)
        position = loop.children.index(inner)
        depth = reference.path.index(inner)
        begun = {other.path[depth].index for other in before if len(other.path) > depth}
        start = max((at for at, child in enumerate(loop.children[:position])
                     if child.index in begun), default=0)  # fmt: skip
        loops = loop.children[start : position + 1]
        groups = [group for child in loops for group in child.groups_below]
        return self.footprints.bytes(loops, env, groups) / self.line_bytes - 1.0


def _at(loop: NestLoop, env: _Env, place: float) -> _Env:
    """The environment of the iteration at a place (0 to 1) of a loop."""
    value = loop.begin(env) + loop.step * max(0.0, loop.trips(env) - 1) * place
    return {**env, loop.variable: value}


def _shortened(loop: NestLoop, begin: float, turns: float, numbers: Iterator[int]) -> NestLoop:
    """A loop with this number of iterations from a given value, and its contents. The loop and its
    groups get new `numbers`.
    """
    own = LoopHeader(
        next(numbers), loop.variable, Affine(begin, {}), Affine(begin + turns * loop.step, {}),
        loop.step, loop.parallel, frozenset(), loop.line, loop.counted, loop.conditional,
        loop.unordered, share=loop.share, held=loop.held,
    )  # fmt: skip

    def inside(nested: NestLoop) -> NestLoop:
        groups = []
        for group in nested.groups:
            chain = tuple(own if around.index == loop.index else around for around in group.loops)
            groups.append(replace(group, index=next(numbers), loops=chain))
        children = tuple(map(inside, nested.children))
        header = own if nested.index == loop.index else nested
        return with_contents(header, children, tuple(groups), nested.statements)

    return inside(loop)


def _merged_reuse(uses: Sequence[ReuseShare]) -> tuple[ReuseShare, ...]:
    """Reuse with equal distances merged and sorted by distance. Entries of weight zero are left
    out.
    """
    merged: dict[tuple[float | None, str | None, bool], ReuseShare] = {}
    for use in uses:
        key = use[1:]
        known = merged.get(key)
        merged[key] = use if known is None else known._replace(share=known.share + use.share)
    kept = [use for use in merged.values() if use.share > ROUNDING.value]
    return tuple(sorted(kept, key=lambda use: math.inf if use.lines is None else use.lines))
