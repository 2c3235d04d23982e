"""Counts the distinct cache lines of each array that the threads of one cache touch together.

The distance between neighboring threads is the number of iterations of one thread. If an address
depends on the parallel loop, its lattice of addresses gets another level: the threads. Lines that
several threads touch count once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from regionpredict.workload.constants import ENUMERATED_GROUP, MOST_BLOCKS, ROUNDING
from regionpredict.workload.counted_work import count_footprint
from regionpredict.workload.enumerated_lines import (
    EnumeratedGroup,
    Part,
    distinct_lines,
    mean_of_blocks,
    path_of,
)
from regionpredict.workload.footprint_tables import (
    ArrayGroups,
    Chain,
    ChainRanges,
    FootprintKey,
    FootprintTables,
    Positions,
    Row,
    TeamKey,
)
from regionpredict.workload.joined_groups import (
    EqualArrays,
    Groups,
    group_equal_arrays,
)
from regionpredict.workload.line_lattice import lattice_lines, rows_overlap, separate_close_strides
from regionpredict.workload.line_overlap import GroupLines, Level, Lines, Volume, union_of
from regionpredict.workload.loop_nest import (
    Cut,
    Env,
    NestLoop,
    ReferenceGroup,
    address_shift,
)
from regionpredict.workload.loop_ranges import Ranges, loop_ranges
from regionpredict.workload.team_levels import TeamLevel, column_levels, team_levels
from regionpredict.workload.thread_nest import DistributedNest

_index = attrgetter("index")


class TeamFootprints:
    """The footprints of `threads` neighboring threads that share a cache, in a distributed nest."""

    def __init__(
        self, distributed: DistributedNest, threads: float, line_bytes: int, tables: FootprintTables
    ) -> None:
        self.nest = distributed.nest
        self.threads = threads
        self.dealt_to = distributed.threads
        self.line_bytes = line_bytes
        self.pieces = distributed.lengths
        self.in_step = distributed.in_step
        self.team = team_levels(distributed.spacings, threads)
        self.columns = column_levels(distributed.columns, threads)
        self._lengths = tuple(distributed.lengths.values())
        self._tables = tables
        self._key: TeamKey | None = None
        self._all_bytes: float | None = None

    @property
    def key(self) -> TeamKey:
        """The cache key of footprints of inner loops. If threads share no lines, the key does not
        contain the positions of the threads.
        """
        if self._key is None:
            far = not self.columns and self._threads_share_no_lines()
            self._key = (self.threads, len(self.team) if far else self.team + self.columns)
        return self._key

    def _threads_share_no_lines(self) -> bool:
        """Whether no line is touched by two threads in their current parallel iterations."""
        if not self.team:
            return True
        moving = {group.array for group in self.nest.groups() if self._moves_between_threads(group)}
        chains: dict[int, Ranges] = {}
        for group in self.nest.groups():
            if group.irregular or group.private or group.array not in moving:
                continue
            if not self._moves_between_threads(group):
                return False
            inner = group.loops[-1].index
            ranges = chains.get(inner)
            if ranges is None:
                ranges = chains[inner] = loop_ranges(group.loops, {}, self.pieces)
            for team in self.team:
                distance = abs(self._address_shift(group, team) * team.distance)
                spread = 2 * (group.offsets[-1] - group.offsets[0])
                reach = self.line_bytes + group.element + spread
                for name, slope in group.slopes.items():
                    stride = abs(slope * ranges[name].step)
                    if name != team.variable and stride < distance:
                        reach += stride * (ranges[name].extent - 1)
                if distance <= reach:
                    return False
        return True

    def _moves_between_threads(self, group: ReferenceGroup) -> bool:
        return any(self._address_shift(group, team) for team in self.team)

    def _address_shift(self, group: ReferenceGroup, team: TeamLevel) -> float:
        """Returns the bytes by which the addresses of `group` move if the variable of the parallel
        loop of `team` increases by 1.
        """
        key = (group.index, team.variable)
        moved = self._tables.moved.get(key)
        if moved is None:
            moved = self._tables.moved[key] = address_shift(group, team.variable)
        return moved

    def lines_by_array(
        self,
        loops: Sequence[NestLoop],
        env: Env,
        groups: Groups,
        *,
        per_thread: bool = False,
        cut: Cut | None = None,
    ) -> Volume:
        """Returns the distinct lines, by array, that `groups` touch during one execution of `loops`
        and the loops inside.

        `cut` is the executed part of a single loop. Neighboring threads touch common lines at the
        edges of their iterations, but at different times. `per_thread` counts common lines once per
        thread.
        """
        key, positions, active = self._query_key(loops, env, groups, per_thread=per_thread, cut=cut)
        volume = self._tables.volumes.get(key)
        if volume is None:
            alike = self._alike_arrays(positions, groups)
            counted = self._count_lines(alike, active, env, per_thread=per_thread, cut=cut)
            volume = self._tables.volumes[key] = _sorted_by_group(counted, groups)
        return volume

    def _query_key(
        self, loops: Sequence[NestLoop], env: Env, groups: Groups, *, per_thread: bool,
        cut: Cut | None,
    ) -> tuple[FootprintKey, Positions, Positions]:  # fmt: skip
        """Returns the cache key of a footprint, the indices of its groups, and the indices of its
        active loops.
        """
        active = tuple(map(_index, loops))
        per_thread = per_thread and self.threads > 1.0  # a single thread shares no lines
        whole = bool(loops) and loops[0].parallel
        positions = tuple(map(_index, groups))
        key = (
            (self.threads, self.team + self.columns) if whole else self.key, active, cut,
            self._lengths if whole else (), positions, tuple(env.values()), per_thread,
        )  # fmt: skip
        return key, positions, active

    def _alike_arrays(self, positions: Positions, groups: Groups) -> list[EqualArrays]:
        alike = self._tables.alike.get(positions)
        if alike is None:
            alike = self._tables.alike[positions] = group_equal_arrays(groups, self._tables.bounds)
        return alike

    def bytes(
        self, loops: Sequence[NestLoop], env: Env, groups: Groups, cut: Cut | None = None
    ) -> float:
        """The size of the footprint in bytes."""
        return self._bytes_of_lines(self.lines_by_array(loops, env, groups, cut=cut))

    def _bytes_of_lines(self, volume: Volume) -> float:
        return self.line_bytes * sum(lines.touched for lines in volume.values())

    def exceeds_capacity(
        self, loops: Sequence[NestLoop], env: Env, groups: Groups, capacity: float
    ) -> bool:
        """Whether the footprint is larger than `capacity` bytes.

        Counting stops as soon as the counted arrays exceed the capacity. An array that exceeded it
        in an earlier call is counted first.
        """
        key, positions, active = self._query_key(loops, env, groups, per_thread=False, cut=None)
        volume = self._tables.volumes.get(key)
        if volume is None:
            # The order of the summands changes the last digits of the sum.
            enough = capacity / self.line_bytes * (1.0 + ROUNDING.value)
            if self._tables.least.get(key, 0.0) > enough:
                return True
            alike = self._alike_arrays(positions, groups)
            counted: Volume = {}
            for at, arrays in enumerate(alike):
                counted |= self._count_lines([arrays], active, env, per_thread=False, cut=None)
                least = sum(lines.touched for lines in counted.values())
                if least > enough:
                    self._tables.least[key] = least
                    alike.insert(0, alike.pop(at))
                    return True
            volume = self._tables.volumes[key] = _sorted_by_group(counted, groups)
        return self._bytes_of_lines(volume) > capacity

    def part(self, group: ReferenceGroup, offsets: tuple[float, ...]) -> ReferenceGroup:
        """Returns a group with only the references of `group` at these offsets. Its index is
        negative, so that no group of the nest has the same index.
        """
        key = (group.index, offsets)
        part = self._tables.parts.get(key)
        if part is None:
            written = tuple([offset for offset in group.written if offset in offsets])
            index = ~len(self._tables.parts)
            part = replace(group, index=index, offsets=offsets, written=written)
            self._tables.parts[key] = part
        return part

    def all_bytes(self) -> float:
        """The bytes that the threads touch in the whole region."""
        if self._all_bytes is None:
            root = self.nest.root
            self._all_bytes = self.bytes((root,), {}, root.groups_below)
        return self._all_bytes

    def all_exceed(self, capacity: float) -> bool:
        """Whether the threads touch more than `capacity` bytes in the whole region."""
        root = self.nest.root
        return self.exceeds_capacity((root,), {}, root.groups_below, capacity)

    def _count_lines(
        self, alike: Sequence[EqualArrays], active: Positions, env: Env, *, per_thread: bool,
        cut: Cut | None,
    ) -> Volume:  # fmt: skip
        counted: Volume = {}
        ranges: dict[Positions, ChainRanges] = {}
        for arrays, own in alike:
            known = self._enumerated_lines(own, active, ranges, env, per_thread, cut)
            if known is not None:
                counted.update(dict.fromkeys(arrays, known))
                continue
            parts: tuple[GroupLines, ...] = ()
            for group in own:
                chain = self._chain(group, active)
                chain_ranges = ranges.get(chain.positions)
                if chain_ranges is None:
                    chain_ranges = ranges[chain.positions] = self._chain_ranges(chain, env, cut)
                parts += self._group_lines(group, chain_ranges, env, per_thread)
            if parts:
                counted.update(dict.fromkeys(arrays, self._union_of_parts(parts)))
        return counted

    def _enumerated_lines(
        self, groups: Sequence[ReferenceGroup], active: Positions,
        ranges: dict[Positions, ChainRanges], env: Env, per_thread: bool, cut: Cut | None,
    ) -> Lines | None:  # fmt: skip
        """Returns the enumerated lines of an array whose closed form is only an estimate.

        Returns None if the closed form is exact, or if enumeration is impossible or too slow.
        Enumeration is impossible for random accesses and for threads at unrelated positions.
        """
        count_footprint()
        if self._tables.work.closed:
            return None
        properties = self._array_groups(groups, active)
        if properties.irregular:
            return None
        # In a triangular nest, threads that drift apart share lines only part of the time.
        if self.dealt_to > 1 and properties.drifting:
            return None
        around = {name: env[name] for name in properties.names if name in env}
        aligned = not around and properties.aligned
        may_overlap, chains = properties.may_overlap, properties.chains
        walks: list[EnumeratedGroup] = []
        copies: set[float] = set()
        for group, chain in zip(groups, chains, strict=True):
            chain_ranges = ranges.get(chain.positions)
            if chain_ranges is None:
                chain_ranges = ranges[chain.positions] = self._chain_ranges(chain, env, cut)
            along, own = self._thread_levels(group, chain_ranges.ranges, per_thread)
            shared_levels: list[Level] = []
            for team in along:
                if per_thread and team.variable in chain_ranges.ranges:
                    own *= team.threads
                else:
                    shared_levels.append(
                        (self._address_shift(group, team) * team.distance, team.threads)
                    )
            if not may_overlap:
                inside = [
                    (slope * range_.step, range_.extent)
                    for name, slope in group.slopes.items()
                    if (range_ := chain_ranges.ranges.get(name)) is not None
                ]
                may_overlap = rows_overlap(
                    [*inside, *shared_levels], group.element, self.line_bytes
                )
            copies.add(own)
            walks.append(EnumeratedGroup(group, chain.path, tuple(shared_levels)))
        if not may_overlap:
            return None
        if len(copies) > 1:
            return None
        (each,) = copies
        blocks: tuple[tuple[int, int], ...] = ()
        if cut in (None, (0.0, 1.0)) and each in (1.0, self.threads):
            blocks = self._iteration_blocks(chains, groups, round(self.threads / each))
        cutting = blocks or self._lengths
        key = (
            tuple((walk.group.index, walk.group.offsets, walk.group.written) for walk in walks),
            () if blocks else tuple(walk.team for walk in walks),
            tuple(chain.positions for chain in chains), tuple(around.items()), cutting, cut,
        )  # fmt: skip
        table = self._tables.enumerated
        lines = table.get(key)
        if lines is None and key not in table:
            self._tables.work.count(ENUMERATED_GROUP.value * len(walks) * max(1, len(blocks)))
            placed = bool(blocks) or not (self.pieces or self.team or self.in_step)
            part = Part(
                around, self.pieces, cut, float(self.line_bytes), aligned and placed,
                known=self._tables.by_shape, walked=self._tables.by_walk,
            )  # fmt: skip
            if blocks:
                lines = mean_of_blocks([walk._replace(team=()) for walk in walks], part, blocks)
            else:
                lines = distinct_lines(walks, part)
            table[key] = lines
        if lines is None:
            return None
        return lines.times(each)

    def _array_groups(self, groups: Sequence[ReferenceGroup], active: Positions) -> ArrayGroups:
        """Returns the properties of an array's groups that are the same for all iterations and
        numbers of threads.
        """
        key = (tuple(map(_index, groups)), active)
        properties = self._tables.array_groups.get(key)
        if properties is None:
            chains = tuple([self._chain(group, active) for group in groups])
            names = {name for group in groups for name in group.slopes}
            names |= {name for chain in chains for loop in chain.loops for name in loop.depends}
            properties = self._tables.array_groups[key] = ArrayGroups(
                chains, tuple(sorted(names)), any(group.irregular for group in groups),
                any(group.drifts for group in groups), all(group.aligned for group in groups),
                len(groups) > 1 or any(chain.depends for chain in chains),
            )  # fmt: skip
        return properties

    def _iteration_blocks(
        self, chains: Sequence[Chain], groups: Sequence[ReferenceGroup], sharers: int
    ) -> tuple[tuple[int, int], ...]:
        """Returns the blocks of iterations of the outermost loop, one for each cache that
        `sharers` neighboring threads share. A block is (first iteration, number of iterations).

        Returns no blocks if threads do not execute whole iterations of the outermost loop.
        """
        first = chains[0].loops[0] if chains[0].loops else None
        if first is None or self.in_step or list(self.pieces) != [first.index]:
            return ()
        if any(not chain.loops or chain.loops[0].index != first.index for chain in chains):
            return ()
        if groups[0].private:  # all groups have the same array
            return ()
        trips, team = round(first.trips({})), self.dealt_to
        if first.depends or team > MOST_BLOCKS.value or trips < team:
            return ()
        least, more = divmod(trips, team)
        edges = [least * thread + min(thread, more) for thread in range(team + 1)]
        # If the caches do not divide the threads evenly, every run of neighbors is a block.
        begins = range(0, team - sharers + 1, sharers if team % sharers == 0 else 1)
        return tuple((edges[at], edges[at + sharers] - edges[at]) for at in begins)

    def _thread_levels(
        self, group: ReferenceGroup, ranges: Ranges, per_thread: bool
    ) -> tuple[tuple[TeamLevel, ...], float]:
        """Returns the thread levels along which the group's address moves, and the number of
        copies of the group's data.
        """
        if group.private or (group.drifts and (per_thread or not group.drifts <= ranges.keys())):
            return (), self.threads
        if not self.team or group.drifts:
            return (), 1.0
        along = tuple([team for team in self.team if self._address_shift(group, team)])
        return along or self._column_level(group, ranges, per_thread), 1.0

    def _column_level(
        self, group: ReferenceGroup, ranges: Ranges, per_thread: bool
    ) -> tuple[TeamLevel, ...]:
        """Returns the thread level of a group whose address moves with a parallel loop that each
        thread executes completely. Each thread starts at a different column.
        """
        for column in self.columns:
            if column.row in ranges or (column.variable in ranges and not per_thread):
                continue
            if self._address_shift(group, column):
                return (column,)
        return ()

    def _chain(self, group: ReferenceGroup, active: Positions) -> Chain:
        """Returns the loops around a group, from the outermost active loop inwards."""
        chain = self._tables.chains.get((group.index, active))
        if chain is None:
            inside = [at for at, loop in enumerate(group.loops) if loop.index in active]
            loops = group.loops[inside[0] :] if inside else ()
            depends = any(loop.depends for loop in loops)
            positions = tuple(map(_index, loops))
            path = self._tables.paths.get(positions)
            if path is None:
                path = self._tables.paths[positions] = path_of(loops)
            chain = Chain(loops, positions, depends, path)
            self._tables.chains[group.index, active] = chain
        return chain

    def _union_of_parts(self, parts: tuple[GroupLines, ...]) -> Lines:
        if len(parts) == 1:
            return Lines(parts[0].touched, parts[0].written)
        union = self._tables.unions.get(parts)
        if union is None:
            union = self._tables.unions[parts] = union_of(parts, self.line_bytes)
        return union

    def _chain_ranges(self, chain: Chain, env: Env, cut: Cut | None) -> ChainRanges:
        """Returns the value ranges of the variables of the loops in `chain`. Results are cached."""
        around = tuple(env.items()) if chain.depends else ()
        cutting = () if self.pieces.keys().isdisjoint(chain.positions) else self._lengths
        key = (chain.positions, around, cutting, cut)
        chain_ranges = self._tables.ranges.get(key)
        if chain_ranges is None:
            ranges = loop_ranges(chain.loops, env, self.pieces, cut)
            run = all(range_.trips > 0 for range_ in ranges.values())
            chain_ranges = self._tables.ranges[key] = ChainRanges(ranges, run)
        return chain_ranges

    def _group_lines(
        self, group: ReferenceGroup, chain_ranges: ChainRanges, env: Env, per_thread: bool
    ) -> tuple[GroupLines, ...]:
        """Returns the lines of each row of a group. The result is empty if an enclosing loop has
        no iterations.
        """
        ranges = chain_ranges.ranges
        if group.irregular:
            return self._irregular_lines(group, ranges)
        if not chain_ranges.all_run:
            return ()
        slopes = group.slopes
        along, copies = self._thread_levels(group, ranges, per_thread)
        key = (
            group.index, group.offsets, group.written,
            tuple([ranges[name] if name in ranges else env[name] for name in slopes]),
            along, copies, bool(along) and per_thread,
        )  # fmt: skip
        lines = self._tables.lines.get(key)
        if lines is None:
            self._tables.work.count(1.0)
            lines = self._tables.lines[key] = tuple([
                self._row_lines(group, row, ranges, env, along, copies, per_thread=per_thread)
                for row in _separate_rows(group, ranges, self.line_bytes)
            ])  # fmt: skip
        return lines

    def _irregular_lines(self, group: ReferenceGroup, ranges: Ranges) -> tuple[GroupLines, ...]:
        """Returns the lines that random accesses touch. Results are cached."""
        key = (group.index, self.threads, tuple(ranges.items()))
        lines = self._tables.irregular.get(key)
        if lines is None:
            rows = _separate_rows(group, ranges, self.line_bytes)
            lines = tuple([self._random_row_lines(group, ranges, row) for row in rows])
            self._tables.irregular[key] = lines
        return lines

    def _row_lines(
        self, group: ReferenceGroup, row: Row, ranges: Ranges, env: Env,
        along: Sequence[TeamLevel], copies: float, *, per_thread: bool,
    ) -> GroupLines:  # fmt: skip
        """Returns the lines of one row of a group with affine addresses. `along` are the thread
        levels along which the address moves.
        """
        offsets, stored = row
        separate_levels: list[Level] = []
        steps: dict[str, float] = {}
        origin = low = high = 0.0
        slanted = False
        for name, slope in group.slopes.items():
            chain_ranges = ranges.get(name)
            if chain_ranges is None:
                origin += slope * env[name]
                continue
            origin += slope * chain_ranges.first
            stride = slope * chain_ranges.step
            moving = not chain_ranges.depends.isdisjoint(group.slopes)
            slanted = slanted or moving
            steps[name] = chain_ranges.trips if moving else chain_ranges.extent
            if stride > 0:
                high += stride * (chain_ranges.extent - 1)
            else:
                low += stride * (chain_ranges.extent - 1)
        for name in steps:
            _widen_triangle(name, group.slopes, ranges, steps)
        levels = [(group.slopes[name] * ranges[name].step, steps[name]) for name in steps]
        own = tuple(levels)
        # Thread levels are added after `separate_close_strides`: the distance between threads is a
        # mean value and no multiple of a row.
        levels = separate_close_strides(levels, group.element, self.line_bytes)
        for team in along:
            level = (self._address_shift(group, team) * team.distance, team.threads)
            if per_thread and team.variable in ranges:
                copies *= team.threads
            else:
                levels.append(level)
            separate_levels.append(level)
        touched = copies * self._lattice_lines(group, levels, offsets)
        written = touched if stored == offsets else 0.0
        if stored and not written:
            written = copies * self._lattice_lines(group, levels, stored)
        return GroupLines(
            touched, written, origin + low + offsets[0],
            origin + high + offsets[-1] + group.element, tuple(separate_levels), own,
            offsets, origin, slanted,
            tuple(sorted([abs(s) for s, steps in own if steps > 1], reverse=True)),
        )  # fmt: skip

    def _lattice_lines(
        self, group: ReferenceGroup, levels: Sequence[Level], offsets: tuple[float, ...]
    ) -> float:
        """Returns the number of lines of a lattice of addresses.

        Offsets are rounded to lines if the array starts on a line and each stride is a multiple of
        the line size.
        """
        line = float(self.line_bytes)
        if group.aligned and all(slope % line == 0 for slope in group.slopes.values()):
            begins = tuple(sorted({offset // line * line for offset in offsets}))
            return lattice_lines(levels, begins, line, line)
        return lattice_lines(levels, offsets, group.element, line)

    def _random_row_lines(self, group: ReferenceGroup, ranges: Ranges, row: Row) -> GroupLines:
        """Returns the lines that random accesses to one row of struct members touch at least
        once.
        """
        offsets, stored = row
        number = 1.0 if group.private else self.threads
        number *= lattice_lines((), offsets, group.element, self.line_bytes)
        for name, chain_ranges in ranges.items():
            if name not in group.still:
                number *= max(0.0, chain_ranges.trips)
        lines = float(max(1.0, group.extent / self.line_bytes))
        touched = lines * -math.expm1(-number / lines) * (self.threads if group.private else 1.0)
        written = touched if stored else 0.0
        return GroupLines(touched, written, 0.0, group.extent, (), (), (0.0,), 0.0)


def _sorted_by_group(counted: Volume, groups: Groups) -> Volume:
    """Returns the lines in the order of the groups, because sums of doubles depend on the order."""
    return {group.array: counted[group.array] for group in groups if group.array in counted}


def _widen_triangle(
    name: str, slopes: Mapping[str, float], ranges: Ranges, steps: dict[str, float]
) -> None:
    """Changes `steps` for a triangular iteration space: the wider stride gets its full extent, and
    the narrower stride gets its mean number of steps.

    For example, `a[j][i]` with j starting at i touches all rows j, each in half of the columns i.
    """
    chain_ranges = ranges[name]
    around = [other for other in chain_ranges.depends if other in steps]
    if len(around) != 1 or chain_ranges.trips >= chain_ranges.extent:
        return
    other = ranges[around[0]]
    if abs(slopes[name] * chain_ranges.step) > abs(slopes[around[0]] * other.step):
        steps[around[0]] = steps[around[0]] * (chain_ranges.trips / chain_ranges.extent)
        steps[name] = chain_ranges.extent


def _separate_rows(group: ReferenceGroup, ranges: Ranges, line_bytes: int) -> list[Row]:
    """Splits the offsets of a group into rows whose addresses do not interleave, such as
    `y[k-1][i]` and `y[k][i]`.
    """
    offsets, written = group.offsets, set(group.written)
    moving = [name for name in group.slopes if name in ranges]
    reach = sum(abs(group.slopes[name]) * max(0.0, ranges[name].extent - 1) for name in moving)
    parts: list[list[float]] = []
    for offset, before in zip(offsets, (-math.inf, *offsets), strict=False):
        if offset - before > reach + line_bytes:
            parts.append([])
        parts[-1].append(offset)
    return [(tuple(part), tuple([o for o in part if o in written])) for part in parts]
