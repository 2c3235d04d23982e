"""What the search adds to a formula: pieces where the behaviour changes, and its outlook."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from regionpredict.fit.laws.thread_laws import law_of
from regionpredict.fit.model.fitted_model import FittedModel, Piece
from regionpredict.fit.model.observations import Observations, ordered
from regionpredict.fit.model.outlook import Outlook
from regionpredict.fit.model.quality import Monomial
from regionpredict.fit.model.terms import FloatArray
from regionpredict.fit.search import one_parameter
from regionpredict.fit.search.division import PRICE, SHORTEST, cost_of, divide
from regionpredict.fit.search.forecasters import FEWEST
from regionpredict.fit.search.options import Options
from regionpredict.fit.search.outlooks import Forecaster

FEWEST_TO_DIVIDE = 2 * SHORTEST


def explained(model: FittedModel) -> bool:
    """Whether the formula leaves no more than noise at the model's own points."""
    seen = model.observations
    residual = seen.y - model.formula_values(model.points)
    used = 1 + len(model.terms) + sum(2 + len(piece.terms) for piece in model.pieces)
    return seen.explained(float((seen.weights * residual**2).sum()), used)


def with_pieces(model: FittedModel, index: int, options: Options) -> FittedModel:
    """The model, or one in pieces where that explains the points decisively better.

    `index` is the parameter that varies.
    """
    seen = model.observations
    x = model.points[:, index]
    shortest = SHORTEST if seen.dof > 0 else SHORTEST + 1
    if len(x) < 2 * shortest or explained(model):
        return model
    order = np.argsort(x, kind="stable")
    x, seen = x[order], ordered(seen, order)
    floor = options.criterion.noise_floor
    stretches, cost = divide(
        x, seen, options.space, floor=floor, shortest=shortest, most=options.segments
    )
    residual = seen.y - model.formula_values(model.points)[order]
    misfit = float((seen.weights * residual**2).sum())
    if len(stretches) < 2 or cost + PRICE > cost_of(misfit, seen, floor, 2.0 * len(model.terms)):
        return model
    parts = [
        _stretch(x[start:stop], seen, slice(start, stop), index, options)
        for start, stop in stretches
    ]
    *earlier, (constant, terms) = parts
    pieces = tuple(
        Piece(float(x[start]), float(x[stop - 1]), value, tuple(some))
        for (start, stop), (value, some) in zip(stretches, earlier, strict=False)
    )
    return replace(
        model,
        constant=constant,
        terms=terms,
        law=law_of(terms),
        pieces=pieces,
        start=float(x[stretches[-1][0]]),
    )


def _stretch(
    x: FloatArray, seen: Observations, where: slice, index: int, options: Options
) -> tuple[float, list[tuple[float, Monomial]]]:
    """The constant and the term of a stretch."""
    compiled = options.space.compiled(x)
    data = one_parameter.Data(
        seen.y[None, where],
        seen.weights[None, where],
        np.array([seen.within]),
        np.array([seen.dof]),
    )
    found = one_parameter.select(data, compiled, options.criterion, max_terms=1)
    first = int(found.first[0])
    terms = [(float(found.coefficient_first[0]), {index: compiled.terms[first]})]
    return float(found.constant[0]), terms if first >= 0 else []


class LazyOutlook:
    """The outlook of a model of one parameter, worked out when it is first asked for."""

    def __init__(self, model: FittedModel, index: int, options: Options) -> None:
        self._model, self._index, self._options = model, index, options
        self._asked = False
        self._forecaster: Forecaster | None = None

    def __call__(self, points: FloatArray) -> Outlook | None:
        """See `Forecast`."""
        if not self._asked:
            self._asked, self._forecaster = True, self._made()
        return self._forecaster.at(points[:, self._index]) if self._forecaster else None

    def _made(self) -> Forecaster | None:
        model, options = self._model, self._options
        x, seen = model.points[:, self._index], model.observations
        if not seen.relative or x.min() <= 0 or len(x) < FEWEST or explained(model):
            return None
        order = np.argsort(x, kind="stable")
        return Forecaster(
            x[order], ordered(seen, order), options.space, options.criterion, options.max_terms
        )


def completed(model: FittedModel, index: int, options: Options, *, settled: bool) -> FittedModel:
    """The model in pieces if need be, and with its outlook; `settled` ones have no other side."""
    if not settled and options.segments > 1 and len(model.points) >= FEWEST_TO_DIVIDE:
        model = with_pieces(model, index, options)
    return replace(model, forecast=LazyOutlook(model, index, options))
