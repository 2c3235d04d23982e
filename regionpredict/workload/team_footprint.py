"""Counts the distinct cache lines of each array that the threads of one cache touch together.

The distance between neighboring threads is the number of iterations of one thread. For a
reference that moves with the loop, the threads are another level of its lattice. A line that
neighbors share counts once, and so do common data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from regionpredict.workload.constants import ENUMERATED_GROUP, MOST_BLOCKS, ROUNDING
from regionpredict.workload.counted_work import count_footprint
from regionpredict.workload.enumerated_lines import (
    Part,
    Walk,
    distinct_lines,
    mean_of_blocks,
    path_of,
)
from regionpredict.workload.footprint_tables import (
    Chain,
    FootprintKey,
    FootprintTables,
    Meeting,
    Positions,
    RangesOf,
    Row,
    TeamKey,
)
from regionpredict.workload.joined_groups import (
    AlikeArrays,
    Groups,
    alike_arrays,
)
from regionpredict.workload.line_lattice import lattice_lines, rows_overlap, unskewed
from regionpredict.workload.line_overlap import GroupLines, Level, Lines, Volume, union_of
from regionpredict.workload.loop_nest import (
    Cut,
    Env,
    NestLoop,
    ReferenceGroup,
    moved_with,
)
from regionpredict.workload.loop_ranges import Ranges, loop_ranges
from regionpredict.workload.team_levels import TeamLevel, column_levels, team_levels
from regionpredict.workload.thread_nest import DistributedNest

_index = attrgetter("index")


class TeamFootprints:
    """The footprints of `threads` neighboring threads that share a cache, in a distributed nest."""

    def __init__(
        self, dealt: DistributedNest, threads: float, line_bytes: int, tables: FootprintTables
    ) -> None:
        self.nest = dealt.nest
        self.threads = threads
        self.dealt_to = dealt.threads
        self.line_bytes = line_bytes
        self.pieces = dealt.lengths
        self.in_step = dealt.in_step
        self.team = team_levels(dealt.spacings, threads)
        self.columns = column_levels(dealt.columns, threads)
        self._lengths = tuple(dealt.lengths.values())
        self._tables = tables
        self._key: TeamKey | None = None
        self._all_bytes: float | None = None

    @property
    def key(self) -> TeamKey:
        """Everything that the threads' accesses in inner loops depend on. If threads are far from
        each other, the footprints are the same for any number of threads.
        """
        if self._key is None:
            far = not self.columns and self._are_far_apart()
            self._key = (self.threads, len(self.team) if far else self.team + self.columns)
        return self._key

    def _are_far_apart(self) -> bool:
        """Whether no two threads can share a line while each stays in its iteration."""
        if not self.team:
            return True
        moving = {group.array for group in self.nest.groups() if self._moves(group)}
        chains: dict[int, Ranges] = {}
        for group in self.nest.groups():
            if group.irregular or group.private or group.array not in moving:
                continue
            if not self._moves(group):
                return False
            inner = group.loops[-1].index
            ranges = chains.get(inner)
            if ranges is None:
                ranges = chains[inner] = loop_ranges(group.loops, {}, self.pieces)
            for team in self.team:
                distance = abs(self._moved(group, team) * team.distance)
                spread = 2 * (group.offsets[-1] - group.offsets[0])
                reach = self.line_bytes + group.element + spread
                for name, slope in group.slopes.items():
                    stride = abs(slope * ranges[name].step)
                    if name != team.variable and stride < distance:
                        reach += stride * (ranges[name].extent - 1)
                if distance <= reach:
                    return False
        return True

    def _moves(self, group: ReferenceGroup) -> bool:
        return any(self._moved(group, team) for team in self.team)

    def _moved(self, group: ReferenceGroup, team: TeamLevel) -> float:
        """The distance of a group's addresses between neighboring threads, in bytes per unit of a
        variable.
        """
        asked = (group.index, team.variable)
        moved = self._tables.moved.get(asked)
        if moved is None:
            moved = self._tables.moved[asked] = moved_with(group, team.variable)
        return moved

    def footprint(
        self,
        loops: Sequence[NestLoop],
        env: Env,
        groups: Groups,
        *,
        per_thread: bool = False,
        cut: Cut | None = None,
    ) -> Volume:
        """The distinct lines, by array, that `groups` touch during one execution of `loops` and the
        loops inside.

        `cut` is the executed part of the loop. There is then only one loop. In a triangle, threads
        at different positions touch similar lines. Neighbors touch the same lines at their edges,
        but at different times. `per_thread` counts these lines for each thread.
        """
        asked, positions, active = self._query_key(
            loops, env, groups, per_thread=per_thread, cut=cut
        )
        volume = self._tables.volumes.get(asked)
        if volume is None:
            alike = self._have_equal_keys(positions, groups)
            counted = self._count(alike, active, env, per_thread=per_thread, cut=cut)
            volume = self._tables.volumes[asked] = _in_order(counted, groups)
        return volume

    def _query_key(
        self, loops: Sequence[NestLoop], env: Env, groups: Groups, *, per_thread: bool,
        cut: Cut | None,
    ) -> tuple[FootprintKey, Positions, Positions]:  # fmt: skip
        """The key of a footprint, its groups, and its active loops."""
        active = tuple(map(_index, loops))
        whole = bool(loops) and loops[0].parallel
        positions = tuple(map(_index, groups))
        asked = (
            (self.threads, self.team + self.columns) if whole else self.key, active, cut,
            self._lengths if whole else (), positions, tuple(env.values()), per_thread,
        )  # fmt: skip
        return asked, positions, active

    def _have_equal_keys(self, positions: Positions, groups: Groups) -> list[AlikeArrays]:
        alike = self._tables.alike.get(positions)
        if alike is None:
            alike = self._tables.alike[positions] = alike_arrays(groups, self._tables.bounds)
        return alike

    def bytes(
        self, loops: Sequence[NestLoop], env: Env, groups: Groups, cut: Cut | None = None
    ) -> float:
        """The size of the footprint in bytes."""
        return self._bytes(self.footprint(loops, env, groups, cut=cut))

    def _bytes(self, volume: Volume) -> float:
        return self.line_bytes * sum(lines.touched for lines in volume.values())

    def exceeds(self, loops: Sequence[NestLoop], env: Env, groups: Groups, capacity: float) -> bool:
        """Whether the footprint is larger than a capacity.

        Arrays are counted only until they exceed it. Arrays that were the largest before are
        counted first.
        """
        asked, positions, active = self._query_key(loops, env, groups, per_thread=False, cut=None)
        volume = self._tables.volumes.get(asked)
        if volume is None:
            # The order of a sum changes its last digits.
            enough = capacity / self.line_bytes * (1.0 + ROUNDING.value)
            if self._tables.least.get(asked, 0.0) > enough:
                return True
            alike = self._have_equal_keys(positions, groups)
            counted: Volume = {}
            for at, arrays in enumerate(alike):
                counted |= self._count([arrays], active, env, per_thread=False, cut=None)
                least = sum(lines.touched for lines in counted.values())
                if least > enough:
                    self._tables.least[asked] = least
                    alike.insert(0, alike.pop(at))
                    return True
            volume = self._tables.volumes[asked] = _in_order(counted, groups)
        return self._bytes(volume) > capacity

    def part(self, group: ReferenceGroup, offsets: tuple[float, ...]) -> ReferenceGroup:
        """A group that contains only some of its references. Its number is less than those of all
        groups.
        """
        asked = (group.index, offsets)
        part = self._tables.parts.get(asked)
        if part is None:
            written = tuple([offset for offset in group.written if offset in offsets])
            index = ~len(self._tables.parts)
            part = replace(group, index=index, offsets=offsets, written=written)
            self._tables.parts[asked] = part
        return part

    def all_bytes(self) -> float:
        """The bytes that the threads touch in the whole region."""
        if self._all_bytes is None:
            root = self.nest.root
            self._all_bytes = self.bytes((root,), {}, root.groups_below)
        return self._all_bytes

    def _count(
        self, alike: Sequence[AlikeArrays], active: Positions, env: Env, *, per_thread: bool,
        cut: Cut | None,
    ) -> Volume:  # fmt: skip
        counted: Volume = {}
        ranges: dict[Positions, RangesOf] = {}
        for arrays, own in alike:
            known = self._enumerated_lines(own, active, ranges, env, per_thread, cut)
            if known is not None:
                counted.update(dict.fromkeys(arrays, known))
                continue
            parts: tuple[GroupLines, ...] = ()
            for group in own:
                chain = self._chain(group, active)
                spanned = ranges.get(chain.positions)
                if spanned is None:
                    spanned = ranges[chain.positions] = self._ranges_of(chain, env, cut)
                parts += self._lines_of(group, spanned, env, per_thread)
            if parts:
                counted.update(dict.fromkeys(arrays, self._union(parts)))
        return counted

    def _enumerated_lines(
        self, groups: Sequence[ReferenceGroup], active: Positions,
        ranges: dict[Positions, RangesOf], env: Env, per_thread: bool, cut: Cut | None,
    ) -> Lines | None:  # fmt: skip
        """The enumerated lines of an array whose closed form is only an estimate.

        None if enumeration is not needed or not possible. The closed form may be exact, there may
        be too many runs, and accesses may be random. Threads may be at drifting positions, only
        some groups may exist once per thread, or enumeration may take too long.
        """
        count_footprint()
        if self._tables.work.closed:
            return None
        met = self._meeting(groups, active)
        if met.irregular:
            return None
        # Threads that drift apart in a triangle work only part of the time.
        if self.dealt_to > 1 and met.drifting:
            return None
        around = {name: env[name] for name in met.names if name in env}
        aligned = not around and met.aligned
        within, chains = met.within, met.chains
        walks: list[Walk] = []
        copies: set[float] = set()
        for group, chain in zip(groups, chains, strict=True):
            spanned = ranges.get(chain.positions)
            if spanned is None:
                spanned = ranges[chain.positions] = self._ranges_of(chain, env, cut)
            along, own = self._levels_along(group, spanned.ranges, per_thread)
            shared_levels: list[Level] = []
            for team in along:
                if per_thread and team.variable in spanned.ranges:
                    own *= team.threads
                else:
                    shared_levels.append((self._moved(group, team) * team.distance, team.threads))
            if not within:
                inside = [
                    (slope * range_.step, range_.extent)
                    for name, slope in group.slopes.items()
                    if (range_ := spanned.ranges.get(name)) is not None
                ]
                within = rows_overlap([*inside, *shared_levels], group.element, self.line_bytes)
            copies.add(own)
            walks.append(Walk(group, chain.path, tuple(shared_levels)))
        if not within:
            return None
        if len(copies) > 1:
            return None
        (each,) = copies
        blocks: tuple[tuple[int, int], ...] = ()
        if cut in (None, (0.0, 1.0)) and each in (1.0, self.threads):
            blocks = self._blocks(chains, groups, round(self.threads / each))
        cutting = blocks or self._lengths
        asked = (
            tuple((walk.group.index, walk.group.offsets, walk.group.written) for walk in walks),
            () if blocks else tuple(walk.team for walk in walks),
            tuple(chain.positions for chain in chains), tuple(around.items()), cutting, cut,
        )  # fmt: skip
        table = self._tables.gone_through
        lines = table.get(asked)
        if lines is None and asked not in table:
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
            table[asked] = lines
        if lines is None:
            return None
        return lines.times(each)

    def _meeting(self, groups: Sequence[ReferenceGroup], active: Positions) -> Meeting:
        """The properties of an array's groups that depend on neither position nor threads."""
        asked = (tuple(map(_index, groups)), active)
        met = self._tables.meetings.get(asked)
        if met is None:
            chains = tuple([self._chain(group, active) for group in groups])
            names = {name for group in groups for name in group.slopes}
            names |= {name for chain in chains for loop in chain.loops for name in loop.depends}
            met = self._tables.meetings[asked] = Meeting(
                chains, tuple(sorted(names)), any(group.irregular for group in groups),
                any(group.drifts for group in groups), all(group.aligned for group in groups),
                len(groups) > 1 or any(chain.depends for chain in chains),
            )  # fmt: skip
        return met

    def _blocks(
        self, chains: Sequence[Chain], groups: Sequence[ReferenceGroup], each: int
    ) -> tuple[tuple[int, int], ...]:
        """The (first iteration, iterations) of the outermost loop for `each` neighboring threads.
        Empty if these are not whole rows of iterations.
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
        # Neighboring caches. If only some threads work, any neighbors.
        begins = range(0, team - each + 1, each if team % each == 0 else 1)
        return tuple((edges[at], edges[at + each] - edges[at]) for at in begins)

    def _levels_along(
        self, group: ReferenceGroup, ranges: Ranges, per_thread: bool
    ) -> tuple[tuple[TeamLevel, ...], float]:
        """The levels of threads along the group's address, and the number of copies of its data."""
        if group.private or (group.drifts and (per_thread or not group.drifts <= ranges.keys())):
            return (), self.threads
        if not self.team or group.drifts:
            return (), 1.0
        along = tuple([team for team in self.team if self._moved(group, team)])
        return along or self._in_columns(group, ranges, per_thread), 1.0

    def _in_columns(
        self, group: ReferenceGroup, ranges: Ranges, per_thread: bool
    ) -> tuple[TeamLevel, ...]:
        """The threads along a group that moves with a shared loop inside the divided one. They are
        at different columns of their rows. Each traverses all columns, at a different time.
        """
        for column in self.columns:
            if column.row in ranges or (column.variable in ranges and not per_thread):
                continue
            if self._moved(group, column):
                return (column,)
        return ()

    def _chain(self, group: ReferenceGroup, active: Positions) -> Chain:
        """The group's loops, starting at the first active one."""
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

    def _union(self, parts: tuple[GroupLines, ...]) -> Lines:
        if len(parts) == 1:
            return Lines(parts[0].touched, parts[0].written)
        union = self._tables.unions.get(parts)
        if union is None:
            union = self._tables.unions[parts] = union_of(parts, self.line_bytes)
        return union

    def _ranges_of(self, chain: Chain, env: Env, cut: Cut | None) -> RangesOf:
        """The ranges of loops. They are cached by everything that affects them."""
        around = tuple(env.items()) if chain.depends else ()
        cutting = () if self.pieces.keys().isdisjoint(chain.positions) else self._lengths
        asked = (chain.positions, around, cutting, cut)
        spanned = self._tables.ranges.get(asked)
        if spanned is None:
            ranges = loop_ranges(chain.loops, env, self.pieces, cut)
            run = all(range_.trips > 0 for range_ in ranges.values())
            spanned = self._tables.ranges[asked] = RangesOf(ranges, run)
        return spanned

    def _lines_of(
        self, group: ReferenceGroup, spanned: RangesOf, env: Env, per_thread: bool
    ) -> tuple[GroupLines, ...]:
        """The lines of the group's rows. Zero if an outer loop does not run."""
        ranges = spanned.ranges
        if group.irregular:
            return self._lines_of_irregular(group, ranges)
        if not spanned.run:
            return ()
        slopes = group.slopes
        along, copies = self._levels_along(group, ranges, per_thread)
        asked = (
            group.index, group.offsets, group.written,
            tuple([ranges[name] if name in ranges else env[name] for name in slopes]),
            along, copies, bool(along) and per_thread,
        )  # fmt: skip
        lines = self._tables.lines.get(asked)
        if lines is None:
            self._tables.work.count(1.0)
            lines = self._tables.lines[asked] = tuple([
                self._lattice(group, row, ranges, env, along, copies, per_thread=per_thread)
                for row in _separate_rows(group, ranges, self.line_bytes)
            ])  # fmt: skip
        return lines

    def _lines_of_irregular(self, group: ReferenceGroup, ranges: Ranges) -> tuple[GroupLines, ...]:
        """The lines of random accesses. They are cached by everything that affects them."""
        asked = (group.index, self.threads, tuple(ranges.items()))
        lines = self._tables.irregular.get(asked)
        if lines is None:
            rows = _separate_rows(group, ranges, self.line_bytes)
            lines = tuple([self._random_lines(group, ranges, row) for row in rows])
            self._tables.irregular[asked] = lines
        return lines

    def _lattice(
        self, group: ReferenceGroup, row: Row, ranges: Ranges, env: Env,
        along: Sequence[TeamLevel], copies: float, *, per_thread: bool,
    ) -> GroupLines:  # fmt: skip
        """The lines of a row of an affine group with active loops. Threads are `along` its
        address.
        """
        offsets, stored = row
        separate_levels: list[Level] = []
        steps: dict[str, float] = {}
        origin = low = high = 0.0
        slanted = False
        for name, slope in group.slopes.items():
            spanned = ranges.get(name)
            if spanned is None:
                origin += slope * env[name]
                continue
            origin += slope * spanned.first
            stride = slope * spanned.step
            moving = not spanned.depends.isdisjoint(group.slopes)
            slanted = slanted or moving
            steps[name] = spanned.trips if moving else spanned.extent
            if stride > 0:
                high += stride * (spanned.extent - 1)
            else:
                low += stride * (spanned.extent - 1)
        for name in steps:
            _widen(name, group.slopes, ranges, steps)
        levels = [(group.slopes[name] * ranges[name].step, steps[name]) for name in steps]
        own = tuple(levels)
        # Pieces are whole iterations, but the distance of threads is the mean, so it does not
        # coincide with rows.
        levels = unskewed(levels, group.element, self.line_bytes)
        for team in along:
            level = (self._moved(group, team) * team.distance, team.threads)
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
        """The lines of a lattice. If its array starts on a line and each step is a multiple of the
        line size (such as structs of 128 B), it is known which members share a line.
        """
        line = float(self.line_bytes)
        if group.aligned and all(slope % line == 0 for slope in group.slopes.values()):
            begins = tuple(sorted({offset // line * line for offset in offsets}))
            return lattice_lines(levels, begins, line, line)
        return lattice_lines(levels, offsets, group.element, line)

    def _random_lines(self, group: ReferenceGroup, ranges: Ranges, row: Row) -> GroupLines:
        """The lines that random accesses touch at least once, for members that are adjacent in an
        element.
        """
        offsets, stored = row
        number = 1.0 if group.private else self.threads
        number *= lattice_lines((), offsets, group.element, self.line_bytes)
        for name, spanned in ranges.items():
            if name not in group.still:
                number *= max(0.0, spanned.trips)
        lines = float(max(1.0, group.extent / self.line_bytes))
        touched = lines * -math.expm1(-number / lines) * (self.threads if group.private else 1.0)
        written = touched if stored else 0.0
        return GroupLines(touched, written, 0.0, group.extent, (), (), (0.0,), 0.0)


def _in_order(counted: Volume, groups: Groups) -> Volume:
    """The lines in the order of the groups, since sums of doubles depend on the order."""
    return {group.array: counted[group.array] for group in groups if group.array in counted}


def _widen(name: str, slopes: Mapping[str, float], ranges: Ranges, steps: dict[str, float]) -> None:
    """Counts a triangle by its wider stride. All columns count, each with the mean length.

    For example, `a[j][i]` with j starting at i touches all rows j, each in half of the columns i.
    """
    spanned = ranges[name]
    around = [other for other in spanned.depends if other in steps]
    if len(around) != 1 or spanned.trips >= spanned.extent:
        return
    other = ranges[around[0]]
    if abs(slopes[name] * spanned.step) > abs(slopes[around[0]] * other.step):
        steps[around[0]] = steps[around[0]] * (spanned.trips / spanned.extent)
        steps[name] = spanned.extent


def _separate_rows(group: ReferenceGroup, ranges: Ranges, line_bytes: int) -> list[Row]:
    """Splits the group into parts whose addresses do not interleave: `y[k-1][i]` and `y[k][i]`."""
    offsets, written = group.offsets, set(group.written)
    moving = [name for name in group.slopes if name in ranges]
    reach = sum(abs(group.slopes[name]) * max(0.0, ranges[name].extent - 1) for name in moving)
    parts: list[list[float]] = []
    for offset, before in zip(offsets, (-math.inf, *offsets), strict=False):
        if offset - before > reach + line_bytes:
            parts.append([])
        parts[-1].append(offset)
    return [(tuple(part), tuple([o for o in part if o in written])) for part in parts]
