"""Changes of task graphs: by hand, by brute force over small graphs, and as the commands show."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from regionpredict.tasks import TaskGraph, graph_of_tasks, measure_graph, simulate
from regionpredict.tasks.json_file import json_graph
from regionpredict.tasks.what_if import cut_off, possible_changes, split_node, task_levels

SCHEMA = Path(__file__).parents[2] / "regionpredict" / "report" / "schemas" / "task-times-1.json"


def tree(depth: int, seconds: float = 1.0) -> str:
    """A binary tree of tasks: each creates two, waits for both and works before and behind."""
    nodes: list[dict] = []
    edges: list[dict] = []

    def edge(source: int, target: int, kind: str) -> None:
        edges.append({"source": source, "target": target, "kind": kind})

    def piece(task: int) -> int:
        nodes.append({"id": len(nodes), "seconds": seconds, "task": task, "place": "t.c:3",
                      "kind": "task" if task else "implicit"})  # fmt: skip
        return len(nodes) - 1

    tasks = iter(range(1, 1000))

    def grow(task: int, left: int) -> tuple[int, int]:
        first = last = piece(task)
        ends = []
        if left:
            for _ in range(2):
                child, end = grow(next(tasks), left - 1)
                edge(last, child, "create")
                ends.append(end)
                last, before = piece(task), last
                edge(before, last, "continue")
            for end in ends:
                edge(end, last, "join")
        return first, last

    grow(0, depth)
    return json.dumps({"nodes": nodes, "edges": edges})


def deepest(seconds: list[float], edges: list[tuple[int, int]]) -> float:
    ends = [0.0] * len(seconds)
    for node in range(len(seconds)):  # edges lead to larger numbers
        before = max((ends[a] for a, b in edges if b == node), default=0.0)
        ends[node] = before + seconds[node]
    return max(ends)


@pytest.mark.parametrize("seed", range(10))
def test_a_split_node_is_two_of_half_its_time(seed):
    draw = random.Random(seed)
    count = draw.randint(2, 12)
    seconds = [float(draw.randint(1, 9)) for _ in range(count)]
    edges = [(a, b) for a in range(count) for b in range(a + 1, count) if draw.random() < 0.3]
    graph = graph_of_tasks(seconds, edges)
    node = draw.randrange(count)
    halved = [s / 2 if k == node else s for k, s in enumerate(seconds)]
    metrics = measure_graph(split_node(graph, node), concurrency=False)
    assert metrics.work_s == sum(seconds)
    assert metrics.depth_s == deepest(halved, edges)
    assert metrics.tasks == count + 1
    three = split_node(graph, node, 3)
    assert three.nodes == count + 2
    assert measure_graph(three, concurrency=False).work_s == pytest.approx(sum(seconds))


def test_levels_of_tasks_are_how_many_they_are_in():
    graph = json_graph(tree(3), "g")
    level = task_levels(graph)
    counts = [len(np.unique(graph.tasks[level == at])) for at in range(4)]
    assert counts == [1, 2, 4, 8]


@pytest.mark.parametrize("depth", [1, 2])
def test_a_cut_off_runs_deeper_tasks_where_they_are_created(depth):
    graph = json_graph(tree(3), "g")
    cut = cut_off(graph, task_levels(graph), depth)
    assert cut is not None
    metrics = measure_graph(cut, concurrency=False)
    assert metrics.work_s == graph.seconds.sum()
    assert metrics.tasks == 2 ** (depth + 1) - 2
    # By definition: a task at the cut does all that its subtree did, 3 pieces each but 1 in leaves.
    whole = measure_graph(json_graph(tree(3 - depth), "g"), concurrency=False).work_s
    # Above: the second child begins one piece later than the first and all wait for it.
    assert metrics.depth_s == whole + 3 * depth
    # With 10 s to start a task on one thread, what is saved is that of the tasks that are gone.
    before, after = (simulate(g, 1, overhead_s=10.0).seconds for g in (graph, cut))
    assert before - after == 10 * (14 - metrics.tasks)


def test_what_is_asked_of_a_graph_with_lines_and_levels():
    graph = json_graph(tree(3), "g")
    metrics = measure_graph(graph, concurrency=False)
    found = possible_changes(graph, metrics)
    assert [(c.kind, c.place, c.depth) for c in found] == [
        ("split", None, None), ("faster", "t.c:3", None), ("cut-off", None, 1), ("cut-off", None, 2)
    ]  # fmt: skip
    faster = found[1].graph
    assert measure_graph(faster, concurrency=False).depth_s == metrics.depth_s / 2
    for change in found:
        assert len(change.graph.schedule.order) == change.graph.nodes
        for threads in (1, 2, 5):
            done = simulate(change.graph, threads)
            own = measure_graph(change.graph, concurrency=False)
            assert own.depth_s <= done.seconds <= own.work_s / threads + own.depth_s


def test_siblings_that_depend_on_each_other_keep_their_order():
    """Two tasks inside a task, the second after the first: cut, both are in their creator."""
    nodes = [{"id": k, "seconds": 1, "task": t} for k, t in enumerate((0, 1, 2, 1, 3, 1))]
    edges = [(0, 1, "create"), (1, 2, "create"), (1, 3, "continue"), (3, 4, "create"),
             (2, 4, "dependence"), (3, 5, "continue"), (2, 5, "join"), (4, 5, "join")]  # fmt: skip
    graph = json_graph(json.dumps({
        "nodes": nodes, "edges": [{"source": a, "target": b, "kind": k} for a, b, k in edges],
    }), "g")  # fmt: skip
    cut = cut_off(graph, task_levels(graph), 2)
    assert cut is not None
    assert cut.seconds.tolist() == [1, 2, 2, 1]
    edges_left = set(zip(cut.sources.tolist(), cut.targets.tolist(), strict=True))
    assert edges_left == {(0, 1), (1, 2), (2, 3), (1, 3)}


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "regionpredict", "tasks", *words]
    return subprocess.run(
        line, cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )


def checked(text: str) -> dict:
    value = json.loads(text)
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(value)
    return value


def test_the_command_shows_what_changes_gain(tmp_path):
    (tmp_path / "g.dot").write_text(
        "digraph { a [seconds=8]; b [seconds=2]; c [seconds=2]; a -> b; a -> c }"
    )
    done = command(tmp_path, "simulate", "g.dot", "--threads", "1,2", "--what-if")
    assert done.returncode == 0
    # As it is 10 s on 2 threads, split 4 + 2 = 6 s.
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["a", "in", "2", "parts", "6", "s", "1.00x", "1.67x"] in rows
    assert max(map(len, done.stdout.splitlines())) <= 80
    value = checked(command(tmp_path, "simulate", "g.dot", "--what-if", "--format", "json").stdout)
    assert [one["change"] for one in value["what_if"]] == ["split"]
    assert value["what_if"][0]["times"][1]["gain"] == pytest.approx(10 / 6)
    plain = command(tmp_path, "simulate", "g.dot", "--format", "json")
    assert "what_if" not in checked(plain.stdout)


@pytest.mark.slow
@pytest.mark.compiler
def test_a_replay_confirms_it(tmp_path):
    """The same change on the runtime: on one thread, where no neighbour decides."""
    (tmp_path / "g.json").write_text(tree(2, 0.002))
    done = command(tmp_path, "replay", "g.json", "--threads", "1", "--what-if", "--format", "json",
                   "--time-limit", "20s")  # fmt: skip
    assert done.returncode == 0, done.stderr
    value = checked(done.stdout)
    by_change = {one["change"]: one for one in value["what_if"]}
    assert set(by_change) == {"split", "faster", "cut-off"}
    assert by_change["faster"]["depth_s"] == pytest.approx(value["depth_s"] / 2)
    # Each task takes at least its time, on a busy host more.
    (run,), (faster,) = value["times"], by_change["faster"]["times"]
    assert run["seconds"] >= 0.99 * value["work_s"]
    assert faster["seconds"] >= 0.99 * value["work_s"] / 2
    assert faster["gain"] in (None, pytest.approx(run["seconds"] / faster["seconds"]))


def test_a_graph_of_one_long_task_can_only_be_split():
    graph: TaskGraph = graph_of_tasks([3.0], [])
    assert [change.kind for change in possible_changes(graph, measure_graph(graph))] == ["split"]
