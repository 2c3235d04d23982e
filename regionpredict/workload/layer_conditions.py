"""Counts cache misses by layer conditions: finds the loop that carries the reuse of each array in a
cache of a given size.

If the data of one iteration of a loop fit the cache, all reuse along the loop hits, and each
distinct line is missed once. Otherwise, the misses of its iterations add up. See Stengel et al.
2015, sec. 2.4 (layer conditions), and Ferrante, Sarkar and Thrash 1991 (working sets of loop
levels). The counted lines are those of all threads that share the cache.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from regionpredict.workload.constants import TRIANGLE_HALVINGS, TRIANGLE_NODES
from regionpredict.workload.footprint_tables import TeamKey
from regionpredict.workload.joined_groups import Groups
from regionpredict.workload.line_lattice import lattice_lines
from regionpredict.workload.line_overlap import Lines, Volume
from regionpredict.workload.loop_nest import Cut, NestLoop, ReferenceGroup
from regionpredict.workload.loop_ranges import Ranges, loop_ranges
from regionpredict.workload.team_footprint import TeamFootprints

LoopEnv = dict[str, float]
CountedGroups = frozenset[int]
"""The `index` of each group whose lines an outer loop has already counted."""


class Carrier(NamedTuple):
    """The loop whose reuse of an array hits: its variable (or None), and the bytes that one
    iteration touches.
    """

    loop: str | None
    window_bytes: float


Carriers = dict[str, Carrier]
"""The outermost loop whose reuse hits in the cache, by array."""


class Misses(NamedTuple):
    """The missed lines of all threads that share a cache, and the loops that carry the reuse, by
    array.
    """

    volume: Volume
    carriers: Carriers


MissKey = tuple[TeamKey, float, int, CountedGroups, tuple[float, ...]]
MissTable = dict[MissKey, Misses]
"""A cache of the misses of inner loops, by threads, cache size, loop, counted groups and outer
variables.
"""


class LayerConditions:
    """Counts the misses of the threads that share one cache of `capacity` bytes.

    `table` caches misses for all numbers of threads and cache sizes of a nest.
    """

    def __init__(self, team: TeamFootprints, capacity: float, table: MissTable) -> None:
        self.team = team
        self.capacity = capacity
        self._table = table
        self._ranges: dict[int, Ranges] = {}

    def misses(self, root: NestLoop) -> Misses:
        """Returns the misses of the region's threads in an initially empty cache."""
        carriers: Carriers = {}
        volume = dict(self._loop_misses(root, {}, frozenset(), carriers))
        for group in root.groups_below:
            if group.irregular:
                _add_lines(volume, {group.array: self._random_misses(group)})
        return Misses(volume, carriers)

    def _random_misses(self, group: ReferenceGroup) -> Lines:
        """Returns the misses of random accesses. An access misses with P = 1 - C/WS (Chatzopoulos
        2012, eq. 4.2), and every touched line is missed at least once.
        """
        number = self.team.threads
        number *= lattice_lines((), group.offsets, group.element, self.team.line_bytes)
        inner = group.loops[-1].index
        if inner not in self._ranges:
            self._ranges[inner] = loop_ranges(group.loops, {}, self.team.pieces)
        for name, spanned in self._ranges[inner].items():
            if name not in group.still:
                number *= max(0.0, spanned.trips)
        extent = group.extent * (self.team.threads if group.private else 1.0)
        lines = max(1.0, extent / self.team.line_bytes)
        first = lines * -math.expm1(-number / lines)
        missing = max(first, number * (1.0 - self.capacity / max(1.0, extent)))
        return Lines(missing, missing if group.written else 0.0)

    def window(self, loop: NestLoop, env: LoopEnv) -> float:
        """Returns the number of bytes that the threads touch in one iteration of `loop`."""
        return self.team.bytes(loop.children, env, loop.groups_below)

    def _fits_iteration(self, loop: NestLoop, env: LoopEnv) -> bool:
        """Whether the data of one iteration of `loop` fit into the cache."""
        return not self.team.exceeds_capacity(loop.children, env, loop.groups_below, self.capacity)

    def _loop_misses(
        self, loop: NestLoop, env: LoopEnv, counted: CountedGroups, carriers: Carriers
    ) -> Volume:
        """Returns the misses of one execution of a loop. Loops that carry reuse are added to
        `carriers`.

        Results of non-parallel loops are cached, because they do not depend on the threads' pieces.
        """
        if loop.parallel:
            return self._execution_misses(loop, env, counted, carriers)
        asked = (self.team.key, self.capacity, loop.index, counted, tuple(env.values()))
        known = self._table.get(asked)
        if known is None:
            inner: Carriers = {}
            known = self._table[asked] = Misses(
                self._execution_misses(loop, env, counted, inner), inner
            )
        carriers.update(known.carriers)
        return known.volume

    def _execution_misses(
        self, loop: NestLoop, env: LoopEnv, counted: CountedGroups, carriers: Carriers
    ) -> Volume:
        _, trips = loop.section_of(env, self.team.pieces.get(loop.index), None)
        total: Volume = {}
        if trips <= 0:
            return total
        slanted = loop.variable in loop.bounds_below
        middle = self._environment_at(loop, env, 0.5)
        fits = self._fits_iteration(loop, middle)
        if fits:
            window = self.window(loop, middle)
            for group in loop.groups_below:
                carriers[group.array] = Carrier(loop.variable, window)
        parts = self._fitting_parts(loop, env) if slanted else [(0.0, 1.0, fits)]
        for begin, end, fitting in parts:
            cut = (begin, end) if slanted else None
            if fitting:
                _add_lines(
                    total,
                    self._fitting_loop(
                        loop, env, _uncounted_groups(loop.groups_below, counted), cut
                    ),
                )
                continue
            kept = [*self._invariant_groups(loop), *self._always_touched(loop, middle)]
            still = _uncounted_groups(kept, counted)
            if still:
                _add_lines(total, self._fitting_loop(loop, env, still, cut))
            inside_held = counted.union(group.index for group in still)
            nodes = TRIANGLE_NODES if slanted else ((0.5, 1.0),)
            for place, weight in nodes:
                inside = self._environment_at(loop, env, begin + place * (end - begin))
                # Threads read a common line at about the same time, so it is loaded once.
                body = self._body_misses(loop, inside, inside_held, carriers)
                _add_lines(total, body, weight * (end - begin) * trips)
        return total

    def _fitting_loop(
        self, loop: NestLoop, env: LoopEnv, groups: Groups, cut: Cut | None
    ) -> Volume:
        """Returns the lines of a loop in which each iteration fits into the cache.

        Lines that several references touch count once, unless the data between these references
        exceed the cache.
        """
        near, *far = self._reuse_partitions(loop, env, groups)
        total = dict(self._lines_of_fitting_loop(loop, env, near, cut))
        for others in far:
            _add_lines(total, self._lines_of_fitting_loop(loop, env, others, cut))
        return total

    def _reuse_partitions(self, loop: NestLoop, env: LoopEnv, groups: Groups) -> list[Groups]:
        """Divides groups into parts in which references can reuse each other's lines.

        For example, the distance between `a[i]` and `a[i + m]` is m iterations. References to
        disjoint lines, such as two rows of a matrix, remain in one part, because other threads may
        touch the same lines.
        """
        _, trips = loop.section_of(env, self.team.pieces.get(loop.index), None)
        parts: list[list[ReferenceGroup]] = [[]]
        fitting: float | None = None
        for group in groups:
            stride = abs(group.slopes.get(loop.variable, 0.0) * loop.step)
            span = group.offsets[-1] - group.offsets[0]
            if group.irregular or not stride or span < 2 * stride:
                parts[0].append(group)
                continue
            if fitting is None:
                fitting = max(1.0, self._fitting_iterations(loop, env))
            most = fitting * stride
            clusters: list[list[float]] = [[group.offsets[0]]]
            for offset in group.offsets[1:]:
                if most < offset - clusters[-1][-1] <= stride * (trips - 1.0):
                    clusters.append([])
                clusters[-1].append(offset)
            while len(parts) < len(clusters):
                parts.append([])
            for number, cluster in enumerate(clusters):
                parts[number].append(self.team.part(group, tuple(cluster)))
        return list(parts)

    def _fitting_iterations(self, loop: NestLoop, env: LoopEnv) -> float:
        """Returns the number of consecutive iterations of a loop whose data fit into the cache."""
        _, trips = loop.section_of(env, self.team.pieces.get(loop.index), None)
        window = self.window(loop, self._environment_at(loop, env, 0.5))
        everything = self.team.bytes((loop,), env, loop.groups_below)
        if everything <= self.capacity or trips <= 1:
            return trips
        return 1.0 + max(0.0, self.capacity - window) / ((everything - window) / (trips - 1.0))

    def _lines_of_fitting_loop(
        self, loop: NestLoop, env: LoopEnv, groups: Groups, cut: Cut | None
    ) -> Volume:
        """Returns the lines of a loop in which each iteration fits into the cache.

        Lines at the edges of two threads' pieces count once per thread, because the threads touch
        them at different times. Threads with neighboring chunks load a common line once.
        """
        together = self.team.in_step or (
            loop.parallel and self.team.bytes((loop,), env, groups, cut) <= self.capacity
        )
        return self.team.lines_by_array((loop,), env, groups, per_thread=not together, cut=cut)

    def _environment_at(self, loop: NestLoop, env: LoopEnv, place: float) -> LoopEnv:
        """Returns the variables' values at a position (0 to 1) in the iterations of a loop,
        averaged over the threads.

        The value is 0 if it only moves all accesses to each array by the same distance. All numbers
        of threads then share the counts of inner loops.
        """
        if loop.moves_only:
            return {**env, loop.variable: 0.0}
        # The mean over all threads' positions covers only a part of the loop's range.
        spread = 1.0 / self.team.threads if loop.parallel else 1.0
        along = 0.5 + (place - 0.5) * spread
        value = loop.begin(env) + loop.step * max(0.0, loop.trips(env) - 1) * along
        return {**env, loop.variable: value}

    def _fitting_parts(self, loop: NestLoop, env: LoopEnv) -> list[tuple[float, float, bool]]:
        """Divides a loop with growing or shrinking iterations where an iteration begins to fit.
        Each part is (from, to, whether an iteration fits).
        """

        def fits_at(place: float) -> bool:
            return self._fits_iteration(loop, self._environment_at(loop, env, place))

        first, last = fits_at(0.0), fits_at(1.0)
        if first == last:
            return [(0.0, 1.0, first)]
        low, high = 0.0, 1.0
        for _ in range(int(TRIANGLE_HALVINGS.value)):
            middle = (low + high) / 2
            if fits_at(middle) == first:
                low = middle
            else:
                high = middle
        edge = (low + high) / 2
        return [(0.0, edge, first), (edge, 1.0, last)]

    def _body_misses(
        self, loop: NestLoop, env: LoopEnv, counted: CountedGroups, carriers: Carriers
    ) -> Volume:
        """Returns the misses of an iteration that does not fit into the cache: the sum over its
        inner loops. Neighboring loops that fit together count as one.

        A loop that runs in a share of the iterations contributes this share of its misses.
        """
        total: Volume = {}
        waiting = list(loop.children)
        if loop.groups:
            _add_lines(
                total, self.team.lines_by_array((), env, _uncounted_groups(loop.groups, counted))
            )
        while waiting:
            cluster = [waiting.pop(0)]
            groups = list(cluster[0].groups_below)
            while waiting:
                more = [*groups, *waiting[0].groups_below]
                if self.team.exceeds_capacity([*cluster, waiting[0]], env, more, self.capacity):
                    break
                groups = more
                cluster.append(waiting.pop(0))
            if len(cluster) > 1:
                uncounted = _uncounted_groups(groups, counted)
                volume = self.team.lines_by_array(cluster, env, uncounted, per_thread=True)
            else:
                volume = self._loop_misses(cluster[0], env, counted, carriers)
            _add_lines(total, volume, max(inner.share for inner in cluster))
        return total

    @staticmethod
    def _invariant_groups(loop: NestLoop) -> list[ReferenceGroup]:
        """Returns the groups whose address is constant in all loops inside `loop`, such as
        `c[i][j]` in the loop over k.

        Inner iterations touch their lines continually, so these lines stay in the cache.
        """
        if len(loop.children) != 1:
            return []
        invariant = []
        for group in loop.children[0].groups_below:
            depth = next(at for at, around in enumerate(group.loops) if around.index == loop.index)
            below = group.loops[depth + 1 :]
            if not group.irregular and not any(group.slopes.get(inner.variable) for inner in below):
                invariant.append(group)
        for group in loop.groups:
            if any(g.array == group.array and g.slopes == group.slopes for g in invariant):
                invariant.append(group)
        return invariant

    def _always_touched(self, loop: NestLoop, env: LoopEnv) -> list[ReferenceGroup]:
        """Returns the groups that every iteration of an inner loop touches completely, such as a
        small matrix.

        If an inner iteration fits, all later ones hit these lines, even after `loop` advances.
        """
        if len(loop.children) != 1 or loop.groups:
            return []
        inner = loop.children[0]
        if loop.variable in inner.depends:
            return []
        inside = self._environment_at(inner, env, 0.5)
        if not self._fits_iteration(inner, inside):
            kept = self._always_touched(inner, inside)
            return [g for g in kept if not g.slopes.get(loop.variable)]
        return [
            group
            for group in inner.groups_below
            if not group.irregular
            and not group.slopes.get(loop.variable)
            and not group.slopes.get(inner.variable)
            and not any({loop.variable, inner.variable} & around.depends for around in group.loops)
        ]


def _uncounted_groups(groups: Groups, counted: CountedGroups) -> list[ReferenceGroup]:
    return [g for g in groups if not g.irregular and g.index not in counted]


def _add_lines(total: Volume, volume: Volume, factor: float = 1.0) -> None:
    for array, lines in volume.items():
        known = total.get(array)
        if known is None:
            total[array] = Lines(lines.touched * factor, lines.written * factor)
        else:
            total[array] = Lines(
                known.touched + lines.touched * factor, known.written + lines.written * factor
            )
