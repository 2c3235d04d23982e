"""The positions of the threads that share a cache, as levels of the lattice of a reference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from regionpredict.workload.constants import ROUNDING
from regionpredict.workload.thread_nest import ColumnSpacing, TeamSpacing


class TeamLevel(NamedTuple):
    """The positions of `threads` threads along one parallel loop. The distance of
    neighboring threads is `distance`, in units of the loop's `variable`.

    `row`, if given, is the variable of the divided outer loop in whose rows threads start at
    different columns.
    """

    variable: str
    distance: float
    threads: float
    row: str = ""


def team_levels(spacings: Sequence[TeamSpacing], threads: float) -> tuple[TeamLevel, ...]:
    """Returns the positions of `threads` neighboring threads along the parallel loops."""
    left = threads
    levels = []
    for spacing in spacings:
        along = min(left, -(-spacing.most // 1))
        if along > 1:
            levels.append(TeamLevel(spacing.variable, spacing.distance, along))
            left /= along
    return tuple(levels)


def column_levels(columns: Sequence[ColumnSpacing], threads: float) -> tuple[TeamLevel, ...]:
    """Returns the columns of `threads` neighboring threads if each thread executes several rows.

    If all threads are within one row, they are neighbors in it. Otherwise their columns are spread
    evenly over the row, up to the first column that repeats.
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
    """Whether the thread number `threads` has the same column as thread 0."""
    revolutions = threads * turn
    return abs(revolutions - round(revolutions)) < ROUNDING.value
