"""Extends a formula by pieces where the behavior changes, and by forecasts beyond the points."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from regionpredict.fit.laws.thread_laws import law_of
from regionpredict.fit.model.fitted_model import FittedModel, Piece
from regionpredict.fit.model.observations import Observations, at_points
from regionpredict.fit.model.outlook import Forecast, Outlook
from regionpredict.fit.model.quality import Candidate, Monomial
from regionpredict.fit.model.terms import FloatArray
from regionpredict.fit.search import one_parameter
from regionpredict.fit.search.division import PRICE, SHORTEST, divide_points, log_likelihood_cost
from regionpredict.fit.search.exact import without_noise
from regionpredict.fit.search.forecasters import FEWEST
from regionpredict.fit.search.grid_outlooks import GridForecaster
from regionpredict.fit.search.options import Options
from regionpredict.fit.search.outlooks import Forecaster
from regionpredict.fit.search.uncertain_formula import UncertainFormula


def misfit_of_model(model: FittedModel) -> float:
    """Returns the weighted sum of squares of the formula's residuals at the measured points."""
    observations = model.observations
    return float(
        (observations.weights * (observations.y - model.formula_values(model.points)) ** 2).sum()
    )


def is_within_noise(model: FittedModel) -> bool:
    """Returns whether the formula's residuals at the measured points are within the noise."""
    used = 1 + len(model.terms) + sum(2 + len(piece.terms) for piece in model.pieces)
    return model.observations.explained(misfit_of_model(model), used)


def with_pieces(model: FittedModel, index: int, options: Options) -> FittedModel:
    """Returns a piecewise model if it explains the points clearly better, otherwise the given
    model.

    `index` is the index of the parameter that varies.
    """
    observations = model.observations
    x = model.points[:, index]
    shortest = SHORTEST if observations.dof > 0 else SHORTEST + 1
    if options.segments < 2 or len(x) < 2 * shortest or is_within_noise(model):
        return model
    order = np.argsort(x, kind="stable")
    x, observations = x[order], at_points(observations, order)
    floor = options.criterion.noise_floor
    stretches, cost = divide_points(
        x, observations, options.space, floor=floor, shortest=shortest, most=options.segments
    )
    whole = log_likelihood_cost(misfit_of_model(model), observations, floor, 2.0 * len(model.terms))
    if len(stretches) < 2 or cost + PRICE > whole:
        return model
    parts = [
        _fitted_piece(x[start:stop], observations, slice(start, stop), index, options)
        for start, stop in stretches
    ]
    *earlier, (constant, terms) = parts
    pieces = tuple(
        Piece(float(x[start]), float(x[stop - 1]), value, tuple(some))
        for (start, stop), (value, some) in zip(stretches, earlier, strict=False)
    )
    last = slice(*stretches[-1])
    return replace(
        model,
        rivals=lambda: _rival_models(x[last], observations, last, index, options),
        constant=constant,
        terms=terms,
        law=law_of(terms),
        pieces=pieces,
        start=float(x[stretches[-1][0]]),
    )


def _fitted_piece(
    x: FloatArray, observations: Observations, where: slice, index: int, options: Options
) -> tuple[float, list[tuple[float, Monomial]]]:
    """Fits the constant and the term of a piece."""
    compiled = options.space.compiled(x)
    data = _search_data(observations, where)
    selection = one_parameter.select_models(data, compiled, options.criterion, max_terms=1)
    first = int(selection.first[0])
    terms = [(float(selection.coefficient_first[0]), {index: compiled.terms[first]})]
    return float(selection.constant[0]), terms if first >= 0 else []


def _search_data(observations: Observations, where: slice) -> one_parameter.Data:
    return one_parameter.Data(
        observations.y[None, where],
        observations.weights[None, where],
        np.array([observations.within]),
        np.array([observations.dof]),
    )


def _rival_models(
    x: FloatArray, observations: Observations, where: slice, index: int, options: Options
) -> list[Candidate]:
    """Returns the candidate models with one term for a piece, the best first."""
    compiled = options.space.compiled(x)
    ranked = one_parameter.ranked_models(
        _search_data(observations, where), compiled, options.criterion, max_terms=1
    )
    return [
        Candidate(({index: compiled.terms[k]},) if k >= 0 else (), float(score))
        for k, score in zip(ranked.first.tolist(), ranked.score.tolist(), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Outlooks:
    """Computes the forecast of a model whose parameters `active` vary. See
    `FittedModel.outlook`.
    """

    active: tuple[int, ...]
    options: Options

    def __call__(self, model: FittedModel) -> Forecast | None:
        """Returns the model's forecast, or None if its formula is sufficient."""
        options, active, observations = self.options, self.active, model.observations
        if not observations.relative or len(model.points) < FEWEST:
            return None
        explains = is_within_noise(model)
        if explains and (len(active) > 1 or observations.dof < 1 or without_noise(observations)):
            return None
        if model.points[:, active].min() <= 0:
            return None
        if len(active) > 1:
            kept = observations.weights > 0  # without outliers
            known = at_points(observations, kept)
            return GridForecaster(model.points[kept], known, active, options).at
        x = np.where(observations.weights > 0, model.points[:, active[0]], np.inf)
        order = np.argsort(x, kind="stable")[: np.count_nonzero(observations.weights)]
        forecaster = Forecaster(
            x[order],
            at_points(observations, order),
            options.space,
            options.criterion,
            options.max_terms,
        )

        def views(points: FloatArray) -> Outlook:
            return forecaster.at(points[:, active[0]])

        return UncertainFormula(model, views).at if explains else views
