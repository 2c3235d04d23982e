"""Forecasters: what different views of the same series of one parameter expect at larger values.

No one law describes measured times to the end of their range and beyond: caches fill, sockets
fill, a library changes its algorithm. So many simple views compete, each with the points it
trusts, the last three or all of them:

* `sum N`: a constant and one term of the search space, averaged over the terms by their
  posterior probability, fitted to the last N points;
* `work N`: the same of the value times the parameter, the work of all processors together, as
  strong scaling divides a fixed work;
* `power N`: a power of the parameter through the last N points (`damped`: with 0.7 of its
  exponent); `line N`: a straight line; `tree`: a line over the logarithm; `last`: the last value;
* `formula` and `formula of work`: what the search finds, for the value and for the work;
* `threads`: Amdahl's law with or without overhead, or saturation.

How they are combined is in `outlooks.py`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.laws.thread_laws import fit_law
from regionpredict.fit.model.observations import Observations
from regionpredict.fit.model.terms import FloatArray, SearchSpace, evaluate_all
from regionpredict.fit.search import one_parameter
from regionpredict.fit.search.criterion import Criterion
from regionpredict.fit.search.one_parameter import Data

_WINDOWS = (3, 4, 6, 0.5, 1.0)  # points, or shares of the points (four points at least)
_POWERS = (2, 3, 4)
_LINES = (3, 4)
_DAMPED = 0.7  # halfway between a trend that goes on and none, in terms of a doubling
_FINEST_MISFIT = 5e-3  # relative; below it, terms of a few points do not differ for sure
_SLOWLY_FALLING = (((-0.5, 0.0), 1.0),)  # as surfaces of divided volumes do; with its rarity
_RARITY = 1.5  # as `Criterion.rarity`, for averages, which need no winner
_RARER = 2.7  # times `Criterion.rarity` for formulas: from an origin, few points are seen

NAMES = (
    *(f"{kind} {window}" for kind in ("sum", "work") for window in ("3", "4", "6", "half", "all")),
    *(f"power {count}" for count in _POWERS),
    "damped power 2",
    *(f"line {count}" for count in _LINES),
    "tree",
    "last",
    "formula",
    "formula of work",
    "threads",
)
"""The forecasters, in the order of the rows of `opinions`."""

FEWEST = 3
"""Points that opinions need."""


def opinions(
    x: FloatArray,
    seen: Observations,
    at: FloatArray,
    space: SearchSpace,
    criterion: Criterion,
    max_terms: int,
) -> FloatArray:
    """What each forecaster expects at the values `(k,)`: `(len(NAMES), k)`, NaN for none.

    `x` is `(n,)`, ascending and positive, and all values of `seen` are positive.
    """
    y = seen.y
    rows = [
        _averages(x, y, at, space),
        _powers(x, y, at),
        _lines(x, y, at),
        _formulas(x, seen, at, space, criterion, max_terms),
        _threads(x, seen, at)[None],
    ]
    array = np.concatenate(rows)
    return np.where(np.isfinite(array) & (array > 0), array, np.nan)


def _averages(x: FloatArray, y: FloatArray, at: FloatArray, space: SearchSpace) -> FloatArray:
    """`sum` and `work` for every window: `(10, k)`."""
    count = len(x)
    sizes = [w if w > 1 else max(4, int(np.ceil(count * w))) for w in _WINDOWS]
    known = [*zip(space.terms, space.rarities, strict=True), *_SLOWLY_FALLING]
    usable = [(term, rare) for term, rare in known if x[0] >= 1 or term[1] == 0]
    terms = [term for term, _ in usable]
    rarity = np.array([rare for _, rare in usable])
    columns = evaluate_all(terms, np.append(x, at))
    column, beyond = columns[:, :count], columns[:, count:]
    mask = np.arange(count) >= count - np.array(sizes)[:, None]
    result = np.full((2 * len(sizes), len(at)), np.nan)
    for row, (values, divisor) in enumerate(((y, np.ones(len(at))), (y * x, at))):
        weight = mask / values**2
        total = weight.sum(1, keepdims=True)
        mean = weight @ values[:, None] / total
        centred = weight * (values - mean)
        column_mean = weight @ column.T / total
        norm = weight @ (column**2).T - column_mean**2 * total
        product = centred @ column.T - centred.sum(1, keepdims=True) * column_mean
        real = norm > 1e-12 * (column_mean**2 * total)
        slope = np.where(real, product / np.where(real, norm, 1.0), 0.0)
        misfit = np.maximum((centred * (values - mean)).sum(1, keepdims=True) - slope * product, 0)
        number = np.minimum(np.array(sizes), count)[:, None]
        score = (number - 1.0) * np.log(misfit + _FINEST_MISFIT**2) + _RARITY * rarity
        share = np.exp(-0.5 * (score - score.min(1, keepdims=True)))
        expected = mean[:, :, None] + slope[:, :, None] * (beyond - column_mean[:, :, None])
        shares = share[:, :, None] * (expected > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = (shares * np.log(np.maximum(expected, 1e-300))).sum(1) / shares.sum(1)
        averages = np.exp(logs) / divisor
        # Windows that have the same points are one opinion.
        averages[[size > count or size in sizes[k + 1 :] for k, size in enumerate(sizes)]] = np.nan
        result[row * len(sizes) : (row + 1) * len(sizes)] = averages
    return result


def _powers(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    """`power` and `damped power`: `(4, k)`."""
    result = np.full((len(_POWERS) + 1, len(at)), np.nan)
    a, b, far = np.log(x), np.log(y), np.log(at)
    for row, count in enumerate(_POWERS):
        if len(x) >= count:
            result[row] = np.exp(_line(a[-count:], b[-count:], far))
    steepness = (b[-1] - b[-2]) / (a[-1] - a[-2])
    result[-1] = np.exp(np.minimum(b[-1] + _DAMPED * steepness * (far - a[-1]), 700.0))
    return result


def _lines(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    """`line`, `tree` and `last`: `(4, k)`."""
    result = np.full((len(_LINES) + 2, len(at)), np.nan)
    for row, count in enumerate(_LINES):
        if len(x) >= count:
            tail, values = x[-count:], y[-count:]
            result[row] = _line(tail, values, at, 1.0 / values**2)
    slope = (y[-1] - y[-2]) / np.log(x[-1] / x[-2])
    result[-2] = y[-1] + slope * np.log(at / x[-1])
    result[-1] = y[-1]
    return result


def _line(
    x: FloatArray, y: FloatArray, at: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """The weighted least-squares line through the points, at other values."""
    w = np.ones(len(x)) if weights is None else weights
    mean, level = (w @ x) / w.sum(), (w @ y) / w.sum()
    slope = (w * (x - mean)) @ (y - level) / ((w * (x - mean)) @ (x - mean))
    return np.asarray(np.minimum(level + slope * (at - mean), 700.0 if weights is None else np.inf))


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
    # Relative weights of the work are those of the value over the square of the parameter.
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
    """Amdahl's law and its kin: `(k,)`."""
    try:
        return fit_law("threads", x[:, None], seen, ("p",)).predict_many(at[:, None])
    except InputError:
        return np.full(len(at), np.nan)
