"""Synthetic loops measured beside both models: a table and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from regionpredict.errors import one_line
from regionpredict.report.aligned_table import aligned_lines
from regionpredict.report.csv_text import csv_text
from regionpredict.report.quantities import show_seconds


class BenchRow(NamedTuple):
    """A loop on one number of threads. `figure` and `x` say where it stands, `label` what it is;
    `iterations` are those of one execution, `pattern` is that of its accesses. `seconds` is the
    least time of one execution, `predicted` the saturation model's, None where not known; `alone`
    and `predicted_alone` are the same on one thread. `score` is the density model's, 0 to 1.
    """

    figure: str
    x: float
    label: str
    working_set_bytes: int
    iterations: int
    dimensions: int
    order: str
    operations: int
    stride: int
    pattern: str
    threads: int
    seconds: float | None
    predicted: float | None
    alone: float | None
    predicted_alone: float | None
    score: float | None

    @property
    def speedup(self) -> float | None:
        """Over one thread, as measured."""
        return _ratio(self.alone, self.seconds)

    @property
    def predicted_speedup(self) -> float | None:
        """Over one thread, by the saturation model."""
        return _ratio(self.predicted_alone, self.predicted)

    @property
    def utilization(self) -> float | None:
        """The measured speedup as a share of the threads (Chatzopoulos 2012, chapter 5)."""
        speedup = self.speedup
        return None if speedup is None else speedup / self.threads


def _ratio(alone: float | None, seconds: float | None) -> float | None:
    return alone / seconds if alone is not None and seconds else None


_HEAD = (
    "figure", "x", "loop", "working_set_bytes", "iterations", "dimensions", "order", "operations",
    "stride", "pattern", "threads", "seconds", "speedup", "utilization", "score",
    "predicted_seconds", "predicted_speedup",
)  # fmt: skip


def bench_csv(rows: Iterable[BenchRow]) -> str:
    """One row per loop and number of threads."""
    return csv_text(_HEAD, [
        (row.figure, row.x, row.label, row.working_set_bytes, row.iterations, row.dimensions,
         row.order, row.operations, row.stride, row.pattern, row.threads, row.seconds, row.speedup,
         row.utilization, row.score, row.predicted, row.predicted_speedup)
        for row in rows
    ])  # fmt: skip


def bench_table(rows: Sequence[BenchRow]) -> str:
    """One line per loop, on the most threads."""
    most = max(row.threads for row in rows)
    lines = [("loop", "time", "predicted", "speedup", "predicted", "score")]
    lines += [
        (row.label, show_seconds(row.seconds), show_seconds(row.predicted),
         _times(row.speedup), _times(row.predicted_speedup),
         "?" if row.score is None else f"{row.score:.2f}")
        for row in rows if row.threads == most
    ]  # fmt: skip
    legend = [
        "",
        f"time: least of one execution on {most} threads; speedup: over 1 thread",
        "predicted: by the saturation model",
        "score: density model, from 0 (keeps few cores busy) to 1 (all of them)",
    ]
    return "\n".join(map(one_line, [*aligned_lines(lines), *legend])) + "\n"


def _times(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}x"
