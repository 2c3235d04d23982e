"""The positions of the threads that share a cache, as levels of the lattice of a reference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from regionpredict.workload.constants import ROUNDING
from regionpredict.workload.thread_nest import ColumnSpacing, TeamSpacing


class TeamLevel(NamedTuple):
    """Threads along one parallel loop. There are `threads` of them. The distance of neighbors is
    `distance` units of the loop's variable.

    `row` restricts this to iterations of the loop over this variable that start in its middle.
    """

    variable: str
    distance: float
    threads: float
    row: str = ""


def team_levels(spacings: Sequence[TeamSpacing], threads: float) -> tuple[TeamLevel, ...]:
    """The positions of `threads` neighboring threads along the shared loops."""
    left = threads
    levels = []
    for spacing in spacings:
        along = min(left, -(-spacing.most // 1))
        if along > 1:
            levels.append(TeamLevel(spacing.variable, spacing.distance, along))
            left /= along
    return tuple(levels)


def column_levels(columns: Sequence[ColumnSpacing], threads: float) -> tuple[TeamLevel, ...]:
    """The positions of `threads` neighboring threads if each has several rows.

    Threads within one row are adjacent. Other threads are distributed over the whole row. The
    number of positions is the number of threads before the first position repeats.
    """
    levels = []
    for column in columns:
        along, distance = threads, column.turn * column.length
        if abs(column.turn) * threads > 1:
            along = next(
                filter(partial(_is_back_at_start, column.turn), range(2, int(threads))), threads
            )
            distance = column.length / along
        if along > 1:
            levels.append(TeamLevel(column.variable, distance, along, column.row))
    return tuple(levels)


def _is_back_at_start(turn: float, threads: int) -> bool:
    """Whether the thread after this many threads is at the position of the first one."""
    revolutions = threads * turn
    return abs(revolutions - round(revolutions)) < ROUNDING.value
