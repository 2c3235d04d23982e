"""Builds a task graph from named nodes, as in files of other programs, with or without times."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping

from regionpredict.errors import InputError
from regionpredict.tasks.task_graph import TaskGraph, graph_of_tasks

NO_TIMES = "the file has no times: each task counts as 1 s, so times are numbers of tasks"


def named_graph(
    times: Mapping[str, float | None], edges: Iterable[tuple[str, str]], labels: Mapping[str, str],
    path: str, remedy: str,
) -> TaskGraph:  # fmt: skip
    """Creates a task graph with these times in seconds. If no node has a time, each node takes 1 s,
    and the graph has a note about this.

    A node is named by its label. If several nodes have the same label, their names are appended.
    Raises InputError if only some nodes have a time, or if there is a cycle.
    """
    if not times:
        raise InputError("a graph without nodes", remedy=remedy, path=path)
    unknown = [name for name, seconds in times.items() if seconds is None]
    if unknown and len(unknown) < len(times):
        raise InputError(f"node '{unknown[0]}' has no time", remedy=remedy, path=path)
    often = Counter(labels.values())
    names = []
    for name in times:
        label = " ".join(labels.get(name, "").split())
        names.append(name if not label else label if often[label] == 1 else f"{label} ({name})")
    numbers = {name: number for number, name in enumerate(times)}
    pairs = [(numbers[source], numbers[target]) for source, target in edges]
    seconds = [1.0 if value is None else value for value in times.values()]
    try:
        graph = graph_of_tasks(seconds, pairs, names)
    except InputError as error:
        raise InputError(error.message, remedy=error.remedy, path=path) from None
    return dataclasses.replace(graph, notes=(NO_TIMES,)) if unknown else graph
