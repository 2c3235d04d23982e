"""Documents the next points to measure, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regionpredict.fit.search.next_points import Suggestion
from regionpredict.report.document import Cell, Column, Table
from regionpredict.report.json_text import fields_of
from regionpredict.report.quantities import show_share


def next_points_table(suggestions: Sequence[Suggestion]) -> Table:
    """Returns a table with one row per model."""
    rows: list[list[Cell]] = []
    for one in suggestions:
        point = None if isinstance(one.answer, str) or one.answer.stop else one.answer
        pairs = () if point is None else zip(one.model.parameters, point.point, strict=True)
        rows.append([
            one.series.callpath or None, one.series.metric or None,
            ", ".join(f"{name} = {value:g}" for name, value in pairs) or "nothing",
            None if point is None else point.decides,
            None if point is None else point.core_hours, one.why,
        ])  # fmt: skip
    columns = [
        Column("Call path"), Column("Metric", choice=True, minor=True), Column("Measure next"),
        Column("Decides", show_share, minor=True),
        Column("Core hours", lambda hours: f"{hours:,.0f}" if hours >= 1000 else f"{hours:.3g}"),
        Column("Why", minor=True),
    ]  # fmt: skip
    legend = ["Decides: probability that the point excludes one of the models in the last column."]
    return Table("The points that decide most per core hour", columns, rows, legend=legend)


def next_point_record(suggestion: Suggestion) -> dict[str, Any]:
    """Returns a suggested point as JSON."""
    series, model, item = suggestion
    names = fields_of(series, "callpath metric")
    if isinstance(item, str):
        return {**names, "point": None, "stop": item}
    point = dict(zip(model.parameters, item.point, strict=True))
    known = fields_of(item, "decides between repetitions core_hours")
    return {**names, "point": point, **known, "stop": item.stop or None}
