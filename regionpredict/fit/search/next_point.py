"""Finds the next point to measure: the point at which the candidate models disagree most relative
to its cost.

The candidate models of a fit agree at the measured points. They disagree beyond these, or between
the lines of a sparse design. A point discriminates between two candidates by the difference of
their predictions, in units of the noise. The cost is the number of processors times the predicted
time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from regionpredict.errors import InputError, percent
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.quality import design_matrix, weighted_fit
from regionpredict.fit.model.terms import FloatArray

_REPETITIONS = 5
_ENOUGH = 0.9  # share of the best point's information that the proposed, cheaper point must have
_SURE = 0.05  # probability of a wrong choice, or spread of the logarithm, at which to stop
_APART = 3.0  # standard deviations between predictions that a measurement distinguishes
_LEAST_NOISE = 0.01  # minimum noise of one measurement's logarithm
_MOST_POINTS = 256  # maximum number of candidate points
_STEPS = 2  # tried values of each parameter beyond the largest one
_CANDIDATES = 20
_SECONDS_AN_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class NextPoint:
    """A proposed point to measure, with the reason.

    `decides` is the probability, from 0 to 1, that the measurement distinguishes two candidate
    models. `between` are the two most likely formulas that it distinguishes. `core_hours` is the
    cost of `repetitions` runs. It is None if no parameter counts processors, or if the time is
    unknown. `stop` is the reason why no further point is needed, or "".
    """

    point: tuple[float, ...]
    decides: float
    between: tuple[str, ...]
    repetitions: int
    core_hours: float | None
    stop: str


def next_point(
    model: FittedModel,
    target: Sequence[float] | None = None,
    *,
    processors: int | None = 0,
    seconds: float | None = 1.0,
    repetitions: int = _REPETITIONS,
) -> NextPoint:
    """Returns the point that distinguishes the candidates of `model` best, relative to its cost.

    `target` is the point of interest (default: four times the largest values). If the candidates
    agree at this point, no measurement is needed. `processors` is the index of the parameter that
    counts processors. `seconds` is the unit of the metric in seconds. Raises `InputError` if the
    target has another length than the points.
    """
    points = model.points
    if target is None:
        target = tuple(4.0 * points.max(0))
    goal = np.asarray(target, dtype=np.float64)
    if goal.shape != (points.shape[1],):
        raise InputError(
            f"the point has {goal.size} numbers, the model has {points.shape[1]} parameters",
            remedy="give one number per parameter",
        )
    proposed = _unmeasured_points(points)
    names, shares, expected = _predictions_of_candidates(model, np.vstack([proposed, goal]))
    noise = _noise_of_new_point(model, repetitions)
    separated = _distinguishing_probabilities(expected[:, :-1], noise)
    pairs = shares[:, None] * shares[None, :]
    np.fill_diagonal(pairs, 0.0)
    doubt = float(pairs.sum())
    decides = (
        (pairs[:, :, None] * separated).sum((0, 1)) / doubt
        if doubt > 0
        else np.zeros(len(proposed))
    )
    prices = _core_hours(model, proposed, processors, seconds, repetitions)
    hopeful = np.flatnonzero(decides >= _ENOUGH * decides.max())
    price = prices if prices is not None else proposed.prod(1)
    best = int(hopeful[np.argmin(price[hopeful])])
    between = _candidates_to_distinguish(names, pairs * separated[:, :, best])
    stop = _reason_to_stop(model, shares, expected[:, -1], goal)
    if not stop and decides[best] < _SURE:
        stop = "no measurable point distinguishes the candidates: repeat measurements instead"
    return NextPoint(
        tuple(proposed[best].tolist()),
        float(decides[best]),
        between,
        repetitions,
        None if prices is None else float(prices[best]),
        stop,
    )


def _unmeasured_points(points: FloatArray) -> FloatArray:
    """Returns points that are not yet measured, from the grid of all measured values and two larger
    values of each parameter.
    """
    axes = []
    for column in points.T:
        values = np.unique(column)
        if len(values) < 2 or values[0] <= 0:
            axes.append(values.tolist())
            continue
        ratio, step = values[-1] / values[-2], values[-1] - values[-2]
        even = np.allclose(np.diff(values), step, rtol=1e-6)
        further = [
            values[-1] + k * step if even else values[-1] * ratio**k for k in range(1, _STEPS + 1)
        ]
        axes.append([*values.tolist(), *(float(round(v)) if v > 8 else v for v in further)])
    measured = {tuple(point) for point in points.tolist()}
    # Points are sorted by size, since a long list is cut off at the end.
    proposals = sorted((p for p in product(*axes) if p not in measured), key=math.prod)
    return np.array(proposals[:_MOST_POINTS] or [points[-1].tolist()], dtype=np.float64)


def _predictions_of_candidates(
    model: FittedModel, at: FloatArray
) -> tuple[list[str], FloatArray, FloatArray]:
    """Returns the formulas of the candidates, their probabilities `(c,)`, and their predictions
    `(c, k)`, which are positive.
    """
    candidates = model.candidates()[:_CANDIDATES]
    last, _ = model.stretches()[-1]
    here = np.flatnonzero(last & (model.observations.weights > 0))
    y, weights = model.observations.y[here], model.observations.weights[here]
    names, scores, rows = [], [], []
    for candidate in candidates:
        columns = design_matrix(candidate.monomials, model.points[here])
        coefficients = weighted_fit(columns, y, weights).coefficients
        names.append(model.sum_text(candidate.monomials, coefficients.tolist()))
        scores.append(candidate.score)
        rows.append(design_matrix(candidate.monomials, at) @ coefficients)
    share = np.exp(-0.5 * (np.array(scores) - min(scores)))
    expected = np.array(rows)
    usable = np.asarray((expected > 0).all(axis=1), dtype=bool)
    if not usable.any():
        raise InputError(
            "no candidate stays positive beyond the points", remedy="measure nearer to them"
        )
    share = np.where(usable, share, 0.0)
    expected = np.where(usable[:, None], expected, expected[int(np.argmax(usable))])
    return names, np.asarray(share / share.sum()), expected


def _noise_of_new_point(model: FittedModel, repetitions: int) -> float:
    """Returns the standard deviation of the logarithm of a new measurement with this number of
    repetitions.
    """
    noise = model.noise if np.isfinite(model.noise) else model.smape / 100
    return max(noise / math.sqrt(repetitions), _LEAST_NOISE)


def _distinguishing_probabilities(expected: FloatArray, noise: float) -> FloatArray:
    """Returns the probability `(c, c, k)` that each of `k` points distinguishes each pair of
    candidates.
    """
    logs = np.log(expected)
    distance = np.abs(logs[:, None, :] - logs[None, :, :]) / (_APART * noise)
    return np.asarray(1.0 - np.exp(-(np.minimum(distance, 30.0) ** 2)))


def _core_hours(
    model: FittedModel,
    points: FloatArray,
    processors: int | None,
    seconds: float | None,
    repetitions: int,
) -> FloatArray | None:
    """Returns the core hours `(k,)` of a measurement at each point, or None if they are unknown."""
    if processors is None or seconds is None:
        return None
    times = np.maximum(model.predict_many(points), 0.0) * seconds
    return np.asarray(repetitions * points[:, processors] * times / _SECONDS_AN_HOUR)


def _candidates_to_distinguish(names: list[str], separated: FloatArray) -> tuple[str, ...]:
    """Returns the two candidates that the point distinguishes with the highest probability."""
    if not separated.max(initial=0.0):
        return ()
    first, second = np.unravel_index(int(np.argmax(separated)), separated.shape)
    return names[min(first, second)], names[max(first, second)]


def _reason_to_stop(
    model: FittedModel, shares: FloatArray, predictions: FloatArray, goal: FloatArray
) -> str:
    if 1.0 - float(shares.max()) < _SURE and model.outlook(goal[None]) is None:
        return f"one model is left ({100 * float(shares.max()):.0f} %)"
    logs = np.log(predictions)
    mean = float(shares @ logs)
    spread = float(np.sqrt(shares @ (logs - mean) ** 2))
    outlook = model.outlook(goal[None])
    spread = max(spread, float(outlook.spread[0]) if outlook is not None else 0.0)
    if spread < _SURE:
        place = ", ".join(f"{n} = {v:g}" for n, v in zip(model.parameters, goal, strict=True))
        return f"all candidates agree within {percent(spread)} at {place}"
    return ""
