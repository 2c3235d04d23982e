"""Synchronization points: the events at which one location may wait for another.

The rules are those of Boehme 2014, sections 2.4 and 4.3.2. Where the text leaves something
undefined, they follow the reference implementation (Scalasca 2.6).
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
    """Columns with one row per point.

    `event` is the row of its event. `location` and `node` are its location and call path. `wait` is
    the waiting time of its location, `total` the time in the region around it, and `completion` the
    part of that after the operation could have ended. All are in ticks. `kind` is its `Wait`, or
    NO_WAIT. `cause` is the late point, or the first thread's point at a fork, and -1 without a
    wait. `partner` is the rank that it synchronizes with, or -1 for a group, whose number is
    `group`. OpenMP's points have neither. `members` of a late point in a collective operation is
    the group of its whole communicator.
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
    """All points in the order of `event`: location by location, in order of time.

    `cause` is the row of the late point. `groups` are the ranks of each group that `group` and
    `members` refer to.
    """

    groups: tuple[NDArray[np.int32], ...]
    findings: tuple[Finding, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.event)


@dataclass(frozen=True, slots=True)
class PointRows(PointColumns):
    """Points of one kind, before they are merged into `SyncPoints`. `cause` is the event
    at the late point, for which the others wait.
    """


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
    """Columns of equal length from columns and numbers."""
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
    """All points in the order of the trace's events, with causes as rows.

    If two points have the same event, the waiting one counts. If both or none wait, the one from
    the earlier part counts.
    """

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    event = joined("event")
    order = np.lexsort((joined("wait") <= 0, event))
    event = event[order]
    first = np.ones(len(event), dtype=bool)
    first[1:] = event[1:] != event[:-1]
    order = order[first]
    # Column by column, since all at once would need twice the memory.
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
