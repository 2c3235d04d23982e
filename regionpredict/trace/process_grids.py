"""Maps a metric to the Cartesian grids of ranks (Boehme 2014, section 4.3.3)."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import NamedTuple

from regionpredict.trace.event_trace import ProcessGrid
from regionpredict.trace.profile import TraceResult


class GridPlane(NamedTuple):
    """A plane of a grid in its last two dimensions. `front` are the coordinates in the other
    dimensions, or "". `rows` has the metric's sum for each rank, and None for coordinates without a
    rank.
    """

    front: str
    rows: tuple[tuple[float | None, ...], ...]


class GridValues(NamedTuple):
    """A metric on a process grid. `sizes` is a text such as 2x3, and `missing` the number of
    coordinates without a rank.
    """

    sizes: str
    unit: str
    planes: tuple[GridPlane, ...]
    missing: int


def grid_values(result: TraceResult, grid: ProcessGrid, metric: str) -> GridValues:
    """Returns the sum of a metric for each rank by its coordinates. A grid of one dimension is a
    single row.
    """
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
        "x".join(map(str, grid.sizes)), unit, tuple(planes),
        prod(grid.sizes) - len(grid.coordinates),
    )  # fmt: skip
