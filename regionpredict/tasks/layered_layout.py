"""Computes a layered layout of a directed graph: nodes are in rows, and edges point down and rarely
cross.

The four steps follow Sugiyama, Tagawa and Toda 1981. First, the longest path to a node determines
its row. Then points are inserted where long edges pass a row. Nodes of a row are sorted by the mean
position of their neighbors. The last step assigns coordinates.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

_ORDER_SWEEPS = 12
_COORDINATE_SWEEPS = 8
"""The number of sweeps that assign coordinates, down or up. More sweeps change little."""
_PASS = 0.3
"""The width of the gap for an edge that passes a row, relative to the width of a box."""
_STRAIGHT = 2.0
"""The weight of a passing edge relative to a box, which keeps long edges almost straight."""
_LONGEST = 60
"""The number of rows from which an edge is drawn straight, under the boxes. Assumed: a page never
shows this many rows.
"""


class Layout(NamedTuple):
    """The positions of `n` nodes and the routes of edges. `row` `(n,)` counts from 0 at the top.
    `x` `(n,)` is the center of a node in box widths. `routes` has the points (x, row) of each edge,
    including its ends.
    """

    row: NDArray[np.int64]
    x: NDArray[np.float64]
    routes: tuple[tuple[tuple[float, float], ...], ...]


def layered_layout(count: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """Computes the layout of `count` nodes. The edges must not contain a cycle.

    >>> layered_layout(3, [(0, 1), (0, 2)]).row.tolist()
    [0, 1, 1]
    """
    rows = _rows_of_nodes(count, edges)
    trunk: dict[tuple[int, int], int] = {}
    row_of = list(rows)
    pairs: list[tuple[int, int]] = []
    for source, target in edges:
        if rows[target] - rows[source] > _LONGEST:
            continue
        last = source
        for row in range(rows[source] + 1, rows[target]):
            # Edges with the same source pass a row at the same point.
            if (source, row) not in trunk:
                trunk[source, row] = len(row_of)
                row_of.append(row)
                pairs.append((last, trunk[source, row]))
            last = trunk[source, row]
        pairs.append((last, target))
    pairs = list(dict.fromkeys(pairs))
    layers = _sorted_rows(row_of, pairs)
    x = _x_coordinates(layers, pairs, count, len(row_of))
    x -= x.min(initial=0)
    routes = []
    for source, target in edges:
        points = [(float(x[source]), float(rows[source]))]
        for row in range(rows[source] + 1, rows[target]):
            if (source, row) in trunk and rows[target] - rows[source] <= _LONGEST:
                points.append((float(x[trunk[source, row]]), float(row)))
        routes.append((*points, (float(x[target]), float(rows[target]))))
    return Layout(np.array(rows, dtype=np.int64), x[:count], tuple(routes))


def _rows_of_nodes(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Returns the row of each node by the longest path to it. A node with more successors than
    predecessors moves down to its successors, which shortens its edges.
    """
    after: list[list[int]] = [[] for _ in range(count)]
    waiting, before = [0] * count, [0] * count
    for source, target in edges:
        after[source].append(target)
        waiting[target] += 1
        before[target] += 1
    order = [node for node in range(count) if not waiting[node]]
    rows = [0] * count
    for node in order:  # grows during the loop
        for target in after[node]:
            rows[target] = max(rows[target], rows[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                order.append(target)
    for node in reversed(order):
        if len(after[node]) > before[node]:
            rows[node] = min(rows[target] for target in after[node]) - 1
    return rows


def _sorted_rows(row_of: Sequence[int], pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Returns the nodes of each row from left to right. The order is the one with the fewest
    crossings among several sweeps.
    """
    layers: list[list[int]] = [[] for _ in range(max(row_of, default=-1) + 1)]
    for node, row in enumerate(row_of):
        layers[row].append(node)
    up, down = _neighbours_above_and_below(len(row_of), pairs)
    best, fewest = layers, _number_of_crossings(layers, down)
    for sweep in range(_ORDER_SWEEPS):
        if not fewest:
            break
        towards = up if sweep % 2 == 0 else down
        at = {node: place for layer in layers for place, node in enumerate(layer)}
        sorted_layers = list(layers)
        for row in range(len(layers)) if sweep % 2 == 0 else reversed(range(len(layers))):

            def mean(
                node: int, at: dict[int, int] = at, towards: list[list[int]] = towards
            ) -> float:
                near = towards[node]
                return sum(at[n] for n in near) / len(near) if near else at[node]

            sorted_layers[row] = sorted(layers[row], key=mean)
            at.update({node: place for place, node in enumerate(sorted_layers[row])})
        layers = sorted_layers
        crossings = _number_of_crossings(layers, down)
        if crossings < fewest:
            best, fewest = layers, crossings
    return best


def _neighbours_above_and_below(
    count: int, pairs: Sequence[tuple[int, int]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Returns the neighbors of each node in the rows above and below."""
    up: list[list[int]] = [[] for _ in range(count)]
    down: list[list[int]] = [[] for _ in range(count)]
    for source, target in pairs:
        down[source].append(target)
        up[target].append(source)
    return up, down


def _number_of_crossings(layers: Sequence[Sequence[int]], down: Sequence[Sequence[int]]) -> int:
    """Returns the number of edge crossings between neighboring rows."""
    total = 0
    for upper, lower in pairwise(layers):
        at = {node: place for place, node in enumerate(lower)}
        seen: list[int] = []
        for node in upper:
            ends = sorted(at[target] for target in down[node])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _x_coordinates(
    layers: Sequence[Sequence[int]], pairs: Sequence[tuple[int, int]], boxes: int, count: int
) -> NDArray[np.float64]:
    """Assigns x coordinates. Each node is as close to the mean of its neighbors as the order in its
    row allows.
    """
    width = np.where(np.arange(count) < boxes, 1.0, _PASS)
    weight = np.where(np.arange(count) < boxes, 1.0, _STRAIGHT)
    x = np.zeros(count)
    offsets = []
    for layer in layers:
        own = width[list(layer)]
        offset = np.cumsum(own) - own / 2
        offsets.append(offset)
        x[list(layer)] = offset - offset[-1] / 2
    up, down = _neighbours_above_and_below(count, pairs)
    for sweep in range(_COORDINATE_SWEEPS):
        towards = up if sweep % 2 == 0 else down
        for row in range(len(layers)) if sweep % 2 == 0 else reversed(range(len(layers))):
            layer = list(layers[row])
            wanted = np.array([x[towards[n]].mean() if towards[n] else x[n] for n in layer])
            pull = np.array([weight[n] * max(len(towards[n]), 0.1) for n in layer])
            # The nearest positions that keep the order, by weighted least squares.
            x[layer] = isotonic_regression(wanted - offsets[row], sample_weight=pull) + offsets[row]
    return x
