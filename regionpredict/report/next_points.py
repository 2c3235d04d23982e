"""What to measure next, as rows under the models, or beside them in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from regionpredict.errors import InputError, UsageError, one_line
from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.search.experiment_models import ModelSet
from regionpredict.fit.search.next_point import NextPoint, next_point
from regionpredict.report.aligned_table import aligned_lines

_PROCESSORS = ("p", "procs", "processes", "processors", "ranks", "threads", "cores", "nprocs")
_SECONDS = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_TIMES = ("time", "runtime", "wall", "seconds")


def with_next_points(
    text: str,
    models: ModelSet,
    targets: Sequence[Mapping[str, float]],
    processors: str | None,
    output: str,
) -> str:
    """The printed models `text` with what to measure next, in the same form (`output`).

    The last of `targets` is the point that is asked about. `processors` names the parameter that
    counts them (None: one that is called as they usually are). Raises `UsageError` for a form
    that has no place for it, and `InputError` for a parameter that no series has.
    """
    if output == "csv":
        raise UsageError("--suggest has no CSV form", remedy="use --format table or json")
    chosen = next_points(models, targets, processors)
    if output == "json":
        data = json.loads(text)
        data["next_points"] = [_record(*item) for item in chosen]
        return json.dumps(data, indent=1)
    rows = [("call path", "metric", "measure next", "decides", "core hours", "why")]
    rows += [
        (
            series.callpath or "-",
            series.metric or "-",
            "nothing" if isinstance(item, str) or item.stop else place_text(model, item),
            "-" if isinstance(item, str) or item.stop else f"{item.decides:.0%}",
            "-" if isinstance(item, str) or item.stop else hours_text(item),
            why_text(item),
        )
        for series, model, item in chosen
    ]
    return "\n".join([text.rstrip("\n"), "", *map(one_line, aligned_lines(rows))])


def next_points(
    models: ModelSet, targets: Sequence[Mapping[str, float]], processors: str | None
) -> list[tuple[Series, FittedModel, NextPoint | str]]:
    """What to measure next for each model, or why nothing tells it.

    Raises `InputError` for a parameter that no series has.
    """
    known = {name for _, model in models.models for name in model.parameters}
    if processors is not None and known and processors not in known:
        raise InputError(
            f"there is no parameter '{processors}'",
            remedy=f"--processors is one of {', '.join(sorted(known))}",
        )
    return [
        (series, model, _asked(series, model, targets, processors))
        for series, model in models.models
    ]


def _asked(
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
    """Seconds in a unit of the metric; None where it is no time. Times without unit: seconds."""
    if series.unit:
        return _SECONDS.get(series.unit.lower())
    named = any(word in series.metric.lower() for word in _TIMES)
    return 1.0 if named or not series.metric else None


def place_text(model: FittedModel, item: NextPoint) -> str:
    """A point, parameter by parameter."""
    pairs = zip(model.parameters, item.point, strict=True)
    return ", ".join(f"{name} = {value:g}" for name, value in pairs)


def hours_text(item: NextPoint) -> str:
    """The price of a point in core hours."""
    return "-" if item.core_hours is None else f"{item.core_hours:.3g}"


def why_text(item: NextPoint | str) -> str:
    """Why a point is to be measured, or why none is."""
    if isinstance(item, str):
        return item
    return item.stop or " or ".join(item.between)


def _record(series: Series, model: FittedModel, item: NextPoint | str) -> dict[str, Any]:
    record: dict[str, Any] = {"callpath": series.callpath, "metric": series.metric}
    if isinstance(item, str):
        return {**record, "point": None, "stop": item}
    return {
        **record,
        "point": dict(zip(model.parameters, item.point, strict=True)),
        "decides": item.decides,
        "between": list(item.between),
        "repetitions": item.repetitions,
        "core_hours": item.core_hours,
        "stop": item.stop or None,
    }
