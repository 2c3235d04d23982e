"""Shows loops and parallel regions as tables: the columns of text, pages and CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from regionpredict.analysis import RegionFacts
from regionpredict.predict import Prediction, TeamPrediction
from regionpredict.report.document import Block, Cell, Column, Table, csv_rows
from regionpredict.report.quantities import show_bytes, show_count, show_share, show_times
from regionpredict.report.quantities import show_seconds as show_time
from regionpredict.report.size_hints import size_sentence
from regionpredict.report.view import gain_of

Loop = Prediction | TeamPrediction
HARDWARE_THREADS = "h"
GUESSED = "^"
"""The mark of a hint that depends on assumed sizes."""
CONFLICTS = frozenset(("RP221", "RP222", "RP223", "RP224"))
WRONG = "!"
"""The mark of a row whose region has a finding of `CONFLICTS`."""
_FACTS = ("id", "file", "line", "function", "directive", "status", "iterations", "iterations_value",
          "working_set", "working_set_bytes")  # fmt: skip
_HINTS = ("score", "miss_probability", "packages", "threads", "bottleneck", "confidence",
          "borderline")  # fmt: skip
_OPEN = ("assumed", "depends_on", "packages_range", "threads_range", "by_size", "threads_per_core",
         "sizes_from")  # fmt: skip


class _Field(NamedTuple):
    """A column with the value of a row, and its mark in text."""

    column: Column
    value: Callable[[Loop], Any]
    mark: Callable[[Loop], str] = lambda _: ""


def loop_table(
    title: str, loops: Sequence[Loop], names: str, *, folder: str = "",
    times: Mapping[str, float] | None = None, whole: float = 0.0, packages: int | None = None,
    marked: bool = False, details: Callable[[int], Sequence[Block]] | None = None,
    below: Callable[[int], Sequence[str]] | None = None, **settings: Any,
) -> Table:  # fmt: skip
    """Returns a table of loops with the columns `names`. Paths are relative to `folder`.

    `times` are seconds by loop, and `whole` is their sum. Bars of packages are relative to
    `packages`. Values are `marked` as borderline, assumed, partial or wrong.
    """
    seconds = times or {}
    fields = _table_fields(folder, seconds, whole, packages, loops)
    chosen = [fields[name] for name in names.split()]
    shown = [list(map(field.value, loops)) for field in chosen]
    if marked:
        for field, values in zip(chosen, shown, strict=True):
            marks = list(map(field.mark, loops))
            wide = max(map(len, marks), default=0)
            values[:] = [
                (field.column.shown(value) + mark.ljust(wide), value) if wide else value
                for value, mark in zip(values, marks, strict=True)
            ]
    rows: list[list[Cell]] = [list(row) for row in zip(*shown, strict=True)]
    columns = [field.column for field in chosen]
    return Table(title, columns, rows, details, below=below, **settings)


def _table_fields(
    folder: str,
    times: Mapping[str, float],
    whole: float,
    packages: int | None,
    loops: Sequence[Loop],
) -> dict[str, _Field]:
    def share(loop: Loop) -> Cell:
        seconds = times.get(_region_of(loop).id)
        return None if seconds is None or not whole else seconds / whole

    def marks(loop: Loop) -> str:
        partial = "?" if loop.status == "partial" else ""
        wrong = WRONG if any(note.id in CONFLICTS for note in _notes_of(loop)) else ""
        return (GUESSED if loop.range is not None else "") + partial + wrong

    spark = Column("Gain", lambda gain: f"{show_times(gain)}x",
                   spark=lambda at: [point[:2] for point in loops[at].speedup])  # fmt: skip
    bar = False if packages is None else float(packages)
    return {
        "line": _Field(Column("Line", str), lambda loop: _region_of(loop).span.line),
        "place": _Field(Column("Region"), lambda loop: _region_of(loop).id.removeprefix(folder)),
        "where": _Field(Column("Where", cut=True), lambda loop: (
            f"{_region_of(loop).span.file.removeprefix(folder)}:{_region_of(loop).span.line} "
            f"{_region_of(loop).function}"
        )),
        "function": _Field(Column("Function", cut=10, minor=True),
                           lambda loop: _region_of(loop).function),
        "iterations": _Field(Column("Iterations", show_count, short="iters", minor=True,
                                    unknown="?"), _iterations_of),
        "data": _Field(Column("Data", show_bytes, minor=True, unknown="?"), _size,
                       lambda loop: "*" if loop.assumed and isinstance(_size(loop), int) else ""),
        "seconds": _Field(Column("Time on one thread", show_time, minor=True, bar=True),
                          lambda loop: times.get(_region_of(loop).id)),
        "share": _Field(Column("Time", lambda part: f"{100 * part:.1f} %", unknown="?"), share),
        "gain": _Field(spark, lambda loop: None if loop.threads is None else gain_of(loop),
                       lambda loop: "~" if loop.borderline else ""),
        "score": _Field(Column("Score", "{:.2f}".format), lambda loop: getattr(loop, "score", None),
                        lambda loop: "~" if loop.borderline else ""),
        "packages": _Field(Column("Packages", str, short="pk", minor=True, bar=bar),
                           lambda loop: loop.packages),
        "threads": _Field(Column("Threads", str, short="thr"), lambda loop: loop.threads,
                          lambda loop: HARDWARE_THREADS if loop.threads_per_core > 1 else ""),
        "limited": _Field(Column("Limited by", choice=True, minor=True), lambda loop: (
            loop.status if loop.packages is None else loop.bottleneck or ""
        )),
        "confidence": _Field(
            Column("Confidence", show_share, short="conf", minor=True,
                   bar=1.0 if packages else False),
            lambda loop: None if loop.packages is None else loop.confidence, marks,
        ),
    }  # fmt: skip


def _region_of(loop: Loop) -> Any:
    """Returns the region, or a parallel region's facts, with an id, a span and a function."""
    return loop.facts.region if isinstance(loop, Prediction) else loop.facts


def _notes_of(loop: Loop) -> Sequence[Any]:
    if isinstance(loop, Prediction):
        return loop.diagnostics
    return [note for member in loop.facts.members for note in member.facts.diagnostics]


def _iterations_of(loop: Loop) -> Any:
    if isinstance(loop, Prediction):
        return loop.facts.iterations.value
    return f"{len(loop.facts.members)} loops", None


def _size(loop: Loop) -> Any:
    return loop.working_set_bytes if isinstance(loop, Prediction) else ("", None)


def hint_rows(predictions: Sequence[Prediction]) -> Table:
    """Returns the CSV table of facts and hints, with one row per loop."""
    rows = [
        [
            *_facts_row(own.facts, own.status), *(getattr(own, name) for name in _HINTS),
            "; ".join(own.assumed), "; ".join(own.deciding),
            *((None, None) if own.range is None else ("{}-{}".format(*pair) for pair in own.range)),
            size_sentence(own.by_size, whole=True),
            own.threads_per_core if own.threads is not None else None, own.sizes_from,
        ]
        for own in predictions
    ]  # fmt: skip
    return csv_rows((*_FACTS, *_HINTS, *_OPEN), rows)


def fact_rows(facts: Sequence[RegionFacts]) -> Table:
    """Returns the CSV table of facts, with one row per loop."""
    return csv_rows(_FACTS, [_facts_row(own, status_name(own)) for own in facts])


def status_name(facts: RegionFacts) -> str:
    """Returns the status of facts by the name that predictions use."""
    return {"complete": "predicted"}.get(facts.status, facts.status)


def _facts_row(facts: RegionFacts, status: str) -> list[Any]:
    region = facts.region
    return [
        region.id, region.span.file, region.span.line, region.function, "omp " + region.directive,
        status, facts.iterations.expr, facts.iterations.value, facts.working_set.expr,
        facts.working_set.value,
    ]  # fmt: skip
