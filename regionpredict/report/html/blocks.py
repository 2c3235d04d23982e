"""What a page shows, piece by piece: each block has a `kind`, by which the page draws it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from regionpredict.report.task_picture import TaskPicture

Block = dict[str, Any]
Cell = str | int | float | None | tuple[str, float | int | str | None]
"""What a cell shows; a pair: what it shows, and what it is sorted by (None: last)."""


class Section(NamedTuple):
    """A heading with the blocks below it."""

    title: str
    blocks: Sequence[Block]


class Column(NamedTuple):
    """`number`: set to the right; `minor`: not on narrow screens; `choice`: rows can be chosen by
    its values; `bar`: drawn as a bar too, against the largest value, or against the one given.
    """

    title: str
    number: bool = False
    minor: bool = False
    choice: bool = False
    bar: bool | float = False

    def document(self) -> dict[str, Any]:
        """What of it is not the usual."""
        return {key: value for key, value in self._asdict().items() if value is not False}


def text(content: str) -> Block:
    """A paragraph."""
    return {"kind": "text", "text": content}


def items(entries: Sequence[str]) -> Block:
    """A list."""
    return {"kind": "list", "items": list(entries)}


def facts(pairs: Sequence[tuple[str, str]]) -> Block:
    """Names with values."""
    return {"kind": "facts", "items": [list(pair) for pair in pairs]}


def printed(title: str, content: str) -> Block:
    """Text in columns, as a terminal shows it."""
    return {"kind": "pre", "title": title, "text": content}


def folded(title: str, blocks: Sequence[Block]) -> Block:
    """Blocks that are drawn when a reader opens them."""
    return {"kind": "more", "title": title, "blocks": list(blocks)}


def table(
    title: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *,
    details: Sequence[Sequence[Block]] | None = None, name: str | None = None,
) -> Block:  # fmt: skip
    """A table that can be sorted and filtered; `details` are what each row opens to. `name`: what
    other blocks call it by.
    """
    return {
        "kind": "table", "title": title, "name": name,
        "columns": [column.document() for column in columns],
        "rows": [list(row) for row in rows],
        "details": None if details is None else [list(detail) for detail in details],
    }  # fmt: skip


def as_text(content: str) -> Section:
    """The section with what a terminal shows."""
    name = "The table of the terminal"
    return Section("As text", [folded(name, [printed(name, content)])])


def curve(
    title: str, x: str, y: str, series: Sequence[Block], *,
    zones: Sequence[Block] = (), mark: Block | None = None, step: bool | None = None,
    logx: bool | None = None, logy: bool | None = None, band: str | None = None,
) -> Block:  # fmt: skip
    """Lines over a number: each of `series` is a `line` or `marks`; `band` says what those behind
    its lines are.
    """
    return {"kind": "curve", "title": title, "x": x, "y": y, "series": list(series),
            "zones": list(zones), "mark": mark, "step": step, "logx": logx,
            "logy": logy, "band": band}  # fmt: skip


def line(
    name: str, points: Iterable[Sequence[float]], band: Iterable[Sequence[float]] = (), *,
    colour: int | None = None,
) -> Block:  # fmt: skip
    """A line through `points` (x, y), before a `band` (x, low, high); `colour` is a number, that of
    its place among the series by itself.
    """
    return {"name": name, "points": [list(interval) for interval in points],
            "band": [list(interval) for interval in band], "colour": colour}  # fmt: skip


def marks(
    name: str, points: Iterable[Sequence[float]], *, colour: int,
    bars: Iterable[Sequence[float]] = (),
) -> Block:  # fmt: skip
    """Points (x, y) without a line, in a line's colour; `bars` (x, low, high) reach up and down."""
    return {"name": name, "points": [list(point) for point in points], "colour": colour,
            "alone": True, "bars": [list(bar) for bar in bars]}  # fmt: skip


def heat(title: str, rows: Sequence[Sequence[float | None]], unit: str) -> Block:
    """Numbers in a grid, the larger the darker; None where there is none."""
    return {"kind": "heat", "title": title, "unit": unit,
            "rows": [["" if cell is None else cell for cell in row] for row in rows]}  # fmt: skip


def task_graph(title: str, picture: TaskPicture) -> Block:
    """A graph in rows that a reader can move and zoom."""
    longest = max((box.seconds for box in picture.boxes), default=0.0)
    groups = [
        [g.name or "other", g.tasks, f"{g.work:.0%}", f"{g.path:.0%}"] for g in picture.groups
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
