"""Reads and writes task graphs in JSON, schema `regionpredict/task-graph/1`."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np

from regionpredict.errors import InputError
from regionpredict.json_records import Record, json_record
from regionpredict.tasks.iteration_range import IterationRange
from regionpredict.tasks.task_graph import (
    EDGE_KINDS,
    LONGEST_S,
    NODE_KINDS,
    IntArray,
    TaskGraph,
    graph_of_tasks,
    names_in_order,
)

SCHEMA = "regionpredict/task-graph/1"
WHAT = "a task graph"
_REMEDY = (
    'write {"nodes": [{"id": "a", "seconds": 7}, ...], "edges": [{"source": "a", "target": "b"}]}'
)


def json_graph(text: str, path: str) -> TaskGraph:
    """Reads a task graph in JSON. Raises InputError with the invalid key.

    A node has `id` and `seconds`, and optionally `kind`, `task`, `place` and `iterations`. An edge
    has `source`, `target`, and optionally `kind`.
    """
    record = json_record(text, WHAT, path, _REMEDY)
    nodes = list(record.inner_records("nodes"))
    if not nodes:
        raise InputError("a graph without nodes", remedy=_REMEDY, path=path)
    numbers: dict[str, int] = {}
    for node in nodes:
        name = _parse_id(node, "id")
        if name in numbers:
            raise node.error("id", f"is '{name}' a second time")
        numbers[name] = len(numbers)
    kinds: dict[tuple[int, int], int] = {}
    for edge in record.inner_records("edges"):
        ends = []
        for key in ("source", "target"):
            name = _parse_id(edge, key)
            if name not in numbers:
                raise edge.error(key, f"is '{name}', which is not a node")
            ends.append(numbers[name])
        kinds[ends[0], ends[1]] = _parse_choice(edge, "kind", EDGE_KINDS)
    seconds = [node.number("seconds") for node in nodes]
    try:
        graph = graph_of_tasks(seconds, list(kinds), list(numbers))
    except InputError as error:
        raise InputError(error.message, remedy=error.remedy, path=path) from None
    places: dict[str, int] = {}
    lines = [
        places.setdefault(node.text("place"), len(places)) if "place" in node.value else -1
        for node in nodes
    ]
    return dataclasses.replace(
        graph,
        node_kinds=np.array([_parse_choice(n, "kind", NODE_KINDS) for n in nodes], dtype=np.uint8),
        tasks=_task_numbers(nodes),
        lines=np.array(lines, dtype=np.int64),
        places=names_in_order(places),
        edge_kinds=np.array(list(kinds.values()), dtype=np.uint8),
        serial_s=record.number("serial_s", most=LONGEST_S) if "serial_s" in record.value else 0.0,
        iterations=np.array([_parse_iterations(node) for node in nodes], dtype=np.int64),
    )


def _parse_iterations(node: Record) -> tuple[int, ...]:
    """Returns the fields of a node's iteration range. A node without iterations has the total 0."""
    if "iterations" not in node.value:
        return (0, 0, 0, 0, 0)
    known = node.inner("iterations")
    total = known.whole("total", 1)
    given = IterationRange(
        known.whole("first"), total, known.whole("run", 1) if "run" in known.value else total,
        known.whole("stride") if "stride" in known.value else 0,
        known.whole("step", -(1 << 63)) if "step" in known.value else 1,
    )  # fmt: skip
    return tuple(given)


def _parse_id(record: Record, key: str) -> str:
    value = record.part(key)
    return str(value) if type(value) is int else record.text(key)


def _parse_choice(record: Record, key: str, known: tuple[str, ...]) -> int:
    if key not in record.value:
        return 0
    text = record.text(key)
    if text not in known:
        raise record.error(key, f"is '{text}'; it must be one of {', '.join(known)}")
    return known.index(text)


def _task_numbers(nodes: list[Record]) -> IntArray:
    """Returns the task of each node. A node without `task` is a separate task. Task numbers that
    are not below the number of nodes are replaced by free numbers.
    """
    given = [n.whole("task") if "task" in n.value else number for number, n in enumerate(nodes)]
    low = {task for task in given if task < len(nodes)}
    free = (number for number in range(len(nodes)) if number not in low)
    numbers = {task: next(free) for task in sorted(set(given) - low)} | {task: task for task in low}
    return np.array([numbers[task] for task in given], dtype=np.int64)


def json_text(graph: TaskGraph) -> str:
    """Writes the graph in JSON. `json_graph` reads it back, except for notes and hardware
    counters.
    """
    names = graph.names or tuple(map(str, range(graph.nodes)))
    nodes: list[dict[str, Any]] = []
    for name, seconds, kind, task, line in zip(
        names, graph.seconds.tolist(), graph.node_kinds.tolist(), graph.tasks.tolist(),
        graph.lines.tolist(), strict=True,
    ):  # fmt: skip
        node: dict[str, Any] = {"id": name, "seconds": seconds, "kind": NODE_KINDS[kind]}
        if task >= 0:
            node["task"] = task
        if line >= 0:
            node["place"] = graph.places[line]
        known = graph.iterations_of(len(nodes))
        if known is not None:
            node["iterations"] = known._asdict()
        nodes.append(node)
    for node, row in zip(nodes, graph.counted.tolist(), strict=False):
        node["counters"] = dict(zip(graph.counters, row, strict=True))
    edges = [
        {"source": names[source], "target": names[target], "kind": EDGE_KINDS[kind]}
        for source, target, kind in zip(
            graph.sources.tolist(), graph.targets.tolist(), graph.edge_kinds.tolist(), strict=True
        )
    ]
    document = {"schema": SCHEMA, "nodes": nodes, "edges": edges, "serial_s": graph.serial_s}
    return json.dumps(document) + "\n"
