"""Computes delay costs and the critical path of a trace from its synchronization points."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.trace.call_paths import CallPaths
from regionpredict.trace.columns import release_file_memory
from regionpredict.trace.event_trace import EventTrace
from regionpredict.trace.kernels import Kernels, c_struct
from regionpredict.trace.mpi_regions import Call, call_of
from regionpredict.trace.sync_points import SyncPoints
from regionpredict.trace.wait_classes import CAUSED, Wait


@dataclass(frozen=True, slots=True)
class CostReplay:
    """The delay costs and the critical path of a trace, in ticks.

    `short_term` and `long_term` are costs by wait state, location and node (Boehme 2014, section
    4.2.5). `explained` is the part of each point's wait with a known cause, and `indirect` the part
    caused by earlier waits. `propagating` is the part that causes later waits, and
    `propagating_messages` the part that causes later late senders and receivers. `lost` are costs
    of waits without a cause, and `left_out` costs of waits that the reference tool does not assign.
    `unordered` is the number of waits whose times contradict the messages. `path` is the time on
    the critical path by location and node. The `segment_` columns are the segments of the critical
    path in order.
    """

    short_term: NDArray[np.float64]
    long_term: NDArray[np.float64]
    explained: NDArray[np.float64]
    indirect: NDArray[np.float64]
    propagating: NDArray[np.float64]
    propagating_messages: NDArray[np.float64]
    lost: float
    left_out: float
    unordered: int
    path: NDArray[np.int64]
    segment_location: NDArray[np.int32]
    segment_from: NDArray[np.int64]
    segment_to: NDArray[np.int64]


_RESULTS = (
    "short_term",
    "long_term",
    "explained",
    "indirect",
    "propagating",
    "propagating_messages",
    "path",
)
_MOST_POINTS = 1 << 30  # the kernel's counters have 32 bits, also for twice as many lists
_SEGMENTS = ("segment_from", "segment_to", "segment_location")


_REST = ctypes.CFUNCTYPE(None)


def cost_replay(
    trace: EventTrace, paths: CallPaths, points: SyncPoints, kernels: Kernels
) -> CostReplay:
    """Computes delay costs and the critical path by a backward replay of the synchronization
    points. Raises InputError if memory is insufficient.
    """
    locations, nodes, count = len(trace.locations), len(paths.parent), len(points)
    if count > _MOST_POINTS:
        raise InputError(
            "there are more than 2^30 synchronisation points", remedy="filter the trace",
            path=trace.name,
        )  # fmt: skip
    results: dict[str, NDArray[Any]] = {
        "short_term": np.zeros((len(CAUSED), locations, nodes)),
        "long_term": np.zeros((len(CAUSED), locations, nodes)),
        "explained": np.zeros(count),
        "indirect": np.zeros(count),
        "propagating": np.zeros(count),
        "propagating_messages": np.zeros(count),
        "path": np.zeros((locations, nodes), dtype=np.int64),
        "segment_from": np.empty(count + 2, dtype=np.int64),
        "segment_to": np.empty(count + 2, dtype=np.int64),
        "segment_location": np.empty(count + 2, dtype=np.int32),
    }
    table = _kernel_table(trace, paths, points, results)
    begins = _possible_starts_of_path(trace, paths, points)
    library = kernels.load("delays.c")
    if locations and library.rp_replay(ctypes.byref(table), begins.ctypes.data_as(ctypes.c_void_p)):
        raise InputError("not enough memory", remedy="filter the trace", path=trace.name)
    pieces = int(table.segments)
    return CostReplay(
        **{name: results[name] for name in _RESULTS},
        **{name: results[name][:pieces][::-1].copy() for name in _SEGMENTS},
        lost=float(table.lost),
        left_out=float(table.left_out),
        unordered=int(table.unordered),
    )


def last_synchronization(
    trace: EventTrace,
    paths: CallPaths,
    points: SyncPoints,
    kernels: Kernels,
    event: NDArray[np.int64],
    partner: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Returns for each event the last point at which its location synchronized with the rank
    `partner`, or with its OpenMP threads if `partner` is -1. The result is -1 if there is none. The
    events (rows) must be in ascending order.
    """
    table = _kernel_table(trace, paths, points, dict.fromkeys((*_RESULTS, *_SEGMENTS)))
    last = np.full(len(event), -1, dtype=np.int64)
    event, partner = np.ascontiguousarray(event), np.ascontiguousarray(partner, dtype=np.int32)
    arguments = (ctypes.c_void_p(column.ctypes.data) for column in (event, partner, last))
    library = kernels.load("delays.c")
    if library.rp_last_met(ctypes.byref(table), ctypes.c_int64(len(event)), *arguments):
        raise InputError("not enough memory", remedy="filter the trace", path=trace.name)
    return last


def _kernel_table(
    trace: EventTrace, paths: CallPaths, points: SyncPoints,
    results: Mapping[str, NDArray[Any] | None],
) -> Any:  # fmt: skip
    """Returns the columns that the C functions read, and the `results` that they write."""
    sizes = [len(group) for group in points.groups]
    rank = np.array([place.rank for place in trace.locations], dtype=np.int32)
    columns: dict[str, NDArray[Any]] = {
        "starts": trace.starts,
        "time": trace.time,
        "kind": trace.kind,
        "event_node": paths.event_node,
        "parent": paths.parent,
        "rank": rank,
        "first": np.searchsorted(points.event, trace.starts).astype(np.int64),
        "event": points.event,
        "wait": points.wait,
        "total": points.total,
        "completion": points.completion,
        "cause": points.cause,
        "location": points.location,
        "node": points.node,
        "partner": points.partner,
        "group": points.group,
        "members": points.members,
        "wait_kind": points.kind,
        "is_team": points.is_team.view(np.uint8),
        "group_first": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        "group_members": np.concatenate([np.zeros(0, np.int32), *points.groups]).astype(np.int32),
    }
    end, end_location = _end_of_path(trace, points)
    return c_struct(
        locations=len(trace.locations), nodes=len(paths.parent), points=len(points),
        ranks=max((place.rank for place in trace.locations), default=-1) + 1,
        groups=len(points.groups),
        **{name: np.ascontiguousarray(column) for name, column in columns.items()},
        end=end, end_location=end_location, **results, segments=0, lost=0.0, left_out=0.0,
        unordered=0, rest=_REST(release_file_memory),
    )  # fmt: skip


def _end_of_path(trace: EventTrace, points: SyncPoints) -> tuple[int, int]:
    """Returns the end of the critical path as a synchronization point and a location. It is the
    last entry into MPI_Finalize, or without MPI_Finalize the last event.
    """
    ends = np.flatnonzero((points.kind == Wait.WAIT_FINALIZE) & (points.wait == 0))
    if len(ends):
        return int(ends[0]), 0
    last = [
        int(trace.time[stop - 1]) if stop > start else -1
        for start, stop in zip(trace.starts[:-1], trace.starts[1:], strict=True)
    ]
    return -1, int(np.argmax(last)) if last else 0


def _possible_starts_of_path(
    trace: EventTrace, paths: CallPaths, points: SyncPoints
) -> NDArray[np.uint8]:
    """Returns a mask of the points at the end of MPI_Init, where the critical path can begin."""
    calls = np.array(
        [call_of(region.name) for region in trace.regions] or [Call.OTHER], dtype=np.uint8
    )
    if not len(points):
        return np.zeros(0, dtype=np.uint8)
    at_init = calls[paths.region[points.node]] == Call.INIT
    begins: NDArray[np.uint8] = at_init.astype(np.uint8)
    return begins
