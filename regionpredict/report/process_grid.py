"""A metric over the ranks' Cartesian grid, as tables (Boehme 2014, section 4.3.3)."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import NamedTuple

from regionpredict.report.document import Block, Column, Table, Text
from regionpredict.trace import ProcessGrid
from regionpredict.trace.profile import SECONDS, TraceResult


class GridPlane(NamedTuple):
    """A plane through two dimensions of a grid. `front` are the coordinates in the other
    dimensions, or "". `rows` has the metric's sums by the last two dimensions, and None for a place
    without a rank.
    """

    front: str
    rows: tuple[tuple[float | None, ...], ...]


class GridValues(NamedTuple):
    """A metric on a grid: `sizes` as 2x3, the `unit` in words, and the number of places without a
    rank.
    """

    sizes: str
    unit: str
    planes: tuple[GridPlane, ...]
    missing: int


def grid_values(result: TraceResult, grid: ProcessGrid, metric: str) -> GridValues:
    """The metric's sum by the place of each rank. A grid of one dimension is a single row."""
    by_rank: dict[int, float] = {}
    unit = ""
    for record in result.records:
        if record.metric == metric and record.location is not None:
            by_rank[record.location.rank] = by_rank.get(record.location.rank, 0.0) + record.value
            unit = record.unit
    by_place = {place: by_rank.get(rank, 0.0) for rank, place in grid.coordinates.items()}
    flat = len(grid.sizes) == 1
    *outer, rows, columns = (1, *grid.sizes) if flat else grid.sizes
    planes = []
    for front in product(*map(range, outer)):
        values = tuple(
            tuple(
                by_place.get((column,) if flat else (*front, row, column))
                for column in range(columns)
            )
            for row in range(rows)
        )
        name = f"[{', '.join(map(str, front))}, ...]" if outer else ""
        planes.append(GridPlane(name, values))
    return GridValues(
        "x".join(map(str, grid.sizes)), "seconds" if unit == SECONDS else unit, tuple(planes),
        prod(grid.sizes) - len(grid.coordinates),
    )  # fmt: skip


def grid_tables(result: TraceResult, grid: ProcessGrid, metric: str) -> list[Block]:
    """The grid as tables, one for each index in the dimensions before the last two."""
    sums = grid_values(result, grid, metric)
    title = f"{metric} on the {sums.sizes} grid{f', {sums.unit}' if sums.unit else ''}"
    tables: list[Block] = []
    for front, rows in sums.planes:
        heads = [str(number) for number in range(len(rows[0]) if rows else 0)]
        columns = [Column("", str), *(Column(head, "{:.4g}".format) for head in heads)]
        cells = [[number, *row] for number, row in enumerate(rows)]
        tables.append(Table(f"{title} {front}".rstrip(), columns, cells))
    return tables + ([Text(without_rank(sums.missing))] if sums.missing else [])


def without_rank(positions: int) -> str:
    """The sentence about places of a grid without a known rank."""
    subject = "1 place has" if positions == 1 else f"{positions} places have"
    return f"{subject} no rank in the trace."
