"""Computes LRU reuse distances: for each reference, the number of distinct cache lines between two
uses of a line.

An LRU cache with more lines than the distance hits, and a smaller cache misses (Mattson, Gecsei,
Slutz and Traiger 1970; Ding and Zhong 2003). One thread runs the whole region, and caches are empty
at the start. The reuse carried by a loop is the sum of the lines of its iterations minus the lines
of the whole loop. The distance is the footprint of the iterations since the last use (layer
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
from regionpredict.workload.thread_nest import undivided_nest

_Env = dict[str, float]
_GroupOffset = tuple[ReferenceGroup, float]
"""A reference, given by its group and its offset in the group."""
_MIDDLE = 1 / 2


class ReuseShare(NamedTuple):
    """The `share` of a reference's executions whose reuse distance is `lines`.

    `lines` is None for the first access to a line. `carried_by` is the variable of the loop whose
    previous iteration used the line, or None for reuse within one iteration. `spread` says that
    distances are uniformly distributed from 0 to `lines`.
    """

    share: float
    lines: float | None
    carried_by: str | None
    spread: bool = False

    def hits(self, lines: float) -> float:
        """Returns the share of the reference's executions that hit in a cache of `lines` lines."""
        if self.lines is None:
            return 0.0
        if self.spread:
            return self.share * min(1.0, lines / max(1.0, self.lines))
        return self.share if self.lines < lines else 0.0


class ReferenceReuse(NamedTuple):
    """The reuse of a reference, shortest distance first, with the reference's number in the region
    and its executions.
    """

    number: int
    executions: float
    uses: tuple[ReuseShare, ...]

    def hits(self, lines: float) -> float:
        """Returns the share of the reference's executions that hit in a cache of `lines` lines."""
        return sum(use.hits(lines) for use in self.uses)


def reuse_distances(
    nest: LoopNest, line_bytes: int, *, samples: int = int(REUSE_SAMPLES.value)
) -> tuple[ReferenceReuse, ...]:
    """Returns the reuse of every reference of a nest, in source order.

    A loop whose inner loops grow or shrink is evaluated in `samples` of its iterations.
    """
    counter = _ReuseCounter(nest, line_bytes, samples)
    return tuple(
        counter.reuse(reference) for reference in sorted(counter.references, key=_reference_number)
    )


def count_misses(reuses: Sequence[ReferenceReuse], lines: float) -> float:
    """Returns the number of misses of the whole region in a cache of `lines` lines."""
    return sum(reuse.executions * (1.0 - reuse.hits(lines)) for reuse in reuses)


@dataclass(frozen=True, slots=True)
class _Reference:
    """A reference with its enclosing loops in `path`. An irregular reference has its own group.

    `alike` is the first group whose references touch equal numbers of lines.
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


def _footprint_inputs(group: ReferenceGroup) -> tuple[object, ...]:
    """Returns the inputs of the number of lines of a reference, except its offset in the group.

    The key contains the types of slopes, because equal slopes may be plain numbers or expressions.
    """
    return (
        tuple([loop.index for loop in group.loops]), tuple(group.slopes.items()),
        tuple(map(type, group.slopes.values())), group.element, group.private, group.drifts,
        group.aligned, group.irregular,
    )  # fmt: skip


def _reference_number(reference: _Reference) -> int:
    return reference.number


class _ReuseCounter:
    """Computes the reuse of each reference from footprints of one thread."""

    def __init__(self, nest: LoopNest, line_bytes: int, samples: int) -> None:
        self.line_bytes = line_bytes
        self.samples = samples
        self.footprints = TeamFootprints(undivided_nest(nest), 1.0, line_bytes, FootprintTables())
        self.references: list[_Reference] = []
        # New groups and loops get indices that the nest does not use.
        self._numbers = count(len(tuple(nest.groups())) + len(nest.loops))
        self._runs: dict[int, float] = {}  # executions of a loop's body
        self._alike: dict[tuple[object, ...], ReferenceGroup] = {}
        self._iterations: dict[tuple[int, tuple[float, ...]], float] = {}
        self._windows: dict[tuple[int, float, tuple[float, ...]], float] = {}
        self._leading: dict[tuple[int, int], list[_Reference]] = {}
        self._add_references(nest.root, ())
        self._by_array: dict[str, list[_Reference]] = {}
        self._latest: dict[int, _Reference] = {}  # the preceding reference to the same address
        latest: dict[tuple[int, float], _Reference] = {}
        for reference in sorted(self.references, key=_reference_number):
            if reference.address in latest:
                self._latest[reference.number] = latest[reference.address]
            else:
                self._by_array.setdefault(reference.group.array, []).append(reference)
            latest[reference.address] = reference

    def _add_references(self, loop: NestLoop, enclosing_loops: tuple[NestLoop, ...]) -> None:
        path = (*enclosing_loops, loop)
        for group in loop.groups:
            alike = self._alike.setdefault(_footprint_inputs(group), group)
            for number, place in zip(group.order, group.places, strict=True):
                own = group
                if group.irregular:
                    own = replace(group, index=next(self._numbers), offsets=(place,))
                self.references.append(_Reference(number, (group.index, place), own, alike, path))
        for child in loop.children:
            self._add_references(child, path)

    def reuse(self, reference: _Reference) -> ReferenceReuse:
        """Returns the reuse of one reference."""
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
                env = _environment_at(loop, env, _MIDDLE)
            away = self._lines_since(reference, last.number, env)
            return ReferenceReuse(reference.number, executions, (ReuseShare(1.0, away, None),))
        uses: list[ReuseShare] = []
        first = self._first_touches(reference, 0, {}, 1.0, uses)
        uses.append(ReuseShare(first, None, None))
        every = [use._replace(share=use.share / executions) for use in uses]
        return ReferenceReuse(reference.number, executions, _merged_reuse(every))

    def _executions(self, path: Sequence[NestLoop], depth: int, env: _Env) -> float:
        if depth == len(path):
            return 1.0
        loop = path[depth]
        trips = float(loop.trips(env))
        places = self._sample_positions(loop)
        inside = [
            self._executions(path, depth + 1, _environment_at(loop, env, place)) for place in places
        ]
        return trips * sum(inside) / len(places)

    def _sample_positions(self, loop: NestLoop) -> Sequence[float]:
        """Returns the sampled positions (0 to 1) in the iterations of a loop. One sample is enough
        if all iterations are equal.
        """
        number = self.samples if loop.variable in loop.bounds_below else 1
        return [(2 * at + 1) / (2 * number) for at in range(number)]

    def _random_reuse(self, reference: _Reference, executions: float) -> tuple[ReuseShare, ...]:
        """Returns the reuse of random accesses. The distances of repeated accesses are uniformly
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

    def _first_touches(
        self, reference: _Reference, depth: int, env: _Env, runs: float, uses: list[ReuseShare]
    ) -> float:
        """Returns the number of lines that a reference touches first in one execution of the loop
        at `depth`. The reuse in `runs` executions of the loop is added to `uses`.

        The recursion processes loops from the innermost outwards.
        """
        loop = reference.path[depth]
        trips = float(loop.trips(env))
        if trips <= 0:
            return 0.0
        places = self._sample_positions(loop)
        each = trips / len(places)
        inner = reference.path[depth + 1] if depth + 1 < len(reference.path) else None
        before, ahead = (
            self._preceding_references(reference, depth),
            self._leading_references(reference, depth),
        )
        # If all preceding references are in the inner loop, its result already excludes their
        # lines.
        only_inner = inner is not None and len(before) == len(
            self._leading_references(reference, depth + 1)
        )
        fresh: list[tuple[float, _Env]] = []
        for place in places:
            inside = _environment_at(loop, env, place)
            first = below = 1.0
            if inner is not None:
                first = below = self._first_touches(reference, depth + 1, inside, runs * each, uses)
            if before and not only_inner:
                first = min(below, self._lines_added_by(reference, before, loop.children, inside))
            if below > first:
                between = self._lines_between(reference, before, inner, loop, inside)
                uses.append(ReuseShare((below - first) * each * runs, between, None))
            fresh.append((first * each, inside))
        total = sum(lines for lines, _ in fresh)
        if not total:
            return 0.0
        whole = min(total, self._lines_added_by(reference, ahead, (loop,), env))
        if whole >= total:  # no reuse
            return whole
        alone = self._lines_added_by(reference, [], (loop,), env)
        own = max(0.0, total - max(whole, alone))
        others = total - whole - own
        turns = self._iterations_since(reference, ahead, loop)
        for lines, inside in fresh:
            share = runs * lines / total
            if own > 0:
                away = self._distance_along_loop(reference, depth, inside)
                uses.append(ReuseShare(share * own, away, loop.variable))
            if others > 0:
                away = self._lines_of_iterations(loop, inside, turns) - 1.0
                uses.append(ReuseShare(share * others, away, loop.variable))
        return whole

    def _lines_added_by(
        self,
        reference: _Reference,
        before: Sequence[_Reference],
        loops: Sequence[NestLoop],
        env: _Env,
    ) -> float:
        """Returns the lines that only `reference` touches, and none of the references in `before`,
        during one execution of `loops`.
        """
        if not before:
            return self._lines_of_one(reference, loops, env)
        own = self._lines_of_array([*before, reference], loops, env)
        return max(0.0, own - self._lines_of_array(before, loops, env))

    def _lines_of_array(
        self, references: Sequence[_Reference], loops: Sequence[NestLoop], env: _Env
    ) -> float:
        """Returns the lines that several references to one array touch."""
        # The fixed order lets the next reference find the cached result.
        places = [(each.group, each.offset) for each in sorted(references, key=_reference_number)]
        return self._lines_of_references(loops, env, places)

    def _lines_of_references(
        self, loops: Sequence[NestLoop], env: _Env, places: Sequence[_GroupOffset]
    ) -> float:
        volume = self.footprints.lines_by_array(loops, env, self._as_groups(places))
        return float(sum(lines.touched for lines in volume.values()))

    def _lines_of_one(self, reference: _Reference, loops: Sequence[NestLoop], env: _Env) -> float:
        """Returns the lines of one reference. They depend on the reference's offset only if the
        array starts on a line.
        """
        group = reference.alike
        offset = reference.offset if group.aligned else group.offsets[0]
        return self._lines_of_references(loops, env, [(group, offset)])

    def _as_groups(self, places: Sequence[_GroupOffset]) -> list[ReferenceGroup]:
        """Returns groups that contain only the given references."""
        parts: dict[int, tuple[ReferenceGroup, set[float]]] = {}
        for group, offset in places:
            parts.setdefault(group.index, (group, set()))[1].add(offset)
        return [
            self.footprints.part(group, tuple(sorted(offsets)))
            for group, offsets in parts.values()
        ]  # fmt: skip

    def _other_references(self, reference: _Reference, depth: int) -> list[_Reference]:
        """Returns the other references to the same array inside the loop at `depth`."""
        loop = reference.path[depth].index
        return [
            other for other in self._by_array[reference.group.array]
            if other is not reference and not other.group.irregular
            and depth < len(other.path) and other.path[depth].index == loop
        ]  # fmt: skip

    def _preceding_references(self, reference: _Reference, depth: int) -> list[_Reference]:
        """Returns the references to the same array that precede `reference` in one iteration of the
        loop at `depth`.
        """
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
        """Returns the references that touch each line before `reference` does, during the loop at
        `depth`.
        """
        known = self._leading.get((reference.number, depth))
        if known is None:
            known = self._leading[reference.number, depth] = [
                other for other in self._other_references(reference, depth)
                if self._touches_lines_first(other, reference, depth)
            ]  # fmt: skip
        return known

    def _touches_lines_first(self, other: _Reference, reference: _Reference, depth: int) -> bool:
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
        """Returns the number of iterations since a leading reference touched the same line."""
        stride = abs(reference.group.slopes.get(loop.variable, 0.0) * loop.step)
        turns = [1.0]
        if stride:
            gaps = [abs(other.offset - reference.offset) / stride for other in ahead
                    if other.group.slopes == reference.group.slopes]  # fmt: skip
            turns = [max(1.0, gap) for gap in gaps] or turns
        return min(turns)

    def _distance_along_loop(self, reference: _Reference, depth: int, inside: _Env) -> float:
        """Returns the number of other lines between two uses of a line in consecutive iterations of
        the loop at `depth`.

        If the address is constant in the inner loops, their last iteration used the line.
        """
        loop, env = reference.path[depth], dict(inside)
        for inner in reference.path[depth + 1 :]:
            if reference.group.slopes.get(inner.variable) or len(loop.children) > 1 or loop.groups:
                break
            loop = inner
            env[inner.variable] = inner.middle_value(env)
        return self._lines_per_iteration(loop, env) - 1.0

    def _lines_per_iteration(self, loop: NestLoop, env: _Env) -> float:
        """Returns the lines of all arrays in one iteration of a loop."""
        asked = (loop.index, tuple(env.values()))
        known = self._iterations.get(asked)
        if known is None:
            known = self.footprints.bytes(loop.children, env, loop.groups_below) / self.line_bytes
            self._iterations[asked] = known
        return known

    def _lines_of_iterations(self, loop: NestLoop, inside: _Env, turns: float) -> float:
        """Returns the lines of all arrays in `turns` iterations of a loop, from the iteration given
        by `inside` on.
        """
        if turns <= 1:
            return self._lines_per_iteration(loop, inside)
        asked = (loop.index, turns, tuple(inside.values()))
        known = self._windows.get(asked)
        if known is None:
            some = _shortened_loop(loop, inside[loop.variable], turns, self._numbers)
            known = self.footprints.bytes((some,), inside, some.groups_below) / self.line_bytes
            self._windows[asked] = known
        return known

    def _lines_since(self, reference: _Reference, last: int, env: _Env) -> float:
        """Returns the lines of other arrays between the reference number `last` and `reference` in
        one loop body.
        """
        loop = reference.path[-1].index
        between = [
            (other.group, other.offset) for other in self.references
            if last < other.number < reference.number and other.path[-1].index == loop
            and other.group.array != reference.group.array
        ]  # fmt: skip
        return self.footprints.bytes((), env, self._as_groups(between)) / self.line_bytes

    def _lines_between(
        self, reference: _Reference, before: Sequence[_Reference], inner: NestLoop | None,
        loop: NestLoop, env: _Env,
    ) -> float:  # fmt: skip
        """Returns the number of other lines since one of the references in `before` used the line,
        within one iteration of `loop`.
        """
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


def _environment_at(loop: NestLoop, env: _Env, place: float) -> _Env:
    """Returns the variables' values in the iteration at a position from 0 to 1 of a loop."""
    value = loop.begin(env) + loop.step * max(0.0, loop.trips(env) - 1) * place
    return {**env, loop.variable: value}


def _shortened_loop(loop: NestLoop, begin: float, turns: float, numbers: Iterator[int]) -> NestLoop:
    """Returns a copy of a loop with `turns` iterations that start at `begin`. The copied loop and
    groups get new indices from `numbers`.
    """
    own = LoopHeader(
        next(numbers), loop.variable, Affine(begin, {}), Affine(begin + turns * loop.step, {}),
        loop.step, loop.parallel, frozenset(), loop.line, loop.counted, loop.conditional,
        loop.unordered, share=loop.share, held=loop.held, work=loop.work,
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
    """Merges reuse shares of equal distance and sorts them by distance. Shares of zero are
    removed.
    """
    merged: dict[tuple[float | None, str | None, bool], ReuseShare] = {}
    for use in uses:
        key = use[1:]
        known = merged.get(key)
        merged[key] = use if known is None else known._replace(share=known.share + use.share)
    kept = [use for use in merged.values() if use.share > ROUNDING.value]
    return tuple(sorted(kept, key=lambda use: math.inf if use.lines is None else use.lines))
