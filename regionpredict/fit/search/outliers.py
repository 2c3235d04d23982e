"""Finds a point that contradicts all other points, and omits it from the fit with a note.

A wrong value or a run on a faulty node would affect the whole model. A point is an outlier only if
a model explains all other points and the point is far from this model. With a single parameter, the
model must have at most one term. The two largest points are never outliers, since they may show a
change of behavior. The smallest point must be farther from the model than others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.observations import Observations

_FEWEST = 5
_FAR = 0.3  # minimum distance of an outlier's logarithm from the model
_FAR_IN_NOISE = 8.0  # the same in standard deviations of one point, if there are repetitions
_FAR_IN_MISFIT = 20.0  # the same in misfits of the other points, without repetitions
_SUSPICIOUS = 8.0  # ratio of misfit and noise variance from which an outlier is searched
_AT_THE_EDGE = 5.0  # factor of the distance for the smallest value, which is often special
_MANY = 8  # number of points above which only the farthest points are tried
_TRIED = 4  # number of the farthest points that are tried
_CONFIRMING = 2  # number of largest points that are never outliers
_SPARE = 2  # minimum degrees of freedom of the other points' model without repetitions

Refit = Callable[[Observations], FittedModel]


def without_outlier(model: FittedModel, active: tuple[int, ...], refit: Refit) -> FittedModel:
    """Returns the model of all points except an outlier, with a note, or the given model if there
    is no outlier.

    `refit` fits a model to observations in which the outlier has the weight zero. `active` are the
    parameters that vary.
    """
    observations = model.observations
    count = len(observations.y)
    if count < _FEWEST or not observations.relative or not active:
        return model
    off = np.sqrt(observations.weights) * np.abs(
        observations.y - model.formula_values(model.points)
    )
    # An outlier causes a larger misfit, even if the model is fitted to it.
    if (
        observations.dof > 0
        and float(off @ off) < _SUSPICIOUS * observations.within / observations.dof * count
    ):
        return model
    if len(active) == 1:
        off[np.argsort(model.points[:, active[0]])[-_CONFIRMING:]] = -1.0
    first = int(np.argmin(model.points[:, active[0]])) if len(active) == 1 else -1
    tried = np.argsort(-off, kind="stable")[: _TRIED if count > _MANY else count]
    best, least = model, np.inf
    for row in tried[off[tried] >= 0].tolist():
        weights = observations.weights.copy()
        weights[row] = 0.0
        other = refit(replace(observations, weights=weights))
        misfit = _misfit_of_others(other, row, _AT_THE_EDGE if row == first else 1.0)
        if misfit is not None and misfit < least:
            best, least = other, misfit
    if best is model:
        return model
    [row] = np.flatnonzero(best.observations.weights == 0).tolist()
    expected = float(best.formula_values(best.points[[row]])[0])
    place = ", ".join(f"{best.parameters[index]} = {best.points[row, index]:g}" for index in active)
    note = (
        f"{place} is left out as an outlier: {observations.y[row]:.4g} was measured, all other "
        f"points agree on {expected:.4g}"
    )
    return replace(best, notes=(*best.notes, note))


def _misfit_of_others(model: FittedModel, row: int, distance_factor: float) -> float | None:
    """Returns the misfit of all other points if the model explains them and they contradict the
    point `row`, otherwise None.

    `distance_factor` is the factor of the minimum distance of an outlier.
    """
    observations = model.observations
    expected = model.formula_values(model.points)
    if not expected[row] > 0 or any(coefficient < 0 for coefficient, _ in model.terms):
        return None
    distance = abs(float(np.log(observations.y[row] / expected[row])))
    misfit = float((observations.weights * (observations.y - expected) ** 2).sum())
    used = 1 + len(model.terms)
    left = len(observations.y) - 1 - used
    if distance < _FAR or left < 1:
        return None
    if observations.dof > 0:
        far = distance > distance_factor * _FAR_IN_NOISE * observations.noise
        return misfit if far and observations.explained(misfit, used + 1) else None
    far = distance > distance_factor * _FAR_IN_MISFIT * np.sqrt(misfit / left)
    return misfit if far and left >= _SPARE else None
