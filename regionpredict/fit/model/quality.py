"""Computes the quality of a model, and the uncertainty of its predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from regionpredict.fit.model.observations import Observations
from regionpredict.fit.model.terms import FloatArray, Term, evaluate_term

_SHARE_THAT_COUNTS = 14.0  # largest score difference to the best model: 1000 times less likely


Monomial = dict[int, Term]
"""A product of terms: the term of each parameter, by its index."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that a search considered: its monomials and its score (smaller is better).

    Scores are minus twice a log-probability, so a difference of 6 means 20 times less likely.
    """

    monomials: tuple[Monomial, ...]
    score: float


class ModelOfData(Protocol):
    """The interface of a model whose quality can be computed. `FittedModel` implements it."""

    @property
    def constant(self) -> float:
        """The constant of the sum."""

    @property
    def terms(self) -> list[tuple[float, Monomial]]:
        """Coefficients and monomials."""

    @property
    def monomials(self) -> tuple[Monomial, ...]:
        """The monomials without coefficients."""

    @property
    def points(self) -> FloatArray:
        """The measured points `(n, m)`."""

    @property
    def observations(self) -> Observations:
        """The measured values at the points."""

    @property
    def reciprocal(self) -> bool:
        """Whether the sum of terms models the reciprocal of the value."""

    @property
    def ceiling(self) -> float | None:
        """The ceiling of a saturating law, or None."""

    def predict_many(self, points: FloatArray) -> FloatArray:
        """Returns the predicted values `(k,)` at the points `(k, m)`."""

    def candidates(self) -> list[Candidate]:
        """Returns the models that the search considered, the best first."""

    def stretches(self) -> list[tuple[NDArray[np.bool_], tuple[Monomial, ...]]]:
        """Returns the mask of points and the monomials of each piece of the model."""


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of a model. `smape` and `cross_validated_error` are in percent, and `adjusted_r2`
    is dimensionless.
    """

    smape: float
    adjusted_r2: float
    cross_validated_error: float


def smape(measured: FloatArray, modelled: FloatArray) -> float:
    """Returns the symmetric mean absolute percentage error, in percent, from 0 to 200.

    >>> smape(np.array([1.0, 1.0]), np.array([1.0, 3.0]))
    50.0
    """
    size = np.abs(measured) + np.abs(modelled)
    return float(np.mean(200.0 * np.abs(measured - modelled) / np.where(size > 0, size, 1.0)))


def design_matrix(monomials: Sequence[Monomial], points: FloatArray) -> FloatArray:
    """Returns the design matrix `(n, 1 + k)` of a constant and `k` monomials at the points `(n,
    m)`.
    """
    columns = [np.ones(len(points))]
    for monomial in monomials:
        column = np.ones(len(points))
        for index, term in monomial.items():
            column = column * evaluate_term(term, points[:, index])
        columns.append(column)
    return np.stack(columns, axis=1)


@dataclass(frozen=True, slots=True)
class WeightedFit:
    """The result of a weighted least-squares fit. `covariance` is divided by the noise variance,
    and `leverage` has shape `(n,)`.
    """

    coefficients: FloatArray
    covariance: FloatArray
    leverage: FloatArray
    residual: FloatArray


def weighted_fit(columns: FloatArray, y: FloatArray, weights: FloatArray) -> WeightedFit:
    """Fits the columns `(n, k)` by weighted least squares. Linearly dependent columns share their
    coefficient.
    """
    root = np.sqrt(weights)
    scaled = columns * root[:, None]
    size = np.sqrt((scaled * scaled).sum(0))
    size[size == 0] = 1.0
    basis, singular_values, directions = np.linalg.svd(scaled / size, full_matrices=False)
    kept = singular_values > 1e-9 * singular_values[0]
    basis, singular_values, directions = basis[:, kept], singular_values[kept], directions[kept]
    inverse = (directions.T / singular_values) @ basis.T
    coefficients = inverse @ (root * y)
    half = directions.T / singular_values / size[:, None]
    return WeightedFit(
        coefficients / size,
        half @ half.T,
        (basis * basis).sum(1),
        y - columns @ (coefficients / size),
    )


def of_model(model: ModelOfData) -> Quality:
    """Computes the quality of a model at its measured points. Leave-one-out errors follow from the
    hat matrix.
    """
    observations = model.observations
    y = observations.y
    fitted = model.predict_many(model.points)
    kept = observations.weights > 0  # outliers do not count against the model
    total = float(((y[kept] - y[kept].mean()) ** 2).sum())
    stretches = model.stretches()
    count, size = int(kept.sum()), sum(1 + len(monomials) for _, monomials in stretches)
    if size < 2 or total == 0 or count <= size:
        adjusted = float("nan")
    else:
        left = float(((y[kept] - fitted[kept]) ** 2).sum())
        adjusted = 1.0 - left / (count - size) * (count - 1) / total
    weights = observations.weights
    if model.reciprocal:
        weights = weights * y**4
    target = 1.0 / y if model.reciprocal else y
    leverage = np.empty(len(y))
    for own, monomials in stretches:
        columns = design_matrix(monomials, model.points[own])
        leverage[own] = weighted_fit(columns, target[own], weights[own]).leverage
    left_out = y - (y - fitted) / np.maximum(1.0 - leverage, 1e-3)
    return Quality(smape(y[kept], fitted[kept]), adjusted, smape(y[kept], left_out[kept]))


def of_models(models: Sequence[ModelOfData]) -> list[Quality]:
    """Computes the quality of many models. Models with the same points and monomials are processed
    together.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for row, model in enumerate(models):
        plain = not model.reciprocal and model.ceiling is None and len(model.stretches()) == 1
        plain = plain and bool(model.observations.weights.all())
        shape = tuple(tuple(m.items()) for _, m in model.terms)
        key = (
            (model.points.shape, model.points.tobytes(), shape)
            if plain and model.observations.relative
            else (row, "own")
        )
        groups.setdefault(key, []).append(row)
    by_model: dict[int, Quality] = {}
    for rows in groups.values():
        if len(rows) == 1:
            by_model[rows[0]] = of_model(models[rows[0]])
        else:
            by_model.update(
                zip(rows, _qualities_of_similar_models([models[row] for row in rows]), strict=True)
            )
    return [by_model[row] for row in range(len(models))]


def _qualities_of_similar_models(models: Sequence[ModelOfData]) -> list[Quality]:
    """Computes the qualities of models that share their points and monomials."""
    first = models[0]
    columns = design_matrix(first.monomials, first.points)
    count, size = columns.shape
    y = np.array([m.observations.y for m in models])
    weights = np.array([m.observations.weights for m in models])
    coefficients = np.array([[m.constant, *(c for c, _ in m.terms)] for m in models])
    fitted = np.maximum(coefficients @ columns.T, 0.0)
    basis = np.linalg.qr(columns * np.sqrt(weights)[:, :, None])[0]
    leverage = (basis * basis).sum(2)
    misfit = y - fitted
    left_out = y - misfit / np.maximum(1.0 - leverage, 1e-3)

    def smape_per_model(modelled: FloatArray) -> FloatArray:
        size = np.abs(y) + np.abs(modelled)
        share: FloatArray = 200.0 * np.abs(y - modelled) / np.where(size > 0, size, 1.0)
        return np.asarray(share.mean(1), dtype=np.float64)

    total = ((y - y.mean(1, keepdims=True)) ** 2).sum(1)
    if first.terms and count > size:
        with np.errstate(divide="ignore", invalid="ignore"):
            adjusted = 1.0 - (misfit**2).sum(1) / (count - size) * (count - 1) / total
        adjusted = np.where(total > 0, adjusted, np.nan)
    else:
        adjusted = np.full(len(models), np.nan)
    return [
        Quality(*three)
        for three in zip(
            smape_per_model(fitted).tolist(),
            adjusted.tolist(),
            smape_per_model(left_out).tolist(),
            strict=True,
        )
    ]


def prediction_quantiles(
    model: ModelOfData, point: FloatArray, levels: Sequence[float]
) -> list[float]:
    """Returns quantiles of the mixture of all candidate models at one point `(1, m)`, for ascending
    levels.
    """
    observations = model.observations
    y = 1.0 / observations.y if model.reciprocal else observations.y
    weights = observations.weights * observations.y**4 if model.reciprocal else observations.weights
    if model.ceiling is not None:  # the sum does not describe the points at the ceiling
        fitted = model.predict_many(model.points)
        above = (1.0 / fitted if model.reciprocal else fitted) > model.ceiling
        weights = np.where(above, weights, 0.0) if above.any() else weights
    centres, spreads, shares = [], [], []
    candidates = model.candidates()
    best = candidates[0].score
    for candidate in candidates:
        if candidate.score > best + _SHARE_THAT_COUNTS:
            break
        columns = design_matrix(candidate.monomials, model.points)
        solution = weighted_fit(columns, y, weights)
        at = design_matrix(candidate.monomials, point)[0]
        left = max(np.count_nonzero(weights) - columns.shape[1], 0)
        misfit = float((weights * solution.residual**2).sum())
        noise = max(
            (observations.within + misfit) / max(observations.dof + left, 1.0),
            misfit / max(left - 1, 1),
        )
        centres.append(float(at @ solution.coefficients))
        near = int(np.argmin(np.where(weights > 0, np.abs(y - centres[-1]), np.inf)))
        there = max(1.0, (centres[-1] / y[near]) ** 2 if y[near] else 1.0) / weights[near]
        variance = noise * (float(at @ solution.covariance @ at) + there)
        spreads.append(max(float(np.sqrt(variance)), 1e-12 * abs(centres[-1]), 1e-300))
        shares.append(float(np.exp(-0.5 * (candidate.score - best))))
    if model.ceiling is not None:
        centres = [max(centre, model.ceiling) for centre in centres]
    of = [1.0 - level for level in reversed(levels)] if model.reciprocal else levels
    found = _mixture_quantiles(np.array(centres), np.array(spreads), np.array(shares), of)
    if observations.relative:
        found = [max(value, 0.0) for value in found]
    if model.reciprocal:
        return [1.0 / max(value, 1e-300) for value in reversed(found)]
    return found


def _mixture_quantiles(
    centres: FloatArray, spreads: FloatArray, shares: FloatArray, levels: Sequence[float]
) -> list[float]:
    """Returns quantiles of a mixture of normal distributions, by bisection."""
    weights = shares / shares.sum()
    found = []
    for target in levels:
        low = float((centres - 12 * spreads).min())
        high = float((centres + 12 * spreads).max())
        for _ in range(60):
            middle = 0.5 * (low + high)
            z = np.clip((middle - centres) / spreads, -40, 40)
            # The logistic function approximates the normal one, with an error below 0.01.
            below = float((weights / (1.0 + np.exp(-1.702 * z))).sum())
            low, high = (middle, high) if below < target else (low, middle)
        found.append(0.5 * (low + high))
    return found
