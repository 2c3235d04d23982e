"""Forecasts a series of one parameter beyond its points by several simple models, called
forecasters.

No single law describes measured times over their whole range and beyond. Caches and sockets fill
up, and libraries change their algorithm. Therefore several simple forecasters are combined. Each
forecaster uses a window of points, from the last three to all points:

* `sum N`: a constant and one term of the search space, averaged over the terms by their
  posterior probability, fitted to the last N points;
* `absolute sum N`: the same for constant instead of relative noise, so that the largest values
  count most;
* `work N`: `sum N` of the value times the parameter, which is the total work of all processors in
  strong scaling;
* `cross-validated`: a constant and the term that predict left-out points best, as in Extra-P;
* `formula` and `formula of work`: the result of the model search, for the value and for the work;
* `threads`: Amdahl's law with or without overhead, or saturation;
* the extrapolations of the last points in `last_points.py`.

The direction of the last points decides which forecasters are used (`applicable_forecasters`).
`outlooks.py` combines these.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.fit.laws.thread_laws import fit_law
from regionpredict.fit.model.observations import Observations
from regionpredict.fit.model.terms import FloatArray, SearchSpace, evaluate_all
from regionpredict.fit.search import last_points, one_parameter
from regionpredict.fit.search.criterion import Criterion
from regionpredict.fit.search.one_parameter import Data

_WINDOWS = (3, 4, 6, 0.5, 1.0)  # numbers of points, or shares of all points (at least four points)
_FINEST_MISFIT = 5e-3  # relative misfit below which terms are equally good for a few points
_SLOWLY_FALLING = (((-0.5, 0.0), 1.0),)  # a term for surfaces of divided volumes, and its rarity
_RARITY = 1.5  # price of rare terms in averages, like `Criterion.rarity`
_RARER = 2.7  # factor of `Criterion.rarity` for formulas, since forecasts use few points

_ABSOLUTE = (0, 3, 4)  # windows of `absolute sum`, few since similar forecasters outvote others

NAMES = (
    *(f"{kind} {window}" for kind in ("sum", "work") for window in ("3", "4", "6", "half", "all")),
    *(f"absolute sum {window}" for window in ("3", "half", "all")),
    *last_points.NAMES,
    "cross-validated",
    "formula",
    "formula of work",
    "threads",
)
"""The forecasters, in the order of the rows of `opinions`."""

_STEEP = 0.3  # exponent of the last points above which they count as rising or falling
_END = 4  # number of points that decide whether a series rises or falls
# Excluded for rising values: shares of a fixed work, constants, and local curvature, which is
# mostly noise.
_NOT_RISING = ("work", "formula of work", "threads", "curved", "bent", "offset", "last")
# Excluded for falling values: growth terms, which a few points do not determine, and lines, which
# reach zero.
_NOT_FALLING = (
    *("sum 3", "sum 4", "sum 6", "sum half", "absolute", "line", "tree"),
    "cross-validated",
)
_NOT_FLAT = ("cross-validated",)
_TURN = 0.02  # change of the logarithm below which a step has no direction
_STEEPEST = -1.3  # exponent below which times fall faster than divided work can
# Values that fall after a rise, or faster than divided work, have no lasting trend. A rise after a
# fall is the overhead of more threads.
_WHOLE_RANGE = (
    *("sum all", "absolute sum all", "power 4", "last"),
    *("cross-validated", "formula", "threads"),
)
_WHOLE_RANGE_OF_WORK = ("work all", "formula of work", "damped power 2")

FEWEST = 3
"""Minimum number of points for forecasts."""


def forecasts_by_forecaster(
    x: FloatArray,
    observations: Observations,
    at: FloatArray,
    space: SearchSpace,
    criterion: Criterion,
    max_terms: int,
) -> FloatArray:
    """Returns the forecast of each forecaster at the values `at` `(k,)`, with shape `(len(NAMES),
    k)`. NaN means no forecast.

    `x` `(n,)` is ascending and positive, and all values of `observations` are positive.
    """
    y = observations.y
    rows = [
        _average_forecasts(x, y, at, space),
        last_points.forecasts_from_last_points(x, y, at),
        _cross_validated_forecast(x, y, at, space)[None],
        _formula_forecasts(x, observations, at, space, criterion, max_terms),
        _thread_law_forecast(x, observations, at)[None],
    ]
    array = np.concatenate(rows)
    return np.where(np.isfinite(array) & (array > 0), array, np.nan)


def applicable_forecasters(x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
    """Returns a mask `(len(NAMES),)` of the forecasters to use for a series `(n,)`. The choice
    depends on whether the last values rise, fall or turn.

    >>> falling = applicable_forecasters(np.array([1.0, 2.0, 4.0]), np.array([8.0, 4.0, 2.0]))
    >>> [bool(falling[NAMES.index(name)]) for name in ("work all", "line 3")]
    [True, False]
    """
    logarithm, values = np.log(x[-_END:]), np.log(y[-_END:])
    steps = np.diff(values)
    if steps[-1] < _STEEPEST * (logarithm[-1] - logarithm[-2]):
        return np.array([name in _WHOLE_RANGE for name in NAMES])
    directions = np.sign(steps[np.abs(steps) > _TURN])
    if (np.diff(directions) < 0).any():
        return np.array([name in (*_WHOLE_RANGE, *_WHOLE_RANGE_OF_WORK) for name in NAMES])
    centred = logarithm - logarithm.mean()
    steepness = float(centred @ values / (centred @ centred))
    ignored: tuple[str, ...] = _NOT_FLAT
    if abs(steepness) > _STEEP:
        ignored = _NOT_RISING if steepness > 0 else _NOT_FALLING
    return np.array([not name.startswith(ignored) for name in NAMES])


def _average_forecasts(
    x: FloatArray, y: FloatArray, at: FloatArray, space: SearchSpace
) -> FloatArray:
    """Returns the forecasts of `sum` and `work` for each window, and of `absolute sum` for three
    windows, with shape `(13, k)`.
    """
    count = len(x)
    sizes = [w if w > 1 else max(4, int(np.ceil(count * w))) for w in _WINDOWS]
    known = [*zip(space.terms, space.rarities, strict=True), *_SLOWLY_FALLING]
    usable = [(term, rare) for term, rare in known if x[0] >= 1 or term[1] == 0]
    terms = [term for term, _ in usable]
    rarity = np.array([rare for _, rare in usable])
    columns = evaluate_all(terms, np.append(x, at))
    column, beyond = columns[:, :count], columns[:, count:]
    mask = np.arange(count) >= count - np.array(sizes)[:, None]
    number = np.minimum(np.array(sizes), count)[:, None]
    rows = []
    one = np.ones(len(at))
    level = mask @ y[:, None] / number
    kinds = ((y, one, y, 1), (y * x, at, y * x, 1), (y, one, level, number))
    for values, divisor, scale, floors in kinds:
        weight = mask / scale**2
        total = weight.sum(1, keepdims=True)
        mean = weight @ values[:, None] / total
        centred = weight * (values - mean)
        column_mean = weight @ column.T / total
        norm = weight @ (column**2).T - column_mean**2 * total
        product = centred @ column.T - centred.sum(1, keepdims=True) * column_mean
        real = norm > 1e-12 * (column_mean**2 * total)
        slope = np.where(real, product / np.where(real, norm, 1.0), 0.0)
        misfit = np.maximum((centred * (values - mean)).sum(1, keepdims=True) - slope * product, 0)
        score = (number - 1.0) * np.log(misfit + floors * _FINEST_MISFIT**2) + _RARITY * rarity
        share = np.exp(-0.5 * (score - score.min(1, keepdims=True)))
        expected = mean[:, :, None] + slope[:, :, None] * (beyond - column_mean[:, :, None])
        shares = share[:, :, None] * (expected > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = (shares * np.log(np.maximum(expected, 1e-300))).sum(1) / shares.sum(1)
        averages = np.exp(logs) / divisor
        # If two windows contain the same points, only the last one is used.
        averages[[size > count or size in sizes[k + 1 :] for k, size in enumerate(sizes)]] = np.nan
        rows.append(averages)
    return np.concatenate([rows[0], rows[1], rows[2][list(_ABSOLUTE)]])


def _cross_validated_forecast(
    x: FloatArray, y: FloatArray, at: FloatArray, space: SearchSpace
) -> FloatArray:
    """Returns the forecasts `(k,)` of the constant and term that predict left-out points best by
    SMAPE.
    """
    count = len(x)
    terms = [term for term in space.terms if x[0] >= 1 or term[1] == 0]
    columns = evaluate_all(terms, np.append(x, at))
    means = columns[:, :count].mean(1, keepdims=True)
    centred = columns[:, :count] - means
    norm = (centred**2).sum(1)
    varies = norm > 1e-12 * (means[:, 0] ** 2 * count)
    norm = np.where(varies, norm, 1.0)
    slope = centred @ (y - y.mean()) / norm
    residual = y - y.mean() - slope[:, None] * centred
    leverage = 1 / count + centred**2 / norm[:, None]
    left_out = y - residual / np.maximum(1 - leverage, 1e-9)
    errors = (np.abs(y - left_out) / (y + np.abs(left_out))).sum(1)
    best = int(np.argmin(np.where(varies, errors, np.inf)))
    return np.asarray(y.mean() + slope[best] * (columns[best, count:] - means[best]))


def _formula_forecasts(
    x: FloatArray,
    observations: Observations,
    at: FloatArray,
    space: SearchSpace,
    criterion: Criterion,
    max_terms: int,
) -> FloatArray:
    """Returns the forecasts `(2, k)` of `formula` and `formula of work`."""
    compiled = space.compiled(x)
    criterion = replace(criterion, rarity=_RARER * criterion.rarity)
    # The weight of the work is that of the value divided by the square of the parameter.
    data = Data(
        np.stack([observations.y, observations.y * x]),
        np.stack([observations.weights, observations.weights / x**2]),
        np.full(2, observations.within),
        np.full(2, observations.dof),
    )
    selection = one_parameter.select_models(data, compiled, criterion, max_terms=max_terms)
    columns = evaluate_all(compiled.terms, at)
    result = np.tile(selection.constant[:, None], len(at))
    for row in range(2):
        for index, coefficient in (
            (selection.first[row], selection.coefficient_first[row]),
            (selection.second[row], selection.coefficient_second[row]),
        ):
            if index >= 0:
                result[row] += coefficient * columns[index]
    result[1] /= at
    return result


def _thread_law_forecast(x: FloatArray, observations: Observations, at: FloatArray) -> FloatArray:
    """Returns the forecasts `(k,)` of Amdahl's law or a similar law."""
    try:
        return fit_law("threads", x[:, None], observations, ("p",)).predict_many(at[:, None])
    except InputError:
        return np.full(len(at), np.nan)
