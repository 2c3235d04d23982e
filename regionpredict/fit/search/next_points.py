"""Finds the next point to measure for each model of an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Series
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.search.experiment_models import ModelSet
from regionpredict.fit.search.next_point import NextPoint, next_point

_PROCESSORS = ("p", "procs", "processes", "processors", "ranks", "threads", "cores", "nprocs")
_SECONDS = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_TIMES = ("time", "runtime", "wall", "seconds")


class Suggestion(NamedTuple):
    """A model with the next point to measure, or the reason why no point is known."""

    series: Series
    model: FittedModel
    answer: NextPoint | str

    @property
    def why(self) -> str:
        """The reason for measuring a point, or for measuring none."""
        if isinstance(self.answer, str):
            return self.answer
        return self.answer.stop or " or ".join(self.answer.between)


def next_points(
    models: ModelSet, targets: Sequence[Mapping[str, float]], processors: str | None
) -> list[Suggestion]:
    """Returns the next point to measure for each model. It is chosen for the prediction at the last
    of `targets`.

    `processors` is the parameter that counts processors. By default, common names of this parameter
    are searched.

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
        return next_point(model, target, processors=index, seconds=_unit_in_seconds(series))
    except InputError as error:
        return error.message


def _unit_in_seconds(series: Series) -> float | None:
    """Returns the unit of the metric in seconds, or None if the metric is not a time. Times without
    a unit are in seconds.
    """
    if series.unit:
        return _SECONDS.get(series.unit.lower())
    named = any(word in series.metric.lower() for word in _TIMES)
    return 1.0 if named or not series.metric else None
