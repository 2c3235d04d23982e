"""Restricts a nest to the iterations that a schedule assigns to one thread.

A single piece per thread is a section of the parallel loops. Cyclic chunks (Chen, Chang and Yew
1990, cyclic and block-cyclic distributions) are strip-mined into a loop over rounds and a loop over
the chunk. Reuse between rounds is then carried by the outer loop.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload.iteration_pieces import piece_length
from regionpredict.workload.loop_nest import (
    Affine,
    Form,
    LoopHeader,
    LoopNest,
    NestLoop,
    ReferenceGroup,
    SubstitutedForm,
    in_source_order,
    with_contents,
)


class TeamSpacing(NamedTuple):
    """The positions of threads along one loop. Neighboring threads differ by `distance` units of
    the loop's `variable`, and at most `most` threads fit along the loop.
    """

    variable: str
    distance: float
    most: float


class ColumnSpacing(NamedTuple):
    """The positions of threads along an inner parallel loop that each thread executes completely,
    if threads start in the middle of a row.

    `row` is the variable of the divided outer loop. Each thread is ahead of the previous thread by
    `turn` (-1/2 to 1/2) times the `length` of the row, modulo the length.
    """

    row: str
    variable: str
    turn: float
    length: float


@dataclass(frozen=True, slots=True)
class DistributedNest:
    """The nest with the iterations of one of `threads` threads.

    `lengths` gives the iterations of one thread, by the index of the divided loop. `spacings` gives
    the positions of neighboring threads, innermost loop first. `columns` gives positions within
    rows, if each thread has several rows. `in_step` says that neighboring threads touch a common
    line at about the same time, so that it is loaded once.
    """

    nest: LoopNest
    threads: int
    lengths: Mapping[int, float]
    spacings: tuple[TeamSpacing, ...]
    in_step: bool
    columns: tuple[ColumnSpacing, ...] = ()

    @property
    def iterations(self) -> float:
        """The mean number of iterations of the parallel loops per thread."""
        total, env = 1.0, dict[str, float]()
        for loop in self.nest.parallel:
            begin, trips = loop.section_of(env, self.lengths.get(loop.index), None)
            total *= trips
            env[loop.variable] = begin + loop.step * max(0.0, trips - 1) / 2
        return total


def undivided_nest(nest: LoopNest) -> DistributedNest:
    """Returns the nest on one thread, which does not depend on the schedule."""
    return DistributedNest(nest, 1, {}, (), in_step=False)


def distribute_nest(
    nest: LoopNest, threads: int, schedule: Schedule, *, shares_cache: bool = False
) -> DistributedNest:
    """Returns the nest with the iterations that `schedule` assigns to one thread. The number of
    threads is reduced to the number of pieces.

    With `shares_cache`, the nest represents all threads that share a cache.
    """
    trips = parallel_trips(nest)
    total = max(1.0, math.prod(trips))
    threads = int(min(threads, total))
    own = piece_length(total, threads, schedule)
    threads = int(min(threads, -(-total // own)))
    if threads == 1:
        return undivided_nest(nest)
    # Chunks of non-rectangular loops are approximated by one piece per thread.
    square = all(isinstance(loop.first, Affine) and not loop.depends for loop in nest.parallel)
    chunked = schedule.chunk is not None and schedule.kind != "guided"
    in_rounds = square and chunked and own * threads < total
    cut, length = _divided_loop(trips, own if in_rounds else total / threads)
    loops = nest.parallel[: cut + 1]
    lengths = {loop.index: 1.0 for loop in loops} | {loops[cut].index: length}
    spacings = tuple(
        TeamSpacing(loop.variable, lengths[loop.index] * loop.step, trips[at] / lengths[loop.index])
        for at, loop in reversed(list(enumerate(loops)))
    )
    if not in_rounds:
        columns = _column_spacings(nest, trips, cut, total / threads) if square else ()
        return DistributedNest(nest, threads, lengths, spacings, in_step=False, columns=columns)
    distributed = DistributedNest(nest, threads, lengths, spacings, in_step=True)
    return _with_rounds(distributed, trips, cut, shares_cache=shares_cache)


def parallel_trips(nest: LoopNest) -> tuple[float, ...]:
    """Returns the trip count of each parallel loop, with outer variables in the middle of their
    ranges.
    """
    trips, env = [], dict[str, float]()
    for loop in nest.parallel:
        trips.append(loop.trips(env))
        env[loop.variable] = loop.middle_value(env)
    return tuple(trips)


def _divided_loop(trips: Sequence[float], own: float) -> tuple[int, float]:
    """Returns the position of the loop that `own` consecutive collapsed iterations divide, and the
    number of iterations of this loop per piece.
    """
    inside = [max(1.0, math.prod(trips[at + 1 :])) for at in range(len(trips))]
    cut = next(at for at, number in enumerate(inside) if own >= number)
    return cut, own / inside[cut]


def _column_spacings(
    nest: LoopNest, trips: Sequence[float], cut: int, own: float
) -> tuple[ColumnSpacing, ...]:
    """Returns the offsets of the next thread in the parallel loops inside the divided loop, if
    `own` iterations are not whole rows. Offsets below half a column are ignored as rounding.
    """
    row, columns = nest.parallel[cut].variable, []
    for at in range(cut + 1, len(trips)):
        turn = _row_fraction(own / max(1.0, math.prod(trips[at:])))
        if round(abs(turn) * trips[at]):
            loop = nest.parallel[at]
            columns.append(ColumnSpacing(row, loop.variable, turn, trips[at] * loop.step))
    return tuple(columns)


def _row_fraction(rows: float) -> float:
    """Returns the fraction of a row beyond the nearest whole number of rows, from -1/2 to 1/2.

    >>> _row_fraction(15.25), _row_fraction(2.875), _row_fraction(3.0)
    (0.25, -0.125, 0.0)
    """
    return rows - round(rows)


def _with_rounds(
    distributed: DistributedNest, trips: Sequence[float], cut: int, *, shares_cache: bool
) -> DistributedNest:
    """Strip-mines the loop that a round of chunks divides into a loop over rounds and a loop over
    the chunk.

    If a row is not a multiple of a round, a thread gets different columns in the next row. All
    threads `shares_cache` always cover all columns.
    """
    nest = distributed.nest
    at, covered = cut, distributed.threads * distributed.lengths[nest.parallel[cut].index]
    while at > 0 and covered >= trips[at]:
        covered /= trips[at]
        at -= 1
    loop = nest.parallel[at]
    length = distributed.lengths[loop.index]
    drift: dict[str, float] = {}
    if at > 0 and not shares_cache and (left := math.remainder(trips[at], covered)):
        row = nest.parallel[at - 1]
        drift[row.variable] = -left * loop.step / row.step
    rounds = _StripMining(loop, trips[at] / covered, covered, length, len(nest.loops), drift)
    inner = {loop.variable for loop in nest.parallel[at + 1 :]}
    kept = tuple(spacing for spacing in distributed.spacings if spacing.variable in inner)
    lengths = {
        cut_loop.index: distributed.lengths[cut_loop.index]
        for cut_loop in nest.parallel[at + 1 : cut + 1]
    }
    root = rounds.nest_loop(nest.root)
    shared, number = [root], len(nest.parallel) + (length > 1)
    while len(shared) < number:
        shared.append(shared[-1].children[0])
    along = TeamSpacing(loop.variable, length / covered, covered / length)
    return DistributedNest(
        LoopNest(tuple(in_source_order(root)), tuple(shared), nest.assumed, nest.unbound),
        distributed.threads, lengths, (*kept, along), in_step=True,
    )  # fmt: skip


class _StripMining:
    """Strip-mines one loop of a nest into a loop over rounds and, for chunks of several iterations,
    a loop over the chunk.
    """

    def __init__(
        self, loop: LoopHeader, rounds: float, covered: float, length: float, index: int,
        drift: Mapping[str, float],
    ) -> None:  # fmt: skip
        """`drift` is the change of the first iteration per iteration of each outer loop."""
        assert isinstance(loop.first, Affine)
        self.loop = loop
        self.length = length
        self._moved: dict[int, LoopHeader] = {}
        self.chunk = f"{loop.variable} in a chunk"
        # The middle thread represents all threads.
        offset = loop.step * (covered - length) / 2
        steps = {loop.variable: loop.step * covered, **drift}
        if length > 1:
            steps[self.chunk] = float(loop.step)
        self.value = Affine(loop.first.constant + offset, steps)
        # Columns wrap around at the end of a row, so bounds do not depend on the drift.
        inside = {name: step for name, step in steps.items() if name not in drift}
        self.in_row = Affine(self.value.constant, inside)
        nothing = frozenset[str]()
        self.round_header = replace(
            _header_of_loop(loop), first=Affine(0.0, {}), limit=Affine(rounds, {}), step=1,
            parallel=False, depends=nothing,
        )  # fmt: skip
        self.chunk_header = replace(
            self.round_header, index=index, variable=self.chunk, limit=Affine(length, {})
        )

    def nest_loop(self, loop: NestLoop) -> NestLoop:
        """Returns the transformed loop with its contents."""
        children = tuple(map(self.nest_loop, loop.children))
        groups = tuple(map(self._group, loop.groups))
        if loop.index != self.loop.index:
            return with_contents(self._outer_header(loop), children, groups, loop.statements)
        if self.length <= 1:
            return with_contents(self.round_header, children, groups, loop.statements)
        chunk = with_contents(self.chunk_header, children, groups, loop.statements)
        return with_contents(self.round_header, (chunk,), (), ())

    def _outer_header(self, loop: LoopHeader) -> LoopHeader:
        """Returns the transformed header of a loop that is not strip-mined. Headers are cached,
        because many groups share them.
        """
        moved = self._moved.get(loop.index)
        if moved is None:
            names = loop.depends
            if self.loop.variable in names:
                names = names - {self.loop.variable} | self.value.names
            moved = self._moved[loop.index] = replace(
                _header_of_loop(loop), first=self._strip_mined_form(loop.first),
                limit=self._strip_mined_form(loop.limit),
                depends=names,
            )  # fmt: skip
        return moved

    def _strip_mined_form(self, form: Form | None) -> Form | None:
        if form is None or self.loop.variable not in form.names:
            return form
        if isinstance(form, Affine):
            constant, slopes = self._replaced_slopes(form.slopes)
            return Affine(form.constant + constant, slopes)
        return SubstitutedForm(form, self.loop.variable, self.in_row)

    def _replaced_slopes(self, slopes: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        """Returns the change of an address's constant and its new slopes after the strip-mined
        variable is replaced.
        """
        slope = slopes.get(self.loop.variable, 0.0)
        if not slope:
            return 0.0, dict(slopes)
        moved = {name: each for name, each in slopes.items() if name != self.loop.variable}
        for name, step in self.value.slopes.items():
            moved[name] = moved.get(name, 0.0) + slope * step
        return slope * self.value.constant, moved

    def _group(self, group: ReferenceGroup) -> ReferenceGroup:
        constant, slopes = self._replaced_slopes(group.slopes)
        chain: list[LoopHeader] = []
        for loop in group.loops:
            if loop.index != self.loop.index:
                chain.append(self._outer_header(loop))
            else:
                chain.append(self.round_header)
                if self.length > 1:
                    chain.append(self.chunk_header)
        return replace(
            group, slopes=slopes, loops=tuple(chain),
            offsets=tuple(offset + constant for offset in group.offsets),
            written=tuple(offset + constant for offset in group.written),
            places=tuple(offset + constant for offset in group.places),
        )  # fmt: skip


def _header_of_loop(loop: LoopHeader) -> LoopHeader:
    """Returns the header of a loop without its contents."""
    return LoopHeader(
        loop.index, loop.variable, loop.first, loop.limit, loop.step, loop.parallel, loop.depends,
        loop.line, loop.counted, loop.conditional, loop.unordered,
        share=loop.share,
        held=loop.held,
        work=loop.work,
    )  # fmt: skip
