"""Searches models of one parameter, for many call paths at once and in closed form.

Every model of one or two terms is a weighted least-squares fit. The weighted sums of a term's
column, and of its products with the others, give the fit, its residual and its leave-one-out error
without a solver. A model with two terms follows from the correlation of their two columns. A few
array operations solve all candidate models of all call paths with the same points.

Models are ranked by minus twice the logarithm of their posterior probability (smaller is better).
`q` is the sum of squares between the repetitions plus that of the model's residual (both relative,
so dimensionless), and `k` their degrees of freedom. The score has these parts:

* `k log q`: the likelihood, with the unknown size of the noise integrated out;
* `criterion.occam` times the logarithm of the volume that the data leave for the coefficients, each
  relative to the largest value it could have;
* the prior: rarity of the terms, number of terms;
* the constant's sign: run times rarely have a negative one;
* the ratio of constant and coefficient: both are costs of one process or one element, so they
  rarely differ by many decades.

A growth term is accepted only if it explains more than noise would by chance (`criterion.growth`),
for any noise. Therefore, constants stay constant. docs/fit.md explains the weights.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from regionpredict.fit.model.observations import Observations
from regionpredict.fit.model.terms import CompiledSpace, FloatArray
from regionpredict.fit.search.criterion import DEFAULT_CRITERION, DOUBTFUL, Criterion
from regionpredict.fit.search.pooled_term_weights import MANY_PATHS, learned_prices

IntArray = NDArray[np.intp]

# Ufunc methods avoid the overhead of array methods. For the few points, lists are faster still.
_sum = np.add.reduce
_least = np.minimum.reduce

_FALLING_GAIN = 2.5  # pairs with the term 1/p have a low price, so a smaller gain is enough
_NOTICEABLE, _NEARLY = 1.1, 12.0
_TOGETHER = 32  # number of call paths whose pairs are solved at once
_SLACK = 8.0  # the maximum by which the Occam factor favors two terms over one
_SAME_PREDICTION = 0.1
_OWN_WEIGHT = 0.2
_FALLING = np.array(12.0)  # the price of a growth term with a negative coefficient
_DECADES = 2.0  # decades within which a coefficient and the constant lie with probability 1/2
_RATIO_SCALE = np.array(1.0 / (_DECADES * math.log(10.0)))
_LOG_TWO_PI = float(np.log(2 * np.pi))
_SMALLEST_DETERMINANT = 1e-8
_ROUNDING = 1e-14
_SURELY_NEGATIVE = np.array(-12.0)  # standard errors
_LOGISTIC = np.array(-1.702)  # scale of the logistic approximation of a normal distribution
_EAGER = 0.4  # share of the rarity prices in the decision between growth and a constant
_ZERO, _TWO, _TINY = np.array(0.0), np.array(2.0), np.array(1e-300)
_NO_GROWTH = np.array(1e-200)  # minimum coefficient, so that divisions give finite numbers


class Data(NamedTuple):
    """The measured values of `b` call paths at the same `n` points.

    `y` and `weights` have shape `(b, n)`. `within` `(b,)` is the weighted sum of squares between
    repetitions, and `dof` `(b,)` its degrees of freedom.
    """

    y: FloatArray
    weights: FloatArray
    within: FloatArray
    dof: FloatArray


class Selection(NamedTuple):
    """The best model of each of `b` call paths. `first` and `second` are the indices of its terms
    in the search space (-1: none).

    `constant`, `coefficient_first`, `coefficient_second` and `score` have shape `(b,)`.
    """

    first: IntArray
    second: IntArray
    constant: FloatArray
    coefficient_first: FloatArray
    coefficient_second: FloatArray
    score: FloatArray


class _Sums(NamedTuple):
    """Weighted sums over the points: `(b, 1)` per call path, and `(b, h)` per call path and
    term.
    """

    total: FloatArray
    mean: FloatArray
    spread: FloatArray
    column_mean: FloatArray
    column_norm: FloatArray
    product: FloatArray
    volume: FloatArray
    volume_constant: FloatArray
    base: FloatArray
    dof: FloatArray


def _weighted_sums(data: Data, space: CompiledSpace, criterion: Criterion) -> _Sums:
    # Arrays are in column-major order, so that a value per call path multiplies whole columns.
    y, w = data.y, data.weights
    n = y.shape[1]
    h = len(space.terms)
    total = _sum(w, 1, keepdims=True)
    mean = _sum(w * y, 1, keepdims=True) / total
    centred = y - mean
    weighted = w * centred
    sums = (space.stacked.T @ w.T).T
    column_sum = sums[:, :h]
    column_mean = column_sum / total
    # Rounding must not make the norm of a nearly constant column negative.
    column_norm = np.maximum(sums[:, h:] - column_mean * column_sum, _ROUNDING * sums[:, h:])
    size = np.abs(y)
    volume = np.multiply(size[:, :1], space.inverse[:, 0], order="F")
    ceiling = np.empty_like(volume)
    for k in range(1, n):  # faster than a minimum over the short axis of points
        np.multiply(size[:, k : k + 1], space.inverse[:, k], out=ceiling)
        np.minimum(volume, ceiling, out=volume)
    # The square of the largest coefficient divided by its variance.
    volume *= volume
    volume *= column_norm
    volume += 1e-300
    np.log(volume, out=volume)
    least = _least(size, 1, keepdims=True)
    return _Sums(
        total=total,
        mean=mean,
        spread=_sum(weighted * centred, 1, keepdims=True),
        column_mean=column_mean,
        column_norm=column_norm,
        product=(space.columns @ weighted.T).T,
        volume=volume,
        volume_constant=np.log(total * least * least + 1e-300),
        base=data.within[:, None] + criterion.floor_dof * criterion.noise_floor**2,
        dof=data.dof[:, None] + criterion.floor_dof + (n - 2.0),
    )


def _sign_cost(z: FloatArray) -> FloatArray:
    """Returns the cost of a coefficient of `z` standard errors: -2 log(probability that it is
    positive).
    """
    cost = np.maximum(z, _SURELY_NEGATIVE)
    cost *= _LOGISTIC
    np.log1p(np.exp(cost, out=cost), out=cost)
    cost *= _TWO
    return np.asarray(cost)


def _ratio_cost(constant: FloatArray, error: FloatArray, coefficient: FloatArray) -> FloatArray:
    """Returns the cost of the ratio of constant and coefficient: minus twice its log-probability.

    For a weight of 1, the ratio's logarithm has a Cauchy distribution, and for 1.5 a t distribution
    with two degrees of freedom. If a parameter counts bytes instead of processes, ten decades cost
    little more than six. A constant counts as at least its standard `error`.
    """
    decades = np.maximum(constant, error)
    size = np.abs(coefficient)
    size += _NO_GROWTH
    decades /= size
    np.log(decades, out=decades)
    decades *= _RATIO_SCALE
    decades *= decades
    np.log1p(decades, out=decades)
    decades *= _TWO
    return decades


def _add_sign_and_ratio_costs(
    price: FloatArray,
    constant: FloatArray,
    error: FloatArray,
    coefficient: FloatArray,
    criterion: Criterion,
) -> None:
    """Adds the costs of the constants' signs and of the ratios to the coefficients to `price`."""
    price += _sign_cost(constant / error)
    ratios = _ratio_cost(constant, error, coefficient)
    ratios *= criterion.ratio
    price += ratios


def _single_term_scores(
    s: _Sums, space: CompiledSpace, criterion: Criterion
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Returns scores `(b, h)`, coefficients, constants, residuals, gains over a constant model, and
    prices of the models with one term.
    """
    # Arrays are changed in place, since allocating memory for every step would double the time.
    slope = s.product / s.column_norm
    residual = slope * s.product
    np.maximum(np.subtract(s.spread, residual, out=residual), 0.0, out=residual)
    constant = slope * s.column_mean
    np.subtract(s.mean, constant, out=constant)
    error: FloatArray = np.asarray(s.base + residual)
    score: FloatArray = np.log(error)
    likelihood = s.dof * score
    error *= s.column_mean**2 / s.column_norm + 1.0 / s.total
    error /= s.dof
    np.sqrt(error, out=error)
    own = (slope <= _ZERO) * _FALLING
    rare = criterion.rarity * space.rarity
    flat = s.dof * np.log(s.base + s.spread)
    gain = flat[:, 0] - _least(likelihood + (_EAGER * rare + own), 1)
    level = s.volume_constant + 2.0 * (np.log(s.dof) - _LOG_TWO_PI)
    score *= -2.0
    score += s.volume + level
    score *= criterion.occam
    score += likelihood
    own += rare
    _add_sign_and_ratio_costs(own, constant, error, slope, criterion)
    score += own
    return score, slope, constant, residual, gain, own


def _rarity_prices(space: CompiledSpace, criterion: Criterion) -> tuple[FloatArray, FloatArray]:
    """Returns the prices `(h,)` of rare terms, for choosing a term and for deciding on growth."""
    known = space.kept.get(("rarities", criterion))
    if known is None:
        rare = criterion.rarity * space.rarity
        known = space.kept["rarities", criterion] = (rare, _EAGER * rare)
    return cast(tuple[FloatArray, FloatArray], known)


class _PairPrices(NamedTuple):
    """The pairs of terms (`first`, `second`) and their prices by the prior, the lowest price first.

    If values do not decrease, `surcharge` removes the discount for `1/p` with an overhead term.
    """

    first: IntArray
    second: IntArray
    price: FloatArray
    surcharge: FloatArray


def _pair_prices(space: CompiledSpace, criterion: Criterion) -> _PairPrices:
    known = space.kept.get(criterion)
    if isinstance(known, _PairPrices):
        return known
    usual = criterion.second + criterion.pair_rarity * space.pair_rarity
    price = usual.copy()
    price[space.divided_pairs] += 2.0
    price[space.overhead_pairs] = criterion.thread_overhead
    order = np.argsort(price, kind="stable")
    prices = _PairPrices(
        space.pairs_a[order],
        space.pairs_b[order],
        price[order],
        np.maximum(usual - price, 0.0)[order],
    )
    space.kept[criterion] = prices
    return prices


def _are_decreasing(y: FloatArray, space: CompiledSpace) -> NDArray[np.bool_]:
    """Returns whether values `(b, n)` decrease from the smallest parameter value on, like run
    times.
    """
    return np.asarray(y[:, space.smallest] > _NOTICEABLE * _least(y, 1))


class _Pairs(NamedTuple):
    """The pairs of terms of all call paths in one list. `row` is the call path of each pair."""

    row: IntArray
    first: IntArray
    second: IntArray
    constant: FloatArray
    a: FloatArray
    b: FloatArray
    score: FloatArray


def _pair_models(
    data: Data,
    s: _Sums,
    space: CompiledSpace,
    criterion: Criterion,
    worst: FloatArray | None = None,
) -> _Pairs | None:
    """Fits all pairs of terms with positive coefficients to all call paths.

    With `worst` `(b,)`, pairs whose likelihood cost plus price exceeds this limit are omitted.
    """
    ia, ib, price, surcharge = _pair_prices(space, criterion)
    if worst is not None:
        # The limit of the price follows from a pair that explains the values perfectly.
        dearest = float((worst - s.dof[:, 0] * np.log(s.base[:, 0])).max())
        count = int(price.searchsorted(dearest, side="right"))
        ia, ib = ia[:count], ib[:count]
    if not len(ia):
        return None
    norm = np.sqrt(s.column_norm)
    scaled_mean = s.column_mean / norm
    scaled = space.columns / norm[:, :, None] - scaled_mean[:, :, None]
    gram = (data.weights[:, None, :] * scaled) @ scaled.transpose(0, 2, 1)
    projection = s.product / norm
    r = gram.reshape(len(gram), -1).take(ia * gram.shape[1] + ib, 1)
    pa, pb = projection.take(ia, 1), projection.take(ib, 1)
    na, nb = pa - r * pb, pb - r * pa
    det = 1.0 - r * r
    flat = np.flatnonzero((na > 0) & (nb > 0) & (det > _SMALLEST_DETERMINANT))
    row, pair = np.divmod(flat, len(ia))
    r, det = r.ravel()[flat], det.ravel()[flat]
    ba, bb = na.ravel()[flat] / det, nb.ravel()[flat] / det
    explained = ba * pa.ravel()[flat] + bb * pb.ravel()[flat]
    q = s.base[row, 0] + np.maximum(s.spread[row, 0] - explained, 0.0)
    dof, log_q, cost = s.dof[row, 0], np.log(q), price[pair]
    if worst is not None:
        hopeful = np.flatnonzero(dof * log_q + cost <= worst[row])
        row, pair, r, det, ba, bb, q, dof, log_q, cost = (
            column[hopeful] for column in (row, pair, r, det, ba, bb, q, dof, log_q, cost)
        )
    if not len(row):
        return None
    ia, ib = ia[pair], ib[pair]
    za, zb = scaled_mean[row, ia], scaled_mean[row, ib]
    constant = s.mean[row, 0] - ba * za - bb * zb
    error = np.sqrt(q / dof * (1.0 / s.total[row, 0] + (za * za + zb * zb - 2 * r * za * zb) / det))
    a, b = ba / norm[row, ia], bb / norm[row, ib]
    volumes = s.volume_constant[row, 0] + s.volume[row, ia] + s.volume[row, ib] + np.log(det)
    score = (
        dof * log_q
        + criterion.occam * (volumes + 3.0 * (np.log(dof) - log_q - _LOG_TWO_PI))
        + cost
        + np.where(_are_decreasing(data.y, space)[row], 0.0, surcharge[pair])
        + _sign_cost(constant / error)
        # Both terms together are compared with one constant.
        + 0.5
        * criterion.ratio
        * (_ratio_cost(constant, error, a) + _ratio_cost(constant, error, b))
    )
    return _Pairs(row, ia, ib, constant, a, b, score)


def _lowest_score_per_row(row: IntArray, score: FloatArray) -> IntArray:
    """Returns the position of the lowest score of each row. `row` is ascending."""
    starts = [0, *((row[1:] != row[:-1]).nonzero()[0] + 1).tolist()]
    ends = [*starts[1:], len(row)]
    lowest = [a + int(score[a:b].argmin()) for a, b in zip(starts, ends, strict=True)]
    return np.array(lowest, dtype=np.intp)


def _with_common_extrapolation(pairs: _Pairs, winner: int, space: CompiledSpace) -> int:
    """Returns the pair almost as good as `winner` whose extrapolation agrees with most other pairs.

    Many pairs explain the same data, but differ far beyond the measured points. Each pair adds its
    probability to all pairs with nearly the same prediction far away.
    """
    begin, end = np.searchsorted(pairs.row, [pairs.row[winner], pairs.row[winner] + 1])
    near = begin + (pairs.score[begin:end] < pairs.score[winner] + _NEARLY).nonzero()[0]
    if len(near) < 3:
        return winner
    far = pairs.constant[near] + pairs.a[near] * space.far[pairs.first[near]]
    far = np.log(np.maximum(far + pairs.b[near] * space.far[pairs.second[near]], 1e-300))
    share = np.exp(-0.5 * (pairs.score[near] - pairs.score[winner]))
    agreed = (np.abs(far[:, None] - far) < _SAME_PREDICTION) @ share
    return int(near[np.argmax(agreed * share**_OWN_WEIGHT)])


def _winning_pairs(pairs: _Pairs, least: FloatArray, space: CompiledSpace) -> list[int]:
    """Returns the selected pair of each call path that has a pair with a score below `least`
    `(b,)`.
    """
    best = _lowest_score_per_row(pairs.row, pairs.score)
    better = best[pairs.score[best] < least[pairs.row[best]]]
    return [_with_common_extrapolation(pairs, winner, space) for winner in better.tolist()]


def _misfit_for_pairs(sizes: list[float], space: CompiledSpace, criterion: Criterion) -> float:
    """Returns the misfit of the best single term above which pairs of terms are tried."""
    falls = sizes[space.smallest] > _NOTICEABLE * min(sizes)
    return criterion.second_gain - (_FALLING_GAIN if falls else 0.0)


def select_models(
    data: Data,
    space: CompiledSpace,
    criterion: Criterion = DEFAULT_CRITERION,
    *,
    max_terms: int = 2,
    learn: bool = False,
) -> Selection:
    """Selects the best model with zero, one or two terms for each of `b` call paths.

    With `learn`, the frequency of terms among many call paths determines their rarity.

    Coefficients of growth terms are positive, unless only a negative coefficient explains the data,
    as for an efficiency that falls with the number of processes. It has a high price.
    """
    s = _weighted_sums(data, space, criterion)
    score, slope, constant, residual, gain, own = _single_term_scores(s, space, criterion)
    index = score.argmin(1)
    count = len(index)
    if learn and count >= MANY_PATHS:
        score = score + learned_prices(index[gain >= criterion.growth], space, criterion)
        index = score.argmin(1)
    own_best = np.arange(count), index
    first, second = index, index * 0 - 1
    value, coefficient, least = constant[own_best], slope[own_best], score[own_best]
    other = np.zeros(count)
    grows = gain >= criterion.growth
    if max_terms > 1 and len(space.pairs_a):
        left = s.dof[:, 0] * np.log1p(residual[own_best] / s.base[:, 0])
        worth = criterion.second_gain - _FALLING_GAIN * _are_decreasing(data.y, space)
        doubtful = (grows & (left > worth)).nonzero()[0]
        # A pair lowers the score by at most the misfit and the price of the best single term.
        saved = left + own[own_best] + _SLACK
        doubtful = doubtful[saved[doubtful].argsort()]
        # Call paths with similar possible savings are grouped, since they share cheap pairs.
        for rows in (
            np.array_split(doubtful, -(-len(doubtful) // _TOGETHER)) if len(doubtful) else ()
        ):
            some = Data(*(part[rows] for part in data))
            sums = _Sums(*(part[rows] for part in s))
            worst = saved[rows] + sums.dof[:, 0] * np.log(sums.base[:, 0])
            pairs = _pair_models(some, sums, space, criterion, worst)
            winners = _winning_pairs(pairs, least[rows], space) if pairs is not None else []
            if pairs is not None and len(winners):
                target = rows[pairs.row[winners]]
                least[target] = pairs.score[winners]
                first[target], second[target] = pairs.first[winners], pairs.second[winners]
                value[target] = pairs.constant[winners]
                coefficient[target], other[target] = pairs.a[winners], pairs.b[winners]
    if not grows.all():
        flat = ~grows
        first[flat] = second[flat] = -1
        value[flat] = s.mean[flat, 0]
        coefficient[flat] = other[flat] = 0.0
        least[flat] = (s.dof * np.log(s.base + s.spread))[flat, 0]
    return Selection(first, second, value, coefficient, other, least)


class BestModel(NamedTuple):
    """The best model of one call path. It has the same fields as a row of `Selection`."""

    first: int
    constant: float
    coefficient: float
    second: int = -1
    coefficient_second: float = 0.0
    settled: bool = True
    """Whether a single term explains the points, and clearly better than their mean."""


def select_one(
    observations: Observations,
    space: CompiledSpace,
    criterion: Criterion = DEFAULT_CRITERION,
    *,
    max_terms: int = 2,
) -> BestModel:
    """Selects the best model of a single call path, like `select`.

    The formulas use plain numbers, since array operations dominate the time for small data.
    """
    y, w = observations.y, observations.weights
    sizes = y.tolist()
    h = len(space.terms)
    rare, eager = _rarity_prices(space, criterion)
    total = sum(w.tolist())
    mean = float(w @ y) / total
    centred = y - mean
    weighted = w * centred
    spread = float(weighted @ centred)
    sums = w @ space.stacked
    column_mean = sums[:h] * (1.0 / total)
    column_norm = sums[h:] - column_mean * sums[:h]
    product = weighted @ space.transposed
    base = observations.within + criterion.floor_dof * criterion.noise_floor**2
    dof = observations.dof + criterion.floor_dof + (len(sizes) - 2.0)
    slope = product / column_norm
    residual = np.maximum(spread - slope * product, _ZERO)
    q = base + residual
    log_q = np.log(q)
    likelihood = dof * log_q
    refused = (slope <= _ZERO) * _FALLING
    prospects = eager + refused
    prospects += likelihood
    gain = dof * math.log(base + spread) - float(prospects[prospects.argmin()])
    if gain < criterion.growth:
        return BestModel(-1, mean, 0.0)
    size = np.abs(y)
    largest = _least(space.inverse_transposed * size[:, None], 0)
    constant = mean - slope * column_mean
    lever = column_mean * column_mean
    lever /= column_norm
    lever += 1.0 / total
    lever *= q / dof
    error = np.sqrt(lever, out=lever)
    volume = np.log(largest * largest * column_norm + _TINY)
    own = rare + refused
    _add_sign_and_ratio_costs(own, constant, error, slope, criterion)
    log_q *= 2.0
    score = criterion.occam * (volume - log_q)
    score += likelihood
    score += own
    index = int(score.argmin())
    left = dof * math.log1p(float(residual[index]) / base)
    enough = left <= _misfit_for_pairs(sizes, space, criterion)
    settled = enough and float(residual[index]) <= DOUBTFUL * spread
    selected = BestModel(index, float(constant[index]), float(slope[index]), settled=settled)
    if enough or max_terms < 2 or not len(space.pairs_a):
        return selected
    level = math.log(total * float(_least(size)) ** 2 + 1e-300)
    row = _Sums(
        total=np.array([[total]]),
        mean=np.array([[mean]]),
        spread=np.array([[spread]]),
        column_mean=column_mean[None],
        column_norm=np.maximum(column_norm, _ROUNDING * sums[h:])[None],
        product=product[None],
        volume=volume[None],
        volume_constant=np.array([[level]]),
        base=np.array([[base]]),
        dof=np.array([[dof]]),
    )
    worst = float(likelihood[index] + own[index]) + _SLACK
    return _better_pair(selected, float(score[index]), observations, row, worst, space, criterion)


def _better_pair(
    selected: BestModel,
    score: float,
    observations: Observations,
    row: _Sums,
    worst: float,
    space: CompiledSpace,
    criterion: Criterion,
) -> BestModel:
    """Returns the best model with two terms if it is better than `selected`, else `selected`.

    `score` is the score of `selected` without the parts that all models with one term share. `row`
    has the weighted sums of the call path. `worst` limits the likelihood cost plus price of a pair.
    """
    data = Data(observations.y[None], observations.weights[None], row.base[0], row.dof[0])
    pairs = _pair_models(data, row, space, criterion, np.array([worst]))
    if pairs is None:
        return selected
    shared = float(row.volume_constant[0, 0]) + 2.0 * (math.log(row.dof[0, 0]) - _LOG_TWO_PI)
    least = np.array([score + criterion.occam * shared])
    for winner in _winning_pairs(pairs, least, space):
        selected = BestModel(
            int(pairs.first[winner]),
            float(pairs.constant[winner]),
            float(pairs.a[winner]),
            int(pairs.second[winner]),
            float(pairs.b[winner]),
            settled=False,
        )
    return selected


def ranked_models(
    data: Data,
    space: CompiledSpace,
    criterion: Criterion = DEFAULT_CRITERION,
    *,
    max_terms: int = 2,
) -> Selection:
    """Returns all models of one call path (`b` = 1), the best first.

    The constant model is as likely as a growth term whose gain equals the threshold.
    """
    # The prior of the ratio of constant and coefficient does not affect the model's uncertainty.
    criterion = replace(criterion, ratio=0.0)
    s = _weighted_sums(data, space, criterion)
    score, slope, constant, _, gain, _ = _single_term_scores(s, space, criterion)
    count = score.shape[1]
    parts = [
        (np.arange(count), np.full(count, -1), constant[0], slope[0], np.zeros(count), score[0])
    ]
    if max_terms > 1 and len(space.pairs_a):
        pairs = _pair_models(data, s, space, criterion)
        if pairs is not None:
            parts.append((pairs.first, pairs.second, pairs.constant, pairs.a, pairs.b, pairs.score))
    least = min(float(part[5].min()) for part in parts)
    parts.append(
        (
            np.array([-1]),
            np.array([-1]),
            s.mean[0],
            np.zeros(1),
            np.zeros(1),
            np.array([least + float(gain[0]) - criterion.growth]),
        )
    )
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[5], kind="stable")
    return Selection(*(column[order] for column in columns))
