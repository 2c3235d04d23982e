"""What is predicted of tasks that run at once, beside what a run measured, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regionpredict.measure.hints_file import Place, hints_at
from regionpredict.predict import Contention
from regionpredict.report.aligned_table import aligned_lines
from regionpredict.tasks.growth import LineGrowth
from regionpredict.tasks.metrics import GraphMetrics, LineTotal

UNREAD = "unread"
"""The word for a body that was not given, or holds what is not understood."""
RECURSIVE = "recursive"
"""The word for a body that ends in itself: what one task does is not in the source."""


@dataclass(frozen=True, slots=True)
class BodyContention:
    """The body of the tasks, or of the loop, of one directive.

    `contention` is None where it is not read: then `unread` is a word for it. `assumed` are the
    sizes that nobody gave.
    """

    file: str
    line: int
    loop_line: int | None
    contention: Contention | None
    unread: str
    assumed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PredictedBodies:
    """What is predicted on a machine for `threads` threads, by body."""

    machine: str
    threads: int
    bodies: tuple[BodyContention, ...]

    def at(self, place: str) -> BodyContention | None:
        """The body of `file:line`; None where none was read there."""
        file, _, line = place.partition(" (")[0].rpartition(":")
        if not file or not line.isdigit():
            return None
        return next(iter(hints_at(self.bodies, Place(file, int(line), None))), None)


def contention_records(
    metrics: GraphMetrics, growth: Sequence[LineGrowth] | None, predicted: PredictedBodies
) -> list[dict[str, Any]]:
    """As JSON has them, a row a line with tasks or chunks; null where not known."""
    measured = {(row.place, row.kind): row.factor for row in growth or ()}
    rows = []
    for line in _lines(metrics):
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
                "unread": _why(body),
                "assumed": [] if body is None else list(body.assumed),
            }
        )
    return rows


def contention_lines(
    metrics: GraphMetrics, growth: Sequence[LineGrowth] | None, predicted: PredictedBodies, top: int
) -> list[str]:
    """The same as a table, the `top` lines with the most work."""
    records = contention_records(metrics, growth, predicted)[:top]
    if not records:
        return ["contention: no line has tasks"]
    rows = [("line", "kind", "asks", "all ask", "predicted", "measured")]
    for row in records:
        unread = row["predicted_growth"] is None
        rows.append(
            (
                Path(row["place"]).name,
                row["kind"],
                "-" if unread else f"{row['asked_bytes_per_s'] / 1e9:.3g} GB/s",
                "-" if unread else f"{row['share']:.0%}",
                row["unread"] if unread else _times(row["predicted_growth"]),
                "-" if row["measured_growth"] is None else _times(row["measured_growth"]),
            )
        )
    lines = [
        f"contention for memory, {predicted.threads} tasks at once on {predicted.machine}:",
        *aligned_lines(rows),
        "asks: of memory, one task alone; all ask: of what memory gives; predicted, measured: how",
        "many times as long a task takes beside the others.",
    ]
    assumed = dict.fromkeys(text for row in records for text in row["assumed"])
    return [*lines, *(f"assumed: {text}" for text in assumed)]


def _lines(metrics: GraphMetrics) -> list[LineTotal]:
    return [line for line in metrics.lines if line.kind in ("task", "chunk")]


def _why(body: BodyContention | None) -> str | None:
    if body is None:
        return UNREAD
    return None if body.contention is not None else body.unread


def _times(factor: float) -> str:
    return f"{factor:.2f}x"
