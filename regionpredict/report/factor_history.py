"""Documents the efficiency factors of several versions of a program, also as JSON and as a badge.

A badge is a picture of a few words in SVG, for the page of a project.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

from regionpredict.report.document import Block, Cell, Column, Document, Section, Table
from regionpredict.report.html.blocks import curve, line
from regionpredict.report.json_text import fields_of
from regionpredict.report.quantities import show_seconds
from regionpredict.report.run_factors import percent_column
from regionpredict.trace.factor_history import Version, VersionRun, by_width

SCHEMA = "regionpredict/factor-history/1"
_FACTORS = {
    "parallel": "Parallel",
    "load_balance": "LB",
    "communication": "Communication",
    "serialisation": "Ser",
    "transfer": "Trf",
}
_LEGEND = (
    "Parallel = LB x communication, communication = Ser x Trf, in percent (100: without loss).",
    "LB is load balance, Ser serialisation, and Trf transfer.",
)
_GOOD, _POOR = 0.8, 0.6
"""Parallel efficiencies from which a badge is green, and below which it is red."""
_COLOURS = ("#2e7d32", "#8a6d00", "#b3261e")
"""Green, yellow and red with a contrast of at least 4.5 to white text (WCAG 2.1, 1.4.3)."""
_LABEL = "parallel efficiency"
_LETTER = 6.5  # mean width of a letter of 11 pixels
_MARGIN = 6


def history_document(versions: Sequence[Version]) -> Document:
    """Returns a table of factors for each number of processes, with one row per version."""
    widths = list(by_width(versions))
    width, runs = widths[-1]
    name, last = runs[-1]
    lead = [f"{name}: parallel efficiency {100 * last.parallel:.1f} % on "
            f"{_process_text(width)}{_change_text(runs)}."]  # fmt: skip
    sections = [
        Section(_process_text(width), [*_factor_curve(width, runs), _version_table(runs)])
        for width, runs in reversed(widths)
    ]
    return Document("Efficiency over versions", lead, sections, lambda: _json_record(versions))


def _change_text(runs: Sequence[tuple[str, VersionRun]]) -> str:
    if len(runs) < 2:
        return ""
    (name, before), (_, now) = runs[-2:]
    points = 100 * (now.parallel - before.parallel)
    return f", {points:+.1f} percentage points against {name}"


def _process_text(width: int) -> str:
    return f"{width} process{'es' * (width > 1)}"


def _version_table(runs: Sequence[tuple[str, VersionRun]]) -> Table:
    columns = [Column("Version", cut=True), *(percent_column(head) for head in _FACTORS.values()),
               Column("Run time", show_seconds)]  # fmt: skip
    rows: list[list[Cell]] = [
        [name, *(getattr(run, key) for key in _FACTORS), run.runtime_s] for name, run in runs
    ]
    return Table("", columns, rows, legend=_LEGEND)


def _factor_curve(width: int, runs: Sequence[tuple[str, VersionRun]]) -> list[Block]:
    """Draws the factors over the number of the version. A single version has no curve."""
    if len(runs) < 2:
        return []
    series = []
    for key, head in _FACTORS.items():
        points = [(at, 100 * value) for at, (_, run) in enumerate(runs, 1)
                  if (value := getattr(run, key)) is not None]  # fmt: skip
        if points:
            series.append(line(head, points))
    title = f"Factors on {_process_text(width)}"
    return [curve(title, "version, in the order of the table", "efficiency (%)", series)]


def _json_record(versions: Sequence[Version]) -> dict[str, Any]:
    fields = f"runtime_s {' '.join(_FACTORS)}"
    return {
        "schema": SCHEMA,
        "versions": [
            {"name": version.name,
             "runs": [fields_of(run, fields, ranks="width") for run in version.runs]}
            for version in versions
        ],
    }  # fmt: skip


def badge(versions: Sequence[Version]) -> str:
    """Returns an SVG picture of the last parallel efficiency on the most processes."""
    width, runs = list(by_width(versions))[-1]
    parallel = runs[-1][1].parallel
    value = f"{100 * parallel:.0f} % on {width}"
    colour = _COLOURS[(parallel < _GOOD) + (parallel < _POOR)]
    left, right = (round(_LETTER * len(text)) + 2 * _MARGIN for text in (_LABEL, value))
    title = escape(f"{_LABEL}: {value}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{title}"><title>{title}</title>'
        f'<rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        f'<g fill="#fff" font-family="sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2:g}" y="14">{_LABEL}</text>'
        f'<text x="{left + right / 2:g}" y="14">{value}</text></g></svg>\n'
    )
