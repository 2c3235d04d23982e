"""Finds one point that contradicts all others, and leaves it out with a note.

A wrong value or a run on a faulty node would affect the whole model. A point is an outlier only if
a model explains all other points and this one is far from it. With a single parameter, the model
must have at most one term. The two largest points are never outliers, since a change of behavior
looks the same there. The smallest point must be farther away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.observations import Observations

_FEWEST = 5
_FAR = 0.3  # of the logarithm: nearer points are not outliers
_FAR_IN_NOISE = 8.0  # standard deviations of one point, if there are repetitions
_FAR_IN_MISFIT = 20.0  # times the misfit of the other points, without repetitions
_SUSPICIOUS = 8.0  # mean variance over all points, relative to the noise
_AT_THE_EDGE = 5.0  # the smallest value, such as one processor, is often special
_MANY = 8  # with this many points, only some are tried:
_TRIED = 4  # the ones farthest off
_CONFIRMING = 2  # larger points of one parameter that must agree with the smaller ones
_SPARE = 2  # degrees of freedom that the others' model needs without repetitions

Refit = Callable[[Observations], FittedModel]


def without_outlier(model: FittedModel, active: tuple[int, ...], refit: Refit) -> FittedModel:
    """The model, or that of all points except an outlier, with a note.

    `refit` makes a model of observations at the same points, with a weight of zero for the outlier.
    `active` are the parameters that vary.
    """
    seen = model.observations
    count = len(seen.y)
    if count < _FEWEST or not seen.relative or not active:
        return model
    off = np.sqrt(seen.weights) * np.abs(seen.y - model.formula_values(model.points))
    # A point that far off has a larger remainder, even if the model is fitted to it.
    if seen.dof > 0 and float(off @ off) < _SUSPICIOUS * seen.within / seen.dof * count:
        return model
    if len(active) == 1:
        off[np.argsort(model.points[:, active[0]])[-_CONFIRMING:]] = -1.0
    first = int(np.argmin(model.points[:, active[0]])) if len(active) == 1 else -1
    tried = np.argsort(-off, kind="stable")[: _TRIED if count > _MANY else count]
    best, least = model, np.inf
    for row in tried[off[tried] >= 0].tolist():
        weights = seen.weights.copy()
        weights[row] = 0.0
        other = refit(replace(seen, weights=weights))
        misfit = _misfit_of_others(other, row, _AT_THE_EDGE if row == first else 1.0)
        if misfit is not None and misfit < least:
            best, least = other, misfit
    if best is model:
        return model
    [row] = np.flatnonzero(best.observations.weights == 0).tolist()
    expected = float(best.formula_values(best.points[[row]])[0])
    place = ", ".join(f"{best.parameters[index]} = {best.points[row, index]:g}" for index in active)
    note = (
        f"{place} is left out as an outlier: {seen.y[row]:.4g} was measured, all other points "
        f"agree on {expected:.4g}"
    )
    return replace(best, notes=(*best.notes, note))


def _misfit_of_others(model: FittedModel, row: int, harder: float) -> float | None:
    """The misfit of the other points, if a model explains them and they contradict this one.

    `harder` is the factor by which it must be farther away than other points.
    """
    seen = model.observations
    expected = model.formula_values(model.points)
    if not expected[row] > 0 or any(coefficient < 0 for coefficient, _ in model.terms):
        return None
    distance = abs(float(np.log(seen.y[row] / expected[row])))
    misfit = float((seen.weights * (seen.y - expected) ** 2).sum())
    used = 1 + len(model.terms)
    left = len(seen.y) - 1 - used
    if distance < _FAR or left < 1:
        return None
    if seen.dof > 0:
        far = distance > harder * _FAR_IN_NOISE * seen.noise
        return misfit if far and seen.explained(misfit, used + 1) else None
    far = distance > harder * _FAR_IN_MISFIT * np.sqrt(misfit / left)
    return misfit if far and left >= _SPARE else None
