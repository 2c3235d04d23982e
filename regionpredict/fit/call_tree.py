"""Models in the tree of their call paths: what a call takes itself, and with all it calls.

Call paths are joined by `->`. Predictions add up: what a call takes inclusively is what it takes
itself and what its children take inclusively, at every point.
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
"""What the measured values of a call path hold: without, or with, what it calls."""

SEPARATOR = "->"


@dataclass(frozen=True, slots=True)
class Call:
    """A call path, its model (None where only its callees were measured), and its place.

    `depth` is 0 at the top; `parent` is the index of its caller in the tree, None at the top.
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
    """The `c` calls of one metric, callers before callees; all have the same `parameters`.

    `measured` says what the models are of.
    """

    metric: str
    parameters: tuple[str, ...]
    calls: tuple[Call, ...]
    measured: Measured

    def inclusive(self, points: FloatArray) -> FloatArray:
        """Each call's values with all it calls at points `(k, m)`: `(c, k)`, in the unit of the
        metric."""
        predictions, known = self._own(points)
        for index in reversed(range(len(self.calls))):
            parent = self.calls[index].parent
            if parent is not None and not (self.measured == "inclusive" and known[parent]):
                predictions[parent] += predictions[index]
        return predictions

    def exclusive(self, points: FloatArray) -> FloatArray:
        """Each call's values without what it calls at points `(k, m)`: `(c, k)`, none negative.

        Where inclusive values were measured, the models of a call and of its callees may differ
        by more than the call takes itself.
        """
        if self.measured == "exclusive":
            return self._own(points)[0]
        predictions = self.inclusive(points)
        below = np.zeros_like(predictions)
        for index, call in enumerate(self.calls):
            if call.parent is not None:
                below[call.parent] += predictions[index]
        return np.maximum(predictions - below, 0.0)

    def _own(self, points: FloatArray) -> tuple[FloatArray, list[bool]]:
        """What the models say, `(c, k)`, and which calls have one."""
        predictions = np.zeros((len(self.calls), len(points)))
        for index, call in enumerate(self.calls):
            if call.model is not None:
                predictions[index] = call.model.predict_many(points)
        return predictions, [call.model is not None for call in self.calls]

    def growths(self) -> list[Monomial]:
        """Each call's fastest growing monomial, with all it calls; empty for constants."""
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
        """What each call takes itself of everything at points `(k, m)`: `(c, k)`.

        The shares at a point add up to 1, or are 0 where nothing takes anything.
        """
        own = self.exclusive(points)
        total = own.sum(0)
        return np.asarray(own / np.where(total > 0, total, 1.0))


def call_trees(models: ModelSet, measured: Measured = "exclusive") -> tuple[CallTree, ...]:
    """A tree for each metric and set of parameters.

    Raises `InputError` where there is no model.
    """
    if not models.models:
        raise InputError("no model, so no call tree", remedy="measure more points")
    groups: dict[tuple[str, tuple[str, ...]], dict[str, FittedModel]] = {}
    for series, model in models.models:
        groups.setdefault((series.metric, series.parameters), {})[series.callpath] = model
    return tuple(
        CallTree(metric, parameters, _calls(group), measured)
        for (metric, parameters), group in groups.items()
    )


def _calls(models: Mapping[str, FittedModel]) -> tuple[Call, ...]:
    """The calls of these call paths, callers that were not measured among them."""
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
