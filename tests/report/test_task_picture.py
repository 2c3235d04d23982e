"""What pictures of task graphs show: boxes, the edges that matter, colours, the critical path."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from html_pages import Opened, needs_browser
from playwright.sync_api import Browser

from regionpredict.report.task_picture import MOST_BOXES, TaskPicture, task_picture
from regionpredict.tasks import TaskGraph, graph_of_tasks, measure_graph
from regionpredict.tasks.json_file import json_graph


def graph_of(nodes: list[dict], edges: list[tuple[int, int, str]]) -> TaskGraph:
    document = {
        "nodes": [{"id": number, **node} for number, node in enumerate(nodes)],
        "edges": [{"source": a, "target": b, "kind": kind} for a, b, kind in edges],
    }
    return json_graph(json.dumps(document), "g.json")


def pictured(graph: TaskGraph) -> TaskPicture:
    return task_picture(graph, measure_graph(graph))


PIPELINE_LINES = ("p.c:10", "p.c:12", "p.c:14")
SECONDS = (1.0, 2.0, 3.0)
ITEMS = 5


def pipeline() -> TaskGraph:
    """One producer makes three tasks an item; stages 1 and 3 are serial, stage 3 is slowest."""
    nodes: list[dict] = []
    edges: list[tuple[int, int, str]] = []
    made: dict[tuple[int, int], int] = {}
    for piece in range(3 * ITEMS + 1):
        nodes.append({"seconds": 0.01, "kind": "implicit", "task": 0, "place": "p.c:8"})
        if piece:
            edges.append((piece - 1, piece, "continue"))
    for item in range(ITEMS):
        for stage in range(3):
            number = made[item, stage] = len(nodes)
            nodes.append({"seconds": SECONDS[stage], "kind": "task", "task": number,
                          "place": PIPELINE_LINES[stage]})  # fmt: skip
            edges.append((3 * item + stage, number, "create"))
            if stage:
                edges.append((made[item, stage - 1], number, "dependence"))
            if item and stage != 1:
                edges.append((made[item - 1, stage], number, "dependence"))
    nodes.append({"seconds": 0.0, "kind": "join", "task": 0})
    edges += [(number, len(nodes) - 1, "join") for number in (3 * ITEMS, *made.values())]
    return graph_of(nodes, edges)


def test_a_producer_is_one_box_and_dependences_are_seen():
    picture = pictured(pipeline())
    assert not picture.by_line
    assert len(picture.boxes) == 1 + 3 * ITEMS + 1
    (producer,) = (at for at, box in enumerate(picture.boxes) if box.title == "p.c:8")
    # The first task follows from its creation alone; the others from what they read.
    assert [e.target for e in picture.edges if e.source == producer] == [
        at for at, box in enumerate(picture.boxes) if box.title == "p.c:10" and box.row == 1
    ]
    # Only the last item's last stage leads to the end.
    assert len([e for e in picture.edges if picture.boxes[e.target].join]) == 1
    # By definition: 2 an item between stages, one an item between items in stages 1 and 3.
    dependences = 2 * ITEMS + 2 * (ITEMS - 1)
    assert len(picture.edges) == dependences + 2


def test_the_slowest_stage_is_the_red_one():
    picture = pictured(pipeline())
    red = [box.title for box in picture.boxes if box.on_path]
    assert red.count("p.c:14") == ITEMS
    assert (red.count("p.c:10"), red.count("p.c:12")) == (1, 1)
    assert [group.name for group in picture.groups][:3] == ["p.c:14", "p.c:12", "p.c:10"]
    assert picture.groups[0].tasks == ITEMS
    assert picture.groups[0].path == pytest.approx(15 / 18.01)
    assert picture.limit == (
        "The critical path has 8 nodes and takes 18 s: no speedup exceeds 1.67. "
        "p.c:14 has 83 % of it."
    )
    path = [e for e in picture.edges if e.on_path]
    assert len(path) == 7
    assert {box.group for box in picture.boxes if box.title == "p.c:14"} == {0}


def test_a_piece_that_waits_is_a_box_of_its_own():
    graph = graph_of(
        [{"seconds": 1, "task": 0}, {"seconds": 1, "task": 1}, {"seconds": 1, "task": 0}],
        [(0, 1, "create"), (0, 2, "continue"), (1, 2, "join")],
    )
    assert len(pictured(graph).boxes) == 3


def test_chunks_are_boxes_of_their_own():
    nodes = [{"seconds": 1, "task": 0, "kind": "implicit"}]
    nodes += [{"seconds": 1, "task": 0, "kind": "chunk", "place": "a.c:3",
               "iterations": {"first": 5 * k, "total": 5}} for k in range(2)]  # fmt: skip
    picture = pictured(graph_of(nodes, [(0, 1, "continue"), (0, 2, "continue")]))
    assert [box.title for box in picture.boxes][1:] == ["a.c:3 0-4", "a.c:3 5-9"]
    assert [box.row for box in picture.boxes] == [0, 1, 1]


def test_many_tasks_are_drawn_by_line_with_their_counts():
    count = MOST_BOXES
    nodes = [{"seconds": 1, "place": f"a.c:{1 + k % 2}"} for k in range(count + 2)]
    edges = [(k, k + 1, "dependence") for k in range(0, count + 2, 2)]
    edges += [(k, k + 1, "dependence") for k in range(1, 101, 2)]
    picture = pictured(graph_of(nodes, edges))
    assert picture.by_line
    assert {(box.title, box.below) for box in picture.boxes} == {
        ("a.c:1", "1001 x task, 1e+03 s"), ("a.c:2", "1001 x task, 1e+03 s"),
    }  # fmt: skip
    (edge,) = picture.edges  # both ways: drawn once
    assert edge.count == 1001 + 50


def test_nodes_of_a_file_without_lines_are_grouped_by_their_first_word():
    document = {
        "nodes": [{"id": f"{word}({k})", "seconds": 1 + (word == "gemm")}
                  for word in ("potrf", "gemm") for k in range(3)],
        "edges": [],
    }  # fmt: skip
    picture = pictured(json_graph(json.dumps(document), "g.json"))
    assert [group.name for group in picture.groups] == ["gemm", "potrf"]


@needs_browser
def test_the_page_zooms_and_tells_what_the_pointer_is_on(browser: Browser, tmp_path: Path) -> None:
    nodes = [{"id": k, "seconds": 1.0 + k, "place": f"a.c:{k}"} for k in range(4)]
    edges = [{"source": 0, "target": 1}, {"source": 0, "target": 2}, {"source": 2, "target": 3}]
    (tmp_path / "g.json").write_text(json.dumps({"nodes": nodes, "edges": edges}))
    words = ["tasks", "show", "g.json", "--format", "html", "-o", "g.html"]
    subprocess.run([sys.executable, "-m", "regionpredict", *words], cwd=tmp_path, check=True)
    opened = Opened(browser, tmp_path / "g.html")
    frame = opened.page.locator(".graph-frame")
    svg = frame.locator("svg")
    assert (svg.locator(".box").count(), svg.locator(".edge").count()) == (4, 3)
    assert (svg.locator(".box.marked").count(), svg.locator(".edge.marked").count()) == (3, 2)
    told = opened.page.locator("figure", has=frame).locator("output")
    assert "The critical path has 3 nodes and takes 8 s" in told.inner_text()
    svg.locator(".box").nth(2).hover()
    assert told.inner_text() == "2: 3 s, on the critical path; 1 above, 1 below"

    def view() -> list[float]:
        return [float(part) for part in str(svg.get_attribute("viewBox")).split()]

    whole = view()
    opened.page.get_by_role("button", name="Zoom in").click()
    assert view()[2] < whole[2]
    frame.focus()
    for key in ("ArrowRight", "-"):
        frame.press(key)
    assert view()[2] == pytest.approx(whole[2], rel=1e-3)
    assert view()[0] > whole[0]
    frame.press("0")
    assert view() == whole
    opened.hold()


def test_a_graph_that_becomes_narrow_says_for_how_long():
    """Eight tasks side by side, then two in a row: 10 of work in 3, the last 2 of them one task."""
    pairs = [*((k, 8) for k in range(8)), (8, 9)]
    limit = pictured(graph_of_tasks([1.0] * 10, pairs)).limit
    assert limit.endswith("In the last 67 % of it, at most 1 task can run at once.")
    # The other way round, and eight chains of the same length: narrow at the begin, or never.
    turned = [*((9, 8), *((8, k) for k in range(8)))]
    assert "at once" not in pictured(graph_of_tasks([1.0] * 10, turned)).limit
    chains = [(k, k + 8) for k in range(8)]
    assert "at once" not in pictured(graph_of_tasks([1.0] * 16, chains)).limit
