"""Forecasters for a series of one parameter: simple models that predict larger values.

No single law describes measured times over their whole range and beyond. Caches and sockets fill
up, and libraries change their algorithm. Therefore several simple forecasters compete. Each uses
the points it trusts, from the last three to all of them:

* `sum N`: a constant and one term of the search space, averaged over the terms by their
  posterior probability, fitted to the last N points;
* `absolute sum N`: the same where the noise is a constant, so that the largest values count most;
* `work N`: the same as `sum N` of the value times the parameter, the work of all processors
  together, as strong scaling divides a fixed work;
* `cross-validated`: the term that predicts points left out best, as Extra-P chooses;
* `formula` and `formula of work`: what the search finds, for the value and for the work;
* `threads`: Amdahl's law with or without overhead, or saturation;
* the views through the last points of `last_points.py`.

The direction of the last points decides which of them are used (`asked`). `outlooks.py` combines
them.
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

_WINDOWS = (3, 4, 6, 0.5, 1.0)  # points, or shares of the points (four points at least)
_FINEST_MISFIT = 5e-3  # relative: below this, terms of a few points are equally good
_SLOWLY_FALLING = (((-0.5, 0.0), 1.0),)  # like surfaces of divided volumes; with its rarity
_RARITY = 1.5  # like `Criterion.rarity`, for averages, which need no winner
_RARER = 2.7  # times `Criterion.rarity` for formulas: from an origin, few points are seen

_ABSOLUTE = (0, 3, 4)  # indices of windows: more similar ones would outvote the others

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

_STEEP = 0.3  # exponent through the last points, beyond which they rise or fall
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
_TURN = 0.02  # change of the logarithm: smaller changes have no direction
_STEEPEST = -1.3  # exponent: divided fixed work does not fall faster
# Values that fall after a rise, or faster than divided work, have no lasting trend. A rise after a
# fall is the overhead of more threads.
_WHOLE_RANGE = (
    *("sum all", "absolute sum all", "power 4", "last"),
    *("cross-validated", "formula", "threads"),
)
_WHOLE_RANGE_OF_WORK = ("work all", "formula of work", "damped power 2")

FEWEST = 3
"""Minimum number of points for forecasts."""


def opinions(
    x: FloatArray,
    seen: Observations,
    at: FloatArray,
    space: SearchSpace,
    criterion: Criterion,
    max_terms: int,
) -> FloatArray:
    """The forecasts at the values `(k,)`, with shape `(len(NAMES), k)`, and NaN for none.

    `x` `(n,)` is ascending and positive, and all values of `seen` are positive.
    """
    y = seen.y
    rows = [
        _averages(x, y, at, space),
        last_points.opinions(x, y, at),
        _cross_validated(x, y, at, space)[None],
        _formulas(x, seen, at, space, criterion, max_terms),
        _threads(x, seen, at)[None],
    ]
    array = np.concatenate(rows)
    return np.where(np.isfinite(array) & (array > 0), array, np.nan)


def asked(x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
    """The forecasters `(len(NAMES),)` that are used for a series `(n,)`. They depend on whether its
    end rises, falls or turns.

    >>> falling = asked(np.array([1.0, 2.0, 4.0]), np.array([8.0, 4.0, 2.0]))
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


def _averages(x: FloatArray, y: FloatArray, at: FloatArray, space: SearchSpace) -> FloatArray:
    """`sum` and `work` for every window, and `absolute sum` for three, with shape `(13, k)`."""
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
        # Windows with the same points count once.
        averages[[size > count or size in sizes[k + 1 :] for k, size in enumerate(sizes)]] = np.nan
        rows.append(averages)
    return np.concatenate([rows[0], rows[1], rows[2][list(_ABSOLUTE)]])


def _cross_validated(
    x: FloatArray, y: FloatArray, at: FloatArray, space: SearchSpace
) -> FloatArray:
    """The constant and term whose fits predict left-out points best by SMAPE, with shape `(k,)`."""
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


def _formulas(
    x: FloatArray,
    seen: Observations,
    at: FloatArray,
    space: SearchSpace,
    criterion: Criterion,
    max_terms: int,
) -> FloatArray:
    """`formula` and `formula of work`: `(2, k)`."""
    compiled = space.compiled(x)
    criterion = replace(criterion, rarity=_RARER * criterion.rarity)
    # The weight of the work is that of the value divided by the square of the parameter.
    data = Data(
        np.stack([seen.y, seen.y * x]),
        np.stack([seen.weights, seen.weights / x**2]),
        np.full(2, seen.within),
        np.full(2, seen.dof),
    )
    selection = one_parameter.select(data, compiled, criterion, max_terms=max_terms)
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


def _threads(x: FloatArray, seen: Observations, at: FloatArray) -> FloatArray:
    """Amdahl's law and similar laws, with shape `(k,)`."""
    try:
        return fit_law("threads", x[:, None], seen, ("p",)).predict_many(at[:, None])
    except InputError:
        return np.full(len(at), np.nan)
