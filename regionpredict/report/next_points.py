"""The next points to measure, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.search.experiment_models import ModelSet
from regionpredict.fit.search.next_point import NextPoint, next_point
from regionpredict.report.document import Cell, Column, Table
from regionpredict.report.json_text import fields_of
from regionpredict.report.quantities import show_share

_PROCESSORS = ("p", "procs", "processes", "processors", "ranks", "threads", "cores", "nprocs")
_SECONDS = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_TIMES = ("time", "runtime", "wall", "seconds")


class Suggestion(NamedTuple):
    """A model with the point to measure next, or the reason why it is unknown."""

    series: Series
    model: FittedModel
    answer: NextPoint | str

    @property
    def why(self) -> str:
        """The reason for measuring a point, or for measuring none."""
        if isinstance(self.answer, str):
            return self.answer
        return self.answer.stop or " or ".join(self.answer.between)


def next_points_table(suggestions: Sequence[Suggestion]) -> Table:
    """A row per model."""
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


def next_points(
    models: ModelSet, targets: Sequence[Mapping[str, float]], processors: str | None
) -> list[Suggestion]:
    """The next point to measure for each model. It decides the value at the last of `targets`.

    `processors` is the parameter that counts processors. By default it is found by its usual names.

    Raises `InputError` for an unknown parameter.
    """
    known = {name for _, model in models.models for name in model.parameters}
    if processors is not None and known and processors not in known:
        raise InputError(
            f"there is no parameter '{processors}'",
            remedy=f"--processors is one of {', '.join(sorted(known))}",
        )
    return [
        Suggestion(series, model, _next_point_of(series, model, targets, processors))
        for series, model in models.models
    ]


def _next_point_of(
    series: Series,
    model: FittedModel,
    targets: Sequence[Mapping[str, float]],
    processors: str | None,
) -> NextPoint | str:
    names = [processors] if processors is not None else list(_PROCESSORS)
    index = next((k for k, name in enumerate(model.parameters) if name.lower() in names), None)
    target = [targets[-1][name] for name in model.parameters] if targets else None
    try:
        return next_point(model, target, processors=index, seconds=_seconds(series))
    except InputError as error:
        return error.message


def _seconds(series: Series) -> float | None:
    """A value of the metric in seconds. None if the metric is not a time. Times without a unit are
    in seconds.
    """
    if series.unit:
        return _SECONDS.get(series.unit.lower())
    named = any(word in series.metric.lower() for word in _TIMES)
    return 1.0 if named or not series.metric else None


def next_point_record(suggestion: Suggestion) -> dict[str, Any]:
    """The record as JSON."""
    series, model, item = suggestion
    names = fields_of(series, "callpath metric")
    if isinstance(item, str):
        return {**names, "point": None, "stop": item}
    point = dict(zip(model.parameters, item.point, strict=True))
    known = fields_of(item, "decides between repetitions core_hours")
    return {**names, "point": point, **known, "stop": item.stop or None}
