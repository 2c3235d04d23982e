"""Defines synchronization points: the events at which one location may wait for another.

The rules are those of Boehme 2014, sections 2.4 and 4.3.2. Where the text leaves something
undefined, they follow the reference implementation (Scalasca 2.6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.columns import gather_rows
from regionpredict.trace.event_trace import Finding
from regionpredict.trace.wait_classes import NO_WAIT

NO_POINT = -1


@dataclass(frozen=True, slots=True)
class PointColumns:
    """The properties of synchronization points, as columns with one row per point.

    `event` is the row of the point's event. `location` and `node` are its location and call path.
    `wait` is the waiting time of the location, and `total` the time in the region around the event.
    `completion` is the part of `total` after the operation could have ended. Times are in ticks.
    `kind` is the `Wait`, or NO_WAIT. `cause` is the late point, or the first thread's point at a
    fork, and -1 without a wait. `partner` is the rank with which the location synchronizes. For a
    group of ranks it is -1, and `group` is the number of the group. OpenMP's points have neither.
    `members` of a late point in a collective operation is the group of its whole communicator.
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
    """All synchronization points of a trace in the order of `event`: location by location, in order
    of time.

    `cause` is the row of the late point. `groups` are the ranks of each group that `group` and
    `members` refer to.
    """

    groups: tuple[NDArray[np.int32], ...]
    findings: tuple[Finding, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.event)


@dataclass(frozen=True, slots=True)
class PointRows(PointColumns):
    """Synchronization points before they are merged into `SyncPoints`. `cause` is the event of the
    late point, for which others wait.
    """


def point_rows(
    event: NDArray[np.int64],
    location: NDArray[np.int32],
    node: NDArray[np.int32],
    total: NDArray[np.int64],
    wait: NDArray[np.int64] | int = 0,
    completion: NDArray[np.int64] | int = 0,
    kind: NDArray[np.uint8] | int = NO_WAIT,
    cause: NDArray[np.int64] | int = NO_POINT,
    partner: NDArray[np.int32] | int = NO_POINT,
    group: NDArray[np.int32] | int = NO_POINT,
    members: NDArray[np.int32] | int = NO_POINT,
    is_team: bool = False,
) -> PointRows:
    """Creates points from columns. A number is expanded to a column of equal values."""
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
    """Merges points in the order of the trace's events, and converts causes to rows of points.

    If two points have the same event, the waiting point is kept. If both or none wait, the point
    from the earlier part is kept.
    """

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    event = joined("event")
    order = np.lexsort((joined("wait") <= 0, event))
    event = event[order]
    first = np.ones(len(event), dtype=bool)
    first[1:] = event[1:] != event[:-1]
    order = order[first]
    # Columns are sorted one by one, since sorting all at once would need twice the memory.
    kept: dict[str, NDArray[Any]] = {
        column.name: gather_rows([getattr(part, column.name) for part in parts], order, events)
        for column in fields(PointRows)
    }
    event, late = kept["event"], kept["cause"]
    rows = np.searchsorted(event, late)
    is_there = (late >= 0) & (rows < len(event))
    is_there[is_there] = event[rows[is_there]] == late[is_there]
    late[:] = np.where(is_there & ((kept["wait"] > 0) | kept["is_team"]), rows, NO_POINT)
    return SyncPoints(**kept, groups=tuple(groups), findings=tuple(findings))
