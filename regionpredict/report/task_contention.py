"""Shows predicted contention of concurrent tasks next to the measured one, by source line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regionpredict.documents import whole_number
from regionpredict.measure.hints_file import Place, hints_at
from regionpredict.predict import Contention
from regionpredict.report.document import Block, Cell, Column, Items, Table, Text
from regionpredict.report.quantities import show_factor, show_share
from regionpredict.tasks.growth import LineGrowth
from regionpredict.tasks.metrics import GraphMetrics

_UNREAD = "unread"
"""The mark of a task body without source, or with unsupported code."""


@dataclass(frozen=True, slots=True)
class BodyContention:
    """The task or loop body of one directive.

    `contention` is None if the body could not be read. `assumed` are the sizes without a given
    value.
    """

    file: str
    line: int
    loop_line: int | None
    contention: Contention | None
    assumed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PredictedBodies:
    """Predictions for each body with `threads` threads of a machine."""

    machine: str
    threads: int
    bodies: tuple[BodyContention, ...]

    def at(self, place: str) -> BodyContention | None:
        """Returns the body at `file:line`. None if there is none."""
        file, _, line = place.partition(" (")[0].rpartition(":")
        number = whole_number(line)
        if not file or number is None:
            return None
        return next(iter(hints_at(self.bodies, Place(file, number, None))), None)


def contention_records(
    metrics: GraphMetrics, growth: Sequence[LineGrowth] | None, predicted: PredictedBodies
) -> list[dict[str, Any]]:
    """Returns one record per line with tasks or chunks, for JSON. Unknown values are null."""
    measured = {(row.place, row.kind): row.factor for row in growth or ()}
    rows = []
    for line in metrics.lines:
        if line.kind not in ("task", "chunk"):
            continue
        body = predicted.at(line.place)
        known = None if body is None else body.contention
        rows.append(
            {
                "place": line.place,
                "kind": line.kind,
                "threads": predicted.threads,
                "asked_bytes_per_s": None if known is None else known.asked,
                "share": None if known is None else known.share,
                "predicted_growth": None if known is None else known.growth,
                "measured_growth": measured.get((line.place, line.kind)),
                "unread": _UNREAD if known is None else None,
                "assumed": [] if body is None else list(body.assumed),
            }
        )
    return rows


def contention_blocks(
    metrics: GraphMetrics, growth: Sequence[LineGrowth] | None, predicted: PredictedBodies,
    top: int,
) -> list[Block]:  # fmt: skip
    """Returns the contention by source line. Text shows the `top` lines with most work."""
    records = contention_records(metrics, growth, predicted)
    if not records:
        return [Text("No line has tasks: contention for memory is unknown.")]
    rows: list[list[Cell]] = [
        [
            row["place"], row["kind"], row["asked_bytes_per_s"], row["share"],
            (row["unread"], None) if row["predicted_growth"] is None else row["predicted_growth"],
            row["measured_growth"],
        ]
        for row in records
    ]  # fmt: skip
    columns = [
        Column("Line"), Column("Kind", choice=True),
        Column("One asks", lambda bytes_per_s: f"{bytes_per_s / 1e9:.3g} GB/s"),
        Column("All ask", show_share, minor=True), Column("Predicted", show_factor),
        Column("Measured", show_factor),
    ]  # fmt: skip
    title = f"Contention for memory, {predicted.threads} tasks at once on {predicted.machine}"
    legend = [
        "One asks: memory bandwidth that one task requests. All ask: share of the memory "
        "bandwidth that all tasks request. Predicted, measured: time of a task with the others "
        "over its time alone."
    ]
    assumed = dict.fromkeys(f"assumed: {text}" for row in records for text in row["assumed"])
    return [Table(title, columns, rows, top=top, legend=legend), Items(list(assumed))]
