"""Converts ranks within communicators, as traces record them, to world ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.event_trace import NONE, Communicator, Location, Operations


def world_ranks(
    operations: Operations,
    starts: NDArray[np.int64],
    locations: tuple[Location, ...],
    communicators: tuple[Communicator, ...],
    world: int,
) -> int:
    """Replaces `partner` and `root` by ranks in MPI_COMM_WORLD, in place. `world` is the number of
    ranks in MPI_COMM_WORLD.

    Returns the number of invalid ranks, which are too large for their communicator. A communicator
    with the members () is MPI_COMM_SELF. The partner in an inter-communicator is a member of the
    other group.
    """
    if all(
        communicator.members is None or communicator.members == tuple(range(world))
        for communicator in communicators
    ) and not np.any(operations.partner >= world):
        return 0
    unknown = 0
    ranks = np.array([location.rank for location in locations], dtype=np.int32)
    own = ranks[np.searchsorted(starts, operations.event, side="right") - 1]
    for number, communicator in enumerate(communicators):
        rows = np.flatnonzero(operations.communicator == number)
        for column in (operations.partner, operations.root):
            unknown += _replace_by_world_ranks(column, rows, own, communicator)
    return unknown


def _replace_by_world_ranks(
    column: NDArray[np.int32],
    rows: NDArray[np.intp],
    own: NDArray[np.int32],
    communicator: Communicator,
) -> int:
    rows = rows[column[rows] >= 0]
    if not len(rows) or communicator.members is None:
        return 0
    if communicator.members == () and communicator.remote is None:
        column[rows] = own[rows]
        return 0
    if communicator.remote is None:
        return _replace_by_members(column, rows, communicator.members)
    inside = np.isin(own[rows], communicator.members)
    return _replace_by_members(column, rows[inside], communicator.remote) + _replace_by_members(
        column, rows[~inside], communicator.members
    )


def _replace_by_members(
    column: NDArray[np.int32], rows: NDArray[np.intp], members: tuple[int, ...]
) -> int:
    table = np.array((*members, NONE), dtype=np.int32)
    at = np.minimum(column[rows], len(members))
    column[rows] = table[at]
    return int(np.count_nonzero(at == len(members)))
