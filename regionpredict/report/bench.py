"""Reports measurements of synthetic loops next to the predictions of both models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from regionpredict.report.document import (
    Block,
    Column,
    Document,
    Drawing,
    Section,
    Table,
    Text,
    csv_rows,
)
from regionpredict.report.html.blocks import curve, line
from regionpredict.report.quantities import plural, show_factor, show_seconds

DIFFERENT = 0.05
"""The relative difference below which two measured values count as equal."""


class BenchRow(NamedTuple):
    """A loop at one number of threads. `figure` and `x` are its place in a figure, and `loop` its
    description. `iterations` is per execution, and `pattern` is its access pattern. `seconds` is
    the shortest time of one execution. `predicted_seconds` is the saturation model's time, or None.
    `alone` and `predicted_alone` are the same on one thread. `score` is the density model's, 0 to
    1.
    """

    figure: str
    x: float
    loop: str
    working_set_bytes: int
    iterations: int
    dimensions: int
    order: str
    operations: int
    stride: int
    pattern: str
    threads: int
    seconds: float | None
    predicted_seconds: float | None
    alone: float | None
    predicted_alone: float | None
    score: float | None

    @property
    def speedup(self) -> float | None:
        """Returns the measured speedup over one thread."""
        return _speedup_ratio(self.alone, self.seconds)

    @property
    def predicted_speedup(self) -> float | None:
        """Returns the predicted speedup over one thread, by the saturation model."""
        return _speedup_ratio(self.predicted_alone, self.predicted_seconds)

    @property
    def utilization(self) -> float | None:
        """Returns the measured speedup as a share of the threads (Chatzopoulos 2012, chapter 5)."""
        speedup = self.speedup
        return None if speedup is None else speedup / self.threads


def _speedup_ratio(alone: float | None, seconds: float | None) -> float | None:
    return alone / seconds if alone is not None and seconds else None


_KEYS = (
    "figure", "x", "loop", "working_set_bytes", "iterations", "dimensions", "order", "operations",
    "stride", "pattern", "threads", "seconds", "speedup", "utilization", "score",
    "predicted_seconds", "predicted_speedup",
)  # fmt: skip


def bench_document(machine: str, axes: Mapping[str, str], rows: Sequence[BenchRow]) -> Document:
    """Returns each figure of the thesis, measured and predicted by both models, and all loops on
    the most threads.

    `axes` are the figures in order, with the quantities on their axes. CSV has one row per loop and
    number of threads.
    """
    most = max(row.threads for row in rows)
    columns = [
        Column("Loop", cut=True), Column("Time", show_seconds, unknown="?"),
        Column("Predicted", show_seconds, minor=True, unknown="?"),
        Column("Speedup", show_factor, unknown="?"),
        Column("Predicted", show_factor, unknown="?"),
        Column("Score", "{:.2f}".format, minor=True, unknown="?"),
    ]  # fmt: skip
    loops = [
        (
            row.loop,
            row.seconds,
            row.predicted_seconds,
            row.speedup,
            row.predicted_speedup,
            row.score,
        )
        for row in rows
        if row.threads == most
    ]
    legend = [
        "Time: least of one execution. Speedup: over 1 thread.",
        "Predicted: by the saturation model.",
        "Score: density model, from 0 (keeps few cores busy) to 1 (all of them).",
    ]
    every = csv_rows(_KEYS, [[getattr(row, key) for key in _KEYS] for row in rows])
    missing: list[Block] = [Text(
        "The time budget ended before all loops were measured: they have predictions alone."
    )] if any(row.seconds is None for row in rows) else []  # fmt: skip
    sections = [
        Section("Not measured", missing),
        *(
            _figure_picture(axis, [row for row in rows if row.figure == name])
            for name, axis in axes.items()
            if any(row.figure == name for row in rows)
        ),
        Section("Directions", _direction_blocks(rows, most)),
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


def _direction_blocks(rows: Sequence[BenchRow], most: int) -> list[Block]:
    """Counts, for each figure, the pairs of loops that both models order as measured."""
    figures: dict[str, list[BenchRow]] = {}
    for row in rows:
        if row.threads == most and row.seconds is not None:
            figures.setdefault(row.figure, []).append(row)
    lines = [
        (name, _order_text(own, lambda row: _speedup_ratio(row.alone, row.iterations),
                        lambda row: _speedup_ratio(row.predicted_alone, row.iterations)),
         _order_text(own, lambda row: row.utilization, lambda row: row.predicted_speedup),
         _order_text(own, lambda row: row.utilization, lambda row: row.score))
        for name, own in figures.items() if len(own) > 1
    ]  # fmt: skip
    if not lines:
        return []
    columns = [Column("Figure"), Column("Time, saturation", str), Column("Use, saturation", str),
               Column("Use, density", str)]  # fmt: skip
    legend = [
        f"Pairs of loops that differ by more than {100 * DIFFERENT:.0f} %, "
        "after those that a model orders as measured.",
        "Time: duration of one access on 1 thread. Use: utilization.",
    ]
    return [Table("Directions of the figures", columns, lines, legend=legend)]


_Value = Callable[[BenchRow], float | None]


def _order_text(rows: Sequence[BenchRow], measured: _Value, predicted: _Value) -> str:
    """Returns the text `9 of 10`: the number of pairs that differ when measured, and the number of
    these in the predicted order.
    """
    known = [
        (own, model)
        for row in rows
        if (own := measured(row)) is not None and (model := predicted(row)) is not None
    ]
    pairs = [
        (first - second) * (ours - theirs) > 0
        for (ours, first), (theirs, second) in combinations(known, 2)
        if abs(ours - theirs) > DIFFERENT * max(ours, theirs)
    ]
    return f"{sum(pairs)} of {len(pairs)}"


def _figure_picture(axis: str, rows: Sequence[BenchRow]) -> Section:
    """Draws use of the most threads, and the time of an access on the fewest and the most."""
    logx = (len({row.x for row in rows}) > 1 and min(row.x for row in rows) > 0) or None
    least, most = min(row.threads for row in rows), max(row.threads for row in rows)
    shares = [
        _figure_line(rows, "measured utilization", most, lambda row: row.utilization),
        _figure_line(rows, "saturation: efficiency", most,
              lambda row: row.predicted_speedup and row.predicted_speedup / row.threads),
        _figure_line(rows, "density: score", most, lambda row: row.score),
    ]  # fmt: skip
    times = [
        _figure_line(rows, f"{name}, {plural(threads, 'thread')}", threads, nanoseconds)
        for threads in sorted({least, most})
        for name, nanoseconds in (
            ("measured", lambda row: row.seconds and row.seconds * 1e9 / row.iterations),
            (
                "saturation",
                lambda row: row.predicted_seconds and row.predicted_seconds * 1e9 / row.iterations,
            ),
        )
    ]
    drawn = [[one for one in lines if one["points"]] for lines in (shares, times)]
    return Section(axis[:1].upper() + axis[1:], [
        curve(f"Use of {plural(most, 'thread')}", axis, "share", drawn[0], logx=logx),
        curve("Time of an access", axis, "ns", drawn[1], logx=logx),
    ])  # fmt: skip


def _figure_line(
    rows: Sequence[BenchRow], name: str, threads: int, value: Callable[[BenchRow], float | None]
) -> Drawing:  # fmt: skip
    return line(name, [
        (row.x, known)
        for row in rows
        if row.threads == threads and (known := value(row)) is not None
    ])  # fmt: skip
