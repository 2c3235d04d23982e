"""Arranges models in a call tree, with the exclusive and inclusive cost of each call.

Call paths are joined by `->`. Predictions are additive. At every point, the inclusive value of a
call is its exclusive value plus the inclusive values of its callees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.model.fitted_model import FittedModel, growth_key
from regionpredict.fit.model.quality import Monomial
from regionpredict.fit.model.terms import FloatArray
from regionpredict.fit.search.experiment_models import ModelSet

Measured = Literal["exclusive", "inclusive"]
"""Whether the measured values of call paths are exclusive or inclusive."""

SEPARATOR = "->"


@dataclass(frozen=True, slots=True)
class Call:
    """A node of the call tree. `model` is None if only its callees were measured.

    `depth` is 0 at the top. `parent` is the index of its caller in the tree, or None at the top.
    """

    callpath: str
    model: FittedModel | None
    depth: int
    parent: int | None

    @property
    def name(self) -> str:
        """The last part of the call path."""
        return self.callpath.rsplit(SEPARATOR, 1)[-1]


@dataclass(frozen=True, slots=True)
class CallTree:
    """All calls of one metric, callers before callees. Their models have the same `parameters`.

    `measured` says whether measured values are exclusive or inclusive. In shapes, `c` is the number
    of calls.
    """

    metric: str
    parameters: tuple[str, ...]
    calls: tuple[Call, ...]
    measured: Measured

    def inclusive(self, points: FloatArray) -> FloatArray:
        """Returns the inclusive value of each call at points `(k, m)`, with shape `(c, k)` in the
        unit of the metric.
        """
        predictions, known = self._model_values(points)
        for index in reversed(range(len(self.calls))):
            parent = self.calls[index].parent
            if parent is not None and not (self.measured == "inclusive" and known[parent]):
                predictions[parent] += predictions[index]
        return predictions

    def exclusive(self, points: FloatArray) -> FloatArray:
        """Returns the exclusive value of each call at points `(k, m)`, with shape `(c, k)`. Values
        are never negative.

        If inclusive values were measured, errors of the models of a call and of its callees may
        exceed the exclusive value.
        """
        if self.measured == "exclusive":
            return self._model_values(points)[0]
        predictions = self.inclusive(points)
        below = np.zeros_like(predictions)
        for index, call in enumerate(self.calls):
            if call.parent is not None:
                below[call.parent] += predictions[index]
        return np.maximum(predictions - below, 0.0)

    def _model_values(self, points: FloatArray) -> tuple[FloatArray, list[bool]]:
        """Returns the values `(c, k)` of the models, and for each call whether it has a model."""
        predictions = np.zeros((len(self.calls), len(points)))
        for index, call in enumerate(self.calls):
            if call.model is not None:
                predictions[index] = call.model.predict_many(points)
        return predictions, [call.model is not None for call in self.calls]

    def growths(self) -> list[Monomial]:
        """Returns the fastest growing monomial of each call's inclusive value. Empty for
        constants.
        """
        terms = [call.model.leading_term if call.model is not None else {} for call in self.calls]
        for index in reversed(range(len(self.calls))):
            parent = self.calls[index].parent
            if parent is None:
                continue
            if self.measured == "inclusive" and self.calls[parent].model is not None:
                continue
            terms[parent] = max(terms[parent], terms[index], key=growth_key)
        return terms

    def shares(self, points: FloatArray) -> FloatArray:
        """Returns the exclusive share of each call in the total at points `(k, m)`, with shape `(c,
        k)`.

        The shares at a point add up to 1, or are 0 if the total is 0.
        """
        own = self.exclusive(points)
        total = own.sum(0)
        return np.asarray(own / np.where(total > 0, total, 1.0))


def call_trees(models: ModelSet, measured: Measured = "exclusive") -> tuple[CallTree, ...]:
    """Creates a call tree for each metric and set of parameters.

    Raises `InputError` if there is no model.
    """
    if not models.models:
        raise InputError("no model, so no call tree", remedy="measure more points")
    groups: dict[tuple[str, tuple[str, ...]], dict[str, FittedModel]] = {}
    for series, model in models.models:
        groups.setdefault((series.metric, series.parameters), {})[series.callpath] = model
    return tuple(
        CallTree(metric, parameters, _calls_with_callers(group), measured)
        for (metric, parameters), group in groups.items()
    )


def _calls_with_callers(models: Mapping[str, FittedModel]) -> tuple[Call, ...]:
    """Returns the calls of these call paths, including callers without measurements."""
    children: dict[str, list[str]] = {}
    tops: list[str] = []
    for callpath in models:
        above = ""
        for part in callpath.split(SEPARATOR):
            here = f"{above}{SEPARATOR}{part}" if above else part
            if here not in children:
                children[here] = []
                (children[above] if above else tops).append(here)
            above = here
    calls: list[Call] = []
    waiting: list[tuple[str, int, int | None]] = [(top, 0, None) for top in tops[::-1]]
    while waiting:
        callpath, depth, parent = waiting.pop()
        waiting += [(child, depth + 1, len(calls)) for child in children[callpath][::-1]]
        calls.append(Call(callpath, models.get(callpath), depth, parent))
    return tuple(calls)
