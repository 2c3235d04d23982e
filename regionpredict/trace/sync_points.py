"""Synchronisation points: the events at which one location may wait for another.

The rules are those of Boehme 2014, sections 2.4 and 4.3.2, as the reference implementation
(Scalasca 2.6) applies them where the text leaves something open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.columns import gathered
from regionpredict.trace.event_trace import Finding
from regionpredict.trace.wait_classes import NO_WAIT

NOBODY = -1


@dataclass(frozen=True, slots=True)
class PointColumns:
    """A row each point.

    `event` is the row of the event it belongs to; `location` and `node` say where it is. `wait`
    is what its location waits there, `total` the time in the region around it, `completion` the
    part of that after the operation could have ended, all in ticks. `kind` is the `Wait` that
    this is, or NO_WAIT; `cause` tells the point that was late, or the first thread's at a fork;
    -1 where nobody waits.
    `partner` is the rank it synchronises with, -1 where it is a group: then `group` is its number.
    OpenMP's points, which bind a team, have neither. `members` of a point that was late in a
    collective operation is the group of its whole communicator.
    """

    event: NDArray[np.int64]
    location: NDArray[np.int32]
    node: NDArray[np.int32]
    wait: NDArray[np.int64]
    total: NDArray[np.int64]
    completion: NDArray[np.int64]
    kind: NDArray[np.uint8]
    cause: NDArray[np.int64]
    partner: NDArray[np.int32]
    group: NDArray[np.int32]
    members: NDArray[np.int32]
    is_team: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SyncPoints(PointColumns):
    """All points in the order of `event`: location after location, in order of time.

    `cause` is the row of the late point; `groups` are those that `group` and `members` count, each
    the ranks of one.
    """

    groups: tuple[NDArray[np.int32], ...]
    findings: tuple[Finding, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.event)


@dataclass(frozen=True, slots=True)
class PointRows(PointColumns):
    """Points of one kind on their way to `SyncPoints`; `cause` is the event of the late point."""


def point_rows(
    event: NDArray[np.int64],
    location: NDArray[np.int32],
    node: NDArray[np.int32],
    total: NDArray[np.int64],
    wait: NDArray[np.int64] | int = 0,
    completion: NDArray[np.int64] | int = 0,
    kind: NDArray[np.uint8] | int = NO_WAIT,
    cause: NDArray[np.int64] | int = NOBODY,
    partner: NDArray[np.int32] | int = NOBODY,
    group: NDArray[np.int32] | int = NOBODY,
    members: NDArray[np.int32] | int = NOBODY,
    is_team: bool = False,
) -> PointRows:
    """Columns of one length from columns and numbers."""
    count = len(event)

    def column(values: object, kind_of: type) -> NDArray[np.generic]:
        return np.broadcast_to(np.asarray(values, dtype=kind_of), (count,))

    return PointRows(
        event,
        location,
        node,
        column(wait, np.int64),  # type: ignore[arg-type]
        column(total, np.int64),  # type: ignore[arg-type]
        column(completion, np.int64),  # type: ignore[arg-type]
        column(kind, np.uint8),  # type: ignore[arg-type]
        column(cause, np.int64),  # type: ignore[arg-type]
        column(partner, np.int32),  # type: ignore[arg-type]
        column(group, np.int32),  # type: ignore[arg-type]
        column(members, np.int32),  # type: ignore[arg-type]
        column(is_team, np.bool_),  # type: ignore[arg-type]
    )


def sorted_points(
    parts: Sequence[PointRows],
    groups: Sequence[NDArray[np.int32]],
    findings: Sequence[Finding],
    events: int = 0,
) -> SyncPoints:
    """All points, of a trace of so many events, in the order of these, with causes as rows.

    Of two points at one event the one that waits counts, then the earlier part.
    """

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    event = joined("event")
    order = np.lexsort((joined("wait") <= 0, event))
    event = event[order]
    first = np.ones(len(event), dtype=bool)
    first[1:] = event[1:] != event[:-1]
    order = order[first]
    # One column after the other, since all of them at once would take as much memory again.
    kept: dict[str, NDArray[Any]] = {
        column.name: gathered([getattr(part, column.name) for part in parts], order, events)
        for column in fields(PointRows)
    }
    event, late = kept["event"], kept["cause"]
    rows = np.searchsorted(event, late)
    is_there = (late >= 0) & (rows < len(event))
    is_there[is_there] = event[rows[is_there]] == late[is_there]
    late[:] = np.where(is_there & ((kept["wait"] > 0) | kept["is_team"]), rows, NOBODY)
    return SyncPoints(**kept, groups=tuple(groups), findings=tuple(findings))
