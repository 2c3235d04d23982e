"""Synthetic loops measured beside both models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from regionpredict.report.document import Block, Column, Document, Drawing, Section, Table, Text
from regionpredict.report.html.blocks import curve, line
from regionpredict.report.quantities import plural, show_factor, show_seconds


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


_KEYS = (
    "figure", "x", "loop", "working_set_bytes", "iterations", "dimensions", "order", "operations",
    "stride", "pattern", "threads", "seconds", "speedup", "utilization", "score",
    "predicted_seconds", "predicted_speedup",
)  # fmt: skip


def bench_document(machine: str, axes: Mapping[str, str], rows: Sequence[BenchRow]) -> Document:
    """Each figure of the thesis, measured and predicted by both models, and all loops on the most
    threads. `axes` are the figures in their order, with what their axes count. CSV has one row per
    loop and number of threads.
    """
    most = max(row.threads for row in rows)
    columns = [
        Column("Loop", cut=True), Column("Time", show_seconds, unknown="?"),
        Column("Predicted", show_seconds, unknown="?"),
        Column("Speedup", show_factor, unknown="?"),
        Column("Predicted", show_factor, unknown="?"),
        Column("Score", "{:.2f}".format, unknown="?"),
    ]  # fmt: skip
    loops = [
        (row.label, row.seconds, row.predicted, row.speedup, row.predicted_speedup, row.score)
        for row in rows
        if row.threads == most
    ]
    legend = [
        "Time: least of one execution. Speedup: over 1 thread.",
        "Predicted: by the saturation model.",
        "Score: density model, from 0 (keeps few cores busy) to 1 (all of them).",
    ]
    every = Table("Loops", [Column(key, key=key) for key in _KEYS], [
        (row.figure, row.x, row.label, row.working_set_bytes, row.iterations, row.dimensions,
         row.order, row.operations, row.stride, row.pattern, row.threads, row.seconds, row.speedup,
         row.utilization, row.score, row.predicted, row.predicted_speedup)
        for row in rows
    ])  # fmt: skip
    missing: list[Block] = [Text(
        "The time budget ended before all loops were measured: they have predictions alone."
    )] if any(row.seconds is None for row in rows) else []  # fmt: skip
    sections = [
        Section("Not measured", missing),
        *(
            _figure(axis, _Figure([row for row in rows if row.figure == name]))
            for name, axis in axes.items()
            if any(row.figure == name for row in rows)
        ),
        Section(
            "Loops", [Table(f"Loops on {plural(most, 'thread')}", columns, loops, legend=legend)]
        ),
        Section("Rows", [every], "csv"),
    ]  # fmt: skip
    lead = [
        f"Synthetic loops on {machine}: measured, by the saturation model and by the density model "
        "(Chatzopoulos 2012, sections 3.1 and 4.2).",
    ]
    return Document("Synthetic loops", lead, sections)


def _figure(axis: str, figure: _Figure) -> Section:
    logx = len({row.x for row in figure.rows}) > 1 and min(row.x for row in figure.rows) > 0
    most = plural(figure.threads[-1], "thread")
    return Section(axis[:1].upper() + axis[1:], [
        curve(f"Use of {most}", axis, "share", figure.shares(), logx=logx or None),
        curve("Time of an access", axis, "ns", figure.times(), logx=logx or None),
    ])  # fmt: skip


class _Figure:
    """The loops of one figure by numbers of threads."""

    def __init__(self, rows: Sequence[BenchRow]) -> None:
        self.rows = rows
        self.threads = sorted({row.threads for row in rows})

    def line(
        self, name: str, value: Callable[[BenchRow], float | None], threads: int
    ) -> Drawing | None:
        """A value over the figure's axis; None where it is never known."""
        known = [(row.x, at) for row in self.rows
                 if row.threads == threads and (at := value(row)) is not None]  # fmt: skip
        return line(name, known) if known else None

    def shares(self) -> list[Drawing]:
        """Score and utilization on the most threads."""
        most = self.threads[-1]
        made = [
            self.line("measured utilization", lambda row: row.utilization, most),
            self.line("saturation: efficiency",
                      lambda row: row.predicted_speedup and row.predicted_speedup / row.threads,
                      most),
            self.line("density: score", lambda row: row.score, most),
        ]  # fmt: skip
        return [own for own in made if own is not None]

    def times(self) -> list[Drawing]:
        """Nanoseconds of an access, on the fewest and the most threads."""
        made = []
        for threads in sorted({self.threads[0], self.threads[-1]}):
            on = plural(threads, "thread")
            made += [self.line(f"measured, {on}", lambda row: _each(row, row.seconds), threads),
                     self.line(f"saturation, {on}", lambda row: _each(row, row.predicted),
                               threads)]  # fmt: skip
        return [own for own in made if own is not None]


def _each(row: BenchRow, seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e9 / row.iterations
