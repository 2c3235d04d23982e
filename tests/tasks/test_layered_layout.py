"""Rows, order and places of graphs in rows, by laws and by hand."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from regionpredict.tasks.layered_layout import Layout, layered_layout


def crossings(layout: Layout) -> int:
    """Pairs of segments between the same rows whose ends are in opposite order."""
    segments = {(upper, lower) for route in layout.routes for upper, lower in pairwise(route)}
    by_row: dict[float, list[tuple[float, float]]] = {}
    for (x1, row), (x2, _) in segments:
        by_row.setdefault(row, []).append((x1, x2))
    return sum(
        (a[0] - b[0]) * (a[1] - b[1]) < 0
        for ends in by_row.values()
        for k, a in enumerate(ends)
        for b in ends[:k]
    )


@pytest.mark.parametrize("seed", range(20))
def test_edges_run_downwards_and_boxes_do_not_touch(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randint(1, 60)
    edges = sorted({
        (a, b) for a in range(count) for b in range(a + 1, count) if draw.random() < 2 / count
    })  # fmt: skip
    layout = layered_layout(count, edges)
    assert (len(layout.row), len(layout.x), len(layout.routes)) == (count, count, len(edges))
    for (source, target), route in zip(edges, layout.routes, strict=True):
        assert layout.row[source] < layout.row[target]
        assert route[0] == (layout.x[source], layout.row[source])
        assert route[-1] == (layout.x[target], layout.row[target])
        assert [row for _, row in route] == list(range(layout.row[source], layout.row[target] + 1))
    for row in set(layout.row.tolist()):
        places = sorted(layout.x[layout.row == row].tolist())
        assert all(b - a > 0.999 for a, b in pairwise(places))


def test_a_planar_graph_is_drawn_without_crossings() -> None:
    # A binary tree whose leaves are numbered so that the first order crosses.
    edges = [(0, 1), (0, 2), (1, 6), (1, 4), (2, 5), (2, 3)]
    assert crossings(layered_layout(7, edges)) == 0


def test_a_pipeline_of_three_stages_is_a_grid() -> None:
    """Item i in stage s waits for i - 1 in s and for i in s - 1: rows are i + s, no crossing."""
    node = {(i, s): 3 * i + s for i in range(8) for s in range(3)}
    edges = [(node[i - 1, s], node[i, s]) for i in range(1, 8) for s in range(3)]
    edges += [(node[i, s - 1], node[i, s]) for i in range(8) for s in (1, 2)]
    layout = layered_layout(len(node), edges)
    assert all(layout.row[n] == i + s for (i, s), n in node.items())
    assert crossings(layout) == 0


def test_a_node_that_feeds_late_ones_is_near_them() -> None:
    # 5 starts at once, but what it feeds comes last.
    edges = [(0, 1), (1, 2), (2, 3), (2, 4), (5, 3), (5, 4)]
    assert layered_layout(6, edges).row.tolist() == [0, 1, 2, 3, 3, 2]


def test_a_very_long_edge_is_straight() -> None:
    edges = [*((k, k + 1) for k in range(99)), (0, 99)]
    assert len(layered_layout(100, edges).routes[-1]) == 2


def test_nothing_has_no_places() -> None:
    layout = layered_layout(0, [])
    assert (layout.row.size, layout.x.size, layout.routes) == (0, 0, ())
