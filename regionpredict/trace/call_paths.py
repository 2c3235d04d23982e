"""Computes the call tree of a trace: the call path of each event, and the time in each call
path.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.trace.columns import empty_column
from regionpredict.trace.event_trace import EventTrace, Kind, Paradigm, Region, Role
from regionpredict.trace.kernels import Kernels, c_struct
from regionpredict.trace.mpi_regions import Call, call_of

_FEW_NODES = 256
_MOST_NODES = 1 << 22
_TOO_MANY_NODES = -1


@dataclass(frozen=True, slots=True)
class CallPaths:
    """The nodes of the call tree, parents before children, with their times, events and operations.

    `parent` and `region` define the nodes. `operation_node`, `_enter` and `_leave` are the node of
    each operation and the rows of the events that enter and leave it (-1: outside any region).
    `exclusive` has the exclusive ticks and `visits` the number of entries, both with shape
    locations x nodes. The `mark_` columns are the instances of regions that synchronize (MPI_Init,
    MPI_Finalize, OpenMP's barriers and parallel regions), in the order of their ends. `event_node`
    is the node that each ENTER or LEAVE event enters or leaves.
    """

    parent: NDArray[np.int32]
    region: NDArray[np.int32]
    operation_node: NDArray[np.int32]
    operation_enter: NDArray[np.int64]
    operation_leave: NDArray[np.int64]
    exclusive: NDArray[np.int64]
    visits: NDArray[np.int64]
    mark_enter: NDArray[np.int64]
    mark_leave: NDArray[np.int64]
    mark_node: NDArray[np.int32]
    event_node: NDArray[np.int32]

    def inclusive(self) -> NDArray[np.int64]:
        """Returns the inclusive ticks of each node, with shape locations x nodes."""
        total = self.exclusive.copy()
        for node in range(len(self.parent) - 1, -1, -1):
            if self.parent[node] >= 0:
                total[:, self.parent[node]] += total[:, node]
        return total


def nodes_after(trace: EventTrace, paths: CallPaths) -> NDArray[np.int32]:
    """Returns for each event the node in which its location is until the next event, or -1."""
    node = paths.event_node.astype(np.int32)
    parent = np.append(paths.parent, np.int32(-1))
    after = np.where(trace.kind == Kind.LEAVE, parent[node], node)
    known = (trace.kind == Kind.ENTER) | (trace.kind == Kind.LEAVE)
    known[trace.starts[:-1][np.diff(trace.starts) > 0]] = True
    last = np.maximum.accumulate(np.where(known, np.arange(len(trace)), 0))
    return np.asarray(after[last], dtype=np.int32)


def path_names(paths: CallPaths, regions: tuple[Region, ...]) -> tuple[str, ...]:
    """Returns the call path of each node as text, such as `main/solve/MPI_Recv`. The name of the
    program is omitted in the paths of other nodes.
    """
    names: list[str] = []
    for node, number in enumerate(paths.region):
        parent = int(paths.parent[node])
        text = regions[int(number)].name
        above = parent >= 0 and regions[int(paths.region[parent])].role is not Role.PROGRAM
        names.append(f"{names[parent]}/{text}" if above else text)
    return tuple(names)


def path_sources(
    paths: CallPaths, names: tuple[str, ...], regions: tuple[Region, ...]
) -> dict[str, str]:
    """Returns `file:line` of each call path's region, or of the closest enclosing region with a
    known line.
    """
    sources: list[str] = []
    for node, number in enumerate(paths.region):
        region, parent = regions[int(number)], int(paths.parent[node])
        if region.file and region.line:
            sources.append(f"{region.file}:{region.line}")
        else:
            sources.append(sources[parent] if parent >= 0 else "")
    return {name: source for name, source in zip(names, sources, strict=True) if source}


def synchronises_locations(region: Region) -> bool:
    """Returns whether instances of the region are recorded in the `mark_` columns, since threads or
    ranks synchronize in them.
    """
    if region.paradigm is Paradigm.OPENMP:
        return region.role in (Role.BARRIER, Role.IMPLICIT_BARRIER, Role.PARALLEL)
    return region.paradigm is Paradigm.MPI and call_of(region.name) in (Call.INIT, Call.FINALIZE)


def call_paths(trace: EventTrace, kernels: Kernels) -> CallPaths:
    """Computes the call paths of all locations. Raises InputError if the call tree has too many
    nodes.
    """
    library = kernels.load("call_paths.c")
    library.rp_call_paths.restype = ctypes.c_int64
    locations, operations, events = len(trace.locations), len(trace.operations), len(trace)
    rank = np.array([location.rank for location in trace.locations], dtype=np.int32)
    marked = np.array([synchronises_locations(region) for region in trace.regions], dtype=np.uint8)
    most_marks = _count_of_marks(trace, marked)
    nodes = _FEW_NODES
    while True:
        arrays: dict[str, NDArray[Any]] = {
            "parent": np.empty(nodes, dtype=np.int32),
            "node_region": np.empty(nodes, dtype=np.int32),
            "operation_node": empty_column(operations, np.int32, events),
            "operation_enter": empty_column(operations, np.int64, events),
            "operation_leave": empty_column(operations, np.int64, events),
            "exclusive": np.zeros((locations, nodes), dtype=np.int64),
            "visits": np.zeros((locations, nodes), dtype=np.int64),
            "mark_enter": np.empty(most_marks, dtype=np.int64),
            "mark_leave": np.empty(most_marks, dtype=np.int64),
            "mark_node": np.empty(most_marks, dtype=np.int32),
            "event_node": empty_column(events, np.int32, events),
        }
        table = c_struct(
            locations=locations, regions=len(trace.regions), starts=trace.starts, time=trace.time,
            kind=trace.kind, region=trace.region, rank=rank, marked=marked, operations=operations,
            operation_event=trace.operations.event, nodes=nodes, **arrays, marks=0,
        )  # fmt: skip
        count = library.rp_call_paths(ctypes.byref(table))
        if count >= 0:
            break
        nodes *= 4
        if count != _TOO_MANY_NODES or nodes > _MOST_NODES:
            raise InputError(
                "the call tree is too large", remedy="record fewer regions", path=trace.name
            )
    marks = int(table.marks)
    return CallPaths(
        parent=arrays["parent"][:count].copy(),
        region=arrays["node_region"][:count].copy(),
        operation_node=arrays["operation_node"],
        operation_enter=arrays["operation_enter"],
        operation_leave=arrays["operation_leave"],
        exclusive=np.ascontiguousarray(arrays["exclusive"][:, :count]),
        visits=np.ascontiguousarray(arrays["visits"][:, :count]),
        mark_enter=arrays["mark_enter"][:marks].copy(),
        mark_leave=arrays["mark_leave"][:marks].copy(),
        mark_node=arrays["mark_node"][:marks].copy(),
        event_node=arrays["event_node"],
    )


def _count_of_marks(trace: EventTrace, marked: NDArray[np.uint8]) -> int:
    """An upper bound of the number of instances of marked regions."""
    if not np.any(marked):
        return 0
    counted = np.append(marked, np.uint8(0))  # the last entry is for events without a region
    return int(np.count_nonzero(counted[trace.region]))
