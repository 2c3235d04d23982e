"""What a recorded graph says of a program's explicit tasks, in the words of its definition."""

from __future__ import annotations

from program_definitions import Tree

from regionpredict.tasks import TaskGraph
from regionpredict.tasks.task_graph import CREATE, DEPENDENCE, JOINED, SERIAL, TASK


def explicit(graph: TaskGraph) -> set[int]:
    return set(graph.tasks[graph.node_kinds == TASK].tolist())


def edges(graph: TaskGraph, kind: int) -> list[tuple[int, int]]:
    """Edges of a kind between nodes."""
    chosen = graph.edge_kinds == kind
    return list(zip(graph.sources[chosen].tolist(), graph.targets[chosen].tolist(), strict=True))


def creations(graph: TaskGraph) -> dict[int, list[int]]:
    """The explicit tasks that each task created, in order."""
    tasks = explicit(graph)
    made: dict[int, list[tuple[int, int]]] = {}
    for source, target in edges(graph, CREATE):
        child = int(graph.tasks[target])
        if child in tasks:
            made.setdefault(int(graph.tasks[source]), []).append((source, child))
    return {parent: [child for _, child in sorted(rows)] for parent, rows in made.items()}


def forest(graph: TaskGraph) -> Tree:
    """The trees of the tasks that no explicit task created."""
    made, tasks = creations(graph), explicit(graph)

    def tree(task: int) -> Tree:
        return tuple(tree(child) for child in made.get(task, []))

    roots = [child for parent in made if parent not in tasks for child in made[parent]]
    return tuple(tree(root) for root in roots)


def joins(graph: TaskGraph) -> list[tuple[int, int]]:
    """(task, task that waits for it; -1 for a barrier or the end of the parallel region), one for
    each explicit task, sorted."""
    tasks = explicit(graph)
    return sorted(
        (
            int(graph.tasks[source]),
            -1 if graph.node_kinds[target] == SERIAL else int(graph.tasks[target]),
        )
        for source, target in edges(graph, JOINED)
        if int(graph.tasks[source]) in tasks
    )


def depending(graph: TaskGraph) -> list[tuple[int, int]]:
    """Dependences between tasks by their place in the order of creation, sorted."""
    place = {
        child: at for at, child in enumerate(c for row in creations(graph).values() for c in row)
    }
    return sorted(
        (place[int(graph.tasks[source])], place[int(graph.tasks[target])])
        for source, target in edges(graph, DEPENDENCE)
    )
