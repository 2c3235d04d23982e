"""Divides the range of a series into pieces where its behavior changes.

An algorithm that changes with the size does not follow a single model (Shudler 2018, sec. 2.3.2).
Each sequence of neighboring points is modeled by a constant and at most one term. Dynamic
programming finds the division with the lowest cost. Each additional piece must reduce the misfit by
more than its price.
"""

from __future__ import annotations

import numpy as np

from regionpredict.fit.model.observations import Observations
from regionpredict.fit.model.terms import FloatArray, SearchSpace, evaluate_all

PRICE = 18.0
"""The minimum gain of another piece, in units of minus twice a log-likelihood."""

SHORTEST = 3
"""The minimum number of points in a piece. Without repetitions, which determine the noise, it is
larger by one.
"""

_USED = 3.0  # degrees of freedom of a segment: constant, coefficient, choice of term


def divide_points(
    x: FloatArray,
    observations: Observations,
    space: SearchSpace,
    *,
    floor: float,
    shortest: int = SHORTEST,
    most: int | None = None,
    price: float = PRICE,
) -> tuple[list[tuple[int, int]], float]:
    """Returns the pieces `(start, stop)` of the points `x` `(n,)` in ascending order, and their
    cost.

    `floor` is the minimum assumed relative noise, and `most` the maximum number of pieces. The cost
    includes the prices of all pieces except the first. `log_likelihood_cost` returns the cost of a
    single model.
    """
    count = len(x)
    most = min(count // shortest, most or count)
    if most < 2:
        return [(0, count)], np.inf
    misfit = _misfits_of_pieces(x, observations, space, shortest)
    best = np.full((most + 1, count + 1), np.inf)
    cut = np.zeros((most + 1, count + 1), dtype=int)
    best[0, 0] = 0.0
    for used in range(1, most + 1):
        sums = best[used - 1, :count, None] + misfit[:, 1:]
        cut[used, 1:] = np.argmin(sums, 0)
        best[used, 1:] = sums.min(0)
    costs = [
        log_likelihood_cost(best[used, count], observations, floor, _USED * used)
        + price * (used - 1)
        for used in range(1, most + 1)
    ]
    used, stop = 1 + int(np.argmin(costs)), count
    cost, stretches = costs[used - 1], []
    while used:
        start = int(cut[used, stop])
        stretches.append((start, stop))
        used, stop = used - 1, start
    return stretches[::-1], cost


def log_likelihood_cost(
    misfit: float, observations: Observations, floor: float, used: float
) -> float:
    """Returns minus twice the log-likelihood of a misfit with `used` fitted coefficients.

    With repetitions, the noise is known. Without repetitions, the misfit determines the noise, and
    each coefficient uses a degree of freedom.
    """
    count = len(observations.y)
    if observations.dof > 0:
        dof = observations.dof + count - 2.0
        return float(dof * np.log(observations.within + floor**2 + misfit))
    left = max(count - used, 0.5)
    return float(count * np.log((misfit + floor**2) / left))


def _misfits_of_pieces(
    x: FloatArray, observations: Observations, space: SearchSpace, shortest: int
) -> FloatArray:
    """Returns the smallest weighted residual sum of squares of a constant and one growing term for
    all pieces, with shape `(n, n + 1)`.

    Row and column are the start and stop of the piece. Values are infinite for pieces that are too
    short.
    """
    count = len(x)
    terms = [t for t in space.terms if (x[0] >= 1 or t[1] == 0) and (x[0] > 0 or t[0] > 0)]
    columns = evaluate_all(terms, x)
    y, w = observations.y, observations.weights

    def cumulative_sums(values: FloatArray) -> FloatArray:
        """Cumulative sums over the last axis."""
        zero = np.zeros((*values.shape[:-1], 1))
        return np.concatenate([zero, np.cumsum(values, -1)], -1)

    # Columns are relative to their weighted mean, since differences of large sums lose precision.
    level = float(w @ y) / float(w.sum())
    column = columns - (columns @ w / w.sum())[:, None]
    d = y - level
    sum_w, sum_y, sum_yy = cumulative_sums(w), cumulative_sums(w * d), cumulative_sums(w * d * d)
    sum_f, sum_ff, sum_fy = (
        cumulative_sums(column * w),
        cumulative_sums(column**2 * w),
        cumulative_sums(column * w * d),
    )
    misfit = np.full((count, count + 1), np.inf)
    for start in range(count - shortest + 1):
        stop = slice(start + shortest, count + 1)
        total = sum_w[stop] - sum_w[start]
        value = sum_y[stop] - sum_y[start]
        squares = sum_yy[stop] - sum_yy[start] - value**2 / total
        f = sum_f[:, stop] - sum_f[:, start, None]
        whole = sum_ff[:, stop] - sum_ff[:, start, None]
        norm = whole - f**2 / total
        product = np.maximum(sum_fy[:, stop] - sum_fy[:, start, None] - f * value / total, 0.0)
        sound = norm > 1e-9 * whole
        explained = np.where(sound, product**2 / np.where(sound, norm, 1.0), 0.0)
        misfit[start, stop] = np.maximum(squares - explained.max(0, initial=0.0), 0.0)
    return misfit
