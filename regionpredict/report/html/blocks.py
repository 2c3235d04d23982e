"""Makes the pictures on pages as data. The page's script draws each by its `kind`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from regionpredict.report.document import Drawing
from regionpredict.report.quantities import show_share

if TYPE_CHECKING:
    from regionpredict.report.task_picture import TaskPicture


def curve(
    title: str, x: str, y: str, series: Sequence[Drawing], *,
    zones: Sequence[Drawing] = (), mark: Drawing | None = None, step: bool | None = None,
    logx: bool | None = None, logy: bool | None = None, band: str | None = None,
) -> Drawing:  # fmt: skip
    """Returns curves over a number. Each of `series` is a `line` or `marks`, and `band` describes
    their intervals.
    """
    return {"kind": "curve", "title": title, "x": x, "y": y, "series": list(series),
            "zones": list(zones), "mark": mark, "step": step, "logx": logx,
            "logy": logy, "band": band}  # fmt: skip


def line(
    name: str, points: Iterable[Sequence[float]], band: Iterable[Sequence[float]] = (), *,
    colour: int | None = None,
) -> Drawing:  # fmt: skip
    """Returns a line through `points` (x, y) with a `band` (x, low, high). `colour` is an index, by
    default the position of the series.
    """
    return {"name": name, "points": [list(interval) for interval in points],
            "band": [list(interval) for interval in band], "colour": colour}  # fmt: skip


def marks(
    name: str, points: Iterable[Sequence[float]], *, colour: int,
    bars: Iterable[Sequence[float]] = (),
) -> Drawing:  # fmt: skip
    """Returns points (x, y) without a line, in the color of a line. `bars` (x, low, high) are error
    bars.
    """
    return {"name": name, "points": [list(point) for point in points], "colour": colour,
            "alone": True, "bars": [list(bar) for bar in bars]}  # fmt: skip


def heat(
    title: str, rows: Sequence[Sequence[float | None]], unit: str, names: Sequence[str] = ()
) -> Drawing:
    """Returns a heat map of values in this unit. A value is None if there is no number. `names` are
    those of rows and columns, else their numbers.
    """
    return {"kind": "heat", "title": title, "unit": unit, "names": list(names),
            "rows": [["" if cell is None else cell for cell in row] for row in rows]}  # fmt: skip


def task_graph(title: str, picture: TaskPicture) -> Drawing:
    """Returns a layered graph that the reader can move and zoom."""
    longest = max((box.seconds for box in picture.boxes), default=0.0)
    groups = [
        [g.name or "other", g.tasks, show_share(g.work), show_share(g.path)] for g in picture.groups
    ]
    return {
        "kind": "graph", "title": title, "told": picture.limit, "row": picture.row_height,
        "boxes": [
            [box.x, box.row, box.title, box.below, box.said,
             box.seconds / longest if longest else 0.0, -1 if box.group is None else box.group,
             int(box.join), int(box.on_path)]
            for box in picture.boxes
        ],
        "edges": [
            [edge.source, edge.target, [list(point) for point in edge.points], edge.count,
             int(edge.on_path)]
            for edge in picture.edges
        ],
        "groups": groups,
    }  # fmt: skip
