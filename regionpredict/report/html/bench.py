"""The page of `bench`: each figure of the thesis, measured and as both models have it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from regionpredict.report.bench import BenchRow, bench_table
from regionpredict.report.document import Document, Drawing, Section, Text
from regionpredict.report.html.blocks import curve, line
from regionpredict.report.html.page import as_text, document_page
from regionpredict.report.quantities import plural


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


def bench_page(machine: str, axes: Mapping[str, str], rows: Sequence[BenchRow]) -> str:
    """The page; `axes` are the figures in their order, with what their axes count."""
    sections = []
    for name, axis in axes.items():
        figure = _Figure([row for row in rows if row.figure == name])
        if not figure.rows:
            continue
        logx = len({row.x for row in figure.rows}) > 1 and min(row.x for row in figure.rows) > 0
        most = plural(figure.threads[-1], "thread")
        sections.append(Section(axis[:1].upper() + axis[1:], [
            curve(f"Use of {most}", axis, "share", figure.shares(), logx=logx or None),
            curve("Time of an access", axis, "ns", figure.times(), logx=logx or None),
        ]))  # fmt: skip
    lead = [
        f"Synthetic loops on {machine}: measured, by the saturation model and by the density model "
        "(Chatzopoulos 2012, sections 3.1 and 4.2).",
    ]
    if any(row.seconds is None for row in rows):
        sections.insert(0, Section("Not measured", [Text(
            "The time budget ended before all loops were measured: they have predictions alone."
        )]))  # fmt: skip
    sections.append(as_text(bench_table(rows)))
    return document_page(Document("Synthetic loops", lead, sections))
