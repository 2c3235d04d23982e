"""A metric over the ranks' Cartesian grid, as rows of text (Boehme 2014, section 4.3.3)."""

from __future__ import annotations

from itertools import product
from math import prod

from regionpredict.report.aligned_table import aligned_lines
from regionpredict.trace import ProcessGrid
from regionpredict.trace.profile import SECONDS, TraceResult


def grid_text(result: TraceResult, grid: ProcessGrid, metric: str) -> str:
    """The metric's sum by rank where the rank lies: rows are the last dimension but one, columns
    the last; of three and more dimensions a table each of the first ones' coordinates."""
    by_rank: dict[int, float] = {}
    unit = ""
    for record in result.records:
        if record.metric == metric and record.location is not None:
            by_rank[record.location.rank] = by_rank.get(record.location.rank, 0.0) + record.value
            unit = record.unit
    by_place = {place: by_rank.get(rank, 0.0) for rank, place in grid.places.items()}
    sizes = "x".join(map(str, grid.sizes))
    unit_text = f", {'seconds' if unit == SECONDS else unit}" if unit else ""
    lines = [f"{metric} on the {sizes} grid{unit_text}:"]
    *outer, rows, columns = (1, *grid.sizes) if len(grid.sizes) == 1 else grid.sizes
    for front in product(*map(range, outer)):
        lines.append("")
        if outer:
            lines.append(f"[{', '.join(map(str, front))}, ...]")
        cells = [("", *(f"{column}" for column in range(columns)))]
        for row in range(rows):
            places = [
                (column,) if len(grid.sizes) == 1 else (*front, row, column)
                for column in range(columns)
            ]
            values = (by_place.get(place) for place in places)
            cells.append((f"{row}", *("-" if v is None else f"{v:.4g}" for v in values)))
        lines += aligned_lines(cells)
    missing = prod(grid.sizes) - len(grid.places)
    if missing:
        lines += ["", f"{missing} places have no rank in the trace."]
    return "\n".join(lines) + "\n"
