"""The search for models of one parameter, for many call paths at once, in closed form.

Every model of one or two terms is a weighted least-squares fit. With the weighted sums of a
term's column and of its products with the others, the fit, its residual and its leave-one-out
error need no solver: a pair of terms is solved by the correlation of the two columns. All
hypotheses of all call paths that share their points become a handful of array operations.

Models are ranked by minus twice the logarithm of their posterior probability (smaller is
better). With `q` the sum of squares between the repetitions plus that of the model's residual
(both relative, so dimensionless) and `k` their degrees of freedom, it has these parts:

* `k log q`: the likelihood, the unknown size of the noise integrated out;
* `criterion.occam` times the logarithm of the volume that the data leave to the coefficients,
  each measured by the largest value it could have;
* the prior: rarity of the terms, number of terms;
* the constant's sign: run times rarely hide a negative one;
* the ratio of constant and coefficient: both are what one process or one element costs, so they
  are seldom many decades apart.

A growth term is accepted only if it explains more than noise would by chance
(`criterion.growth`), whatever the noise is; so constants stay constant. The numbers were set on
simulated data, see docs/fit.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regionpredict.fit.model.observations import Observations, Statistic
from regionpredict.fit.model.terms import CompiledSpace, FloatArray

IntArray = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Criterion:
    """The weights of the model selection; all in units of minus twice a log-probability.

    `rarity`: a term's rarity counts so much in a model of one term, `pair_rarity` in one of two,
    `grid_rarity` in one of several parameters, `sum_rarity` in a sum of three parts there,
    `line_rarity` in the choice of those to try;
    `growth`: the gain over a constant that a first term must bring; `second`: the price of a
    second term; `thread_overhead`: the same for `log2(p)` or `p` beside `1/p`, the overhead of
    more threads; `occam`: the share of the coefficients' volume that counts;
    `noise_floor`: relative noise that is assumed even where repetitions agree, for `floor_dof`
    degrees of freedom; `second_gain`: the misfit above which pairs of terms are tried at all;
    `ratio`: how much the ratio of constant and coefficient counts; `steadiness`: how many times
    as much rarity counts where the summary is one for disturbed repetitions, so that one of them
    more or less seldom tips a tie between a common term and a rare one, or between one and two.
    """

    rarity: float = 0.9
    pair_rarity: float = 7.0
    grid_rarity: float = 4.0
    sum_rarity: float = 7.0
    line_rarity: float = 2.4
    growth: float = 6.0
    second: float = 5.0
    thread_overhead: float = -2.0
    occam: float = 0.7
    noise_floor: float = 1e-3
    floor_dof: float = 1.0
    second_gain: float = 6.5
    ratio: float = 1.5
    steadiness: float = 2.7

    def summarising(self, statistic: Statistic, repetitions: int) -> Criterion:
        """The weights for values that `statistic` summarises, of so many repetitions each.

        The more repetitions, the more the right term gains over others, and the less a price keeps
        it from being found.
        """
        if statistic == "mean":
            return self
        more = max(repetitions / _USUAL_REPETITIONS, 1.0) ** _PRICE_OF_MORE
        return replace(self, rarity=self.steadiness * more * self.rarity, second=more * self.second)


DEFAULT_CRITERION = Criterion()

_USUAL_REPETITIONS = 5.0
_PRICE_OF_MORE = 1 / 3  # the power of the repetitions by which the gain's price grows

# The methods of arrays do the same with more calls in between; most arrays here are tiny.
_sum = np.add.reduce
_least = np.minimum.reduce

_FALLING_GAIN = 2.5  # pairs with 1/p are cheap, so less misfit makes them worth a try
_NOTICEABLE = 1.1
_NEARLY = 12.0
_TOGETHER = 32  # call paths whose pairs are solved at once
_SLACK = 8.0  # the Occam factor can favour a pair by this much
_SAME_PREDICTION = 0.1
_OWN_WEIGHT = 0.2
_FALLING = 12.0  # the price of a growth term with a negative coefficient
_MANY_PATHS = 30  # call paths that together tell how common terms are
_PRIOR_PATHS = 150.0  # paths' worth of belief in the rarities
_DECADES = 2.0  # within which a coefficient and the constant lie as often as not
_RATIO_SCALE = 1.0 / (_DECADES * math.log(10.0))
_LOG_TWO_PI = float(np.log(2 * np.pi))
_SMALLEST_DETERMINANT = 1e-8
_ROUNDING = 1e-14


class Data(NamedTuple):
    """`b` call paths measured at the same `n` points.

    `y`, `weights`: `(b, n)`; `within`: `(b,)`, weighted sum of squares of the repetitions;
    `dof`: `(b,)` its degrees of freedom.
    """

    y: FloatArray
    weights: FloatArray
    within: FloatArray
    dof: FloatArray


class Selection(NamedTuple):
    """The best model of each call path: columns `first` and `second` (-1: none) of the space.

    `constant`, `coefficient_first`, `coefficient_second` and `score` are `(b,)`.
    """

    first: IntArray
    second: IntArray
    constant: FloatArray
    coefficient_first: FloatArray
    coefficient_second: FloatArray
    score: FloatArray


class _Sums(NamedTuple):
    """Weighted sums, centred on the weighted mean; the shapes are `(b, 1)` and `(b, h)`."""

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


def _sums(data: Data, space: CompiledSpace, criterion: Criterion) -> _Sums:
    y, w = data.y, data.weights
    n = y.shape[1]
    h = len(space.terms)
    total = _sum(w, 1, keepdims=True)
    mean = _sum(w * y, 1, keepdims=True) / total
    centred = y - mean
    weighted = w * centred
    sums = w @ space.stacked
    column_sum = sums[:, :h]
    column_mean = column_sum / total
    # Rounding must not make the norm of a nearly constant column negative.
    column_norm = np.maximum(sums[:, h:] - column_mean * column_sum, _ROUNDING * sums[:, h:])
    size = np.abs(y)
    volume = size[:, :1] * space.inverse[:, 0]
    ceiling = np.empty_like(volume)
    for k in range(1, n):  # the least over an axis as short as that of the points is slow
        np.multiply(size[:, k : k + 1], space.inverse[:, k], out=ceiling)
        np.minimum(volume, ceiling, out=volume)
    # The squared largest coefficient over the variance that the column leaves it.
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
        product=weighted @ space.transposed,
        volume=volume,
        volume_constant=np.log(total * least * least + 1e-300),
        base=data.within[:, None] + criterion.floor_dof * criterion.noise_floor**2,
        dof=data.dof[:, None] + criterion.floor_dof + (n - 2.0),
    )


def _sign_cost(z: FloatArray) -> FloatArray:
    """Minus twice the log-probability that a coefficient `z` errors above zero is positive."""
    cost = np.maximum(z, -12.0)
    cost *= -1.702
    np.log1p(np.exp(cost, out=cost), out=cost)
    cost *= 2.0
    return np.asarray(cost)


def _ratio_cost(constant: FloatArray, error: FloatArray, coefficient: FloatArray) -> FloatArray:
    """Minus twice the log-probability of the ratio of a constant and a coefficient.

    At a weight of 1 a Cauchy distribution of its logarithm, at 1.5 a t distribution with two
    degrees of freedom: where a parameter counts bytes, not processes, ten decades cost little more
    than six. A constant below its `error` counts as that.
    """
    decades = np.maximum(constant, error)
    decades /= np.abs(coefficient) + 1e-300
    np.log(decades, out=decades)
    decades *= _RATIO_SCALE
    decades *= decades
    np.log1p(decades, out=decades)
    decades *= 2.0
    return np.asarray(decades)


def _first_scores(
    s: _Sums, space: CompiledSpace, criterion: Criterion
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Scores `(b, h)` of the models of one term, coefficients, the gain over none, own prices."""
    # In place where it can be: fresh pages for every step would cost as much as the steps.
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
    own = np.asarray(_FALLING * (slope <= 0), dtype=np.float64)
    rare = criterion.rarity * space.rarity
    flat = s.dof * np.log(s.base + s.spread)
    gain = flat[:, 0] - _least(likelihood + (0.4 * rare + own), 1)
    level = s.volume_constant + 2.0 * (np.log(s.dof) - _LOG_TWO_PI)
    score *= -2.0
    score += s.volume + level
    score *= criterion.occam
    score += likelihood
    own += rare
    own += _sign_cost(constant / error)
    own += criterion.ratio * _ratio_cost(constant, error, slope)
    score += own
    return score, slope, constant, residual, gain, own


class _PairPrices(NamedTuple):
    """The pairs of terms, cheapest first: `first` and `second` columns and the prior's `price`.

    `surcharge` makes overhead beside `1/p` cost as much as other pairs, where nothing falls.
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


def _falls(y: FloatArray, space: CompiledSpace) -> NDArray[np.bool_]:
    """Whether the values `(b, n)` fall from the smallest parameter value on, as run times do."""
    return np.asarray(y[:, space.smallest] > _NOTICEABLE * _least(y, 1))


class _Pairs(NamedTuple):
    """The usable pairs of terms of some call paths, flat: `row` says of which."""

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
    """Fits the pairs of terms for all call paths; both coefficients are positive.

    With `worst` `(b,)`, pairs whose likelihood and price together are above it are left out.
    """
    ia, ib, price, surcharge = _pair_prices(space, criterion)
    if worst is not None:
        # A pair explains at most everything.
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
        + np.where(_falls(data.y, space)[row], 0.0, surcharge[pair])
        + _sign_cost(constant / error)
        # Both terms together have one constant to be compared with.
        + 0.5
        * criterion.ratio
        * (_ratio_cost(constant, error, a) + _ratio_cost(constant, error, b))
    )
    return _Pairs(row, ia, ib, constant, a, b, score)


def _best_of_each(row: IntArray, score: FloatArray) -> IntArray:
    """Where the lowest score of each row is; `row` ascends."""
    if row[0] == row[-1]:
        return np.array([score.argmin()])
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    lengths = np.diff(starts, append=len(row))
    lowest = np.repeat(np.minimum.reduceat(score, starts), lengths)
    winners = np.flatnonzero(score == lowest)
    kept = np.unique(row[winners], return_index=True)[1]
    return np.asarray(winners[kept], dtype=np.intp)


def _most_agreed(pairs: _Pairs, winner: int, space: CompiledSpace) -> int:
    """Among the pairs nearly as good as `winner`, the one whose extrapolation most others share.

    Many pairs explain the same data; where they lead, far beyond the points, tells them apart.
    Each pair's probability counts for all pairs that predict nearly the same there.
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


def _winners(pairs: _Pairs, least: FloatArray, space: CompiledSpace) -> list[int]:
    """The pair to be taken for each call path where one scores less than `least` `(b,)`."""
    best = _best_of_each(pairs.row, pairs.score)
    better = best[pairs.score[best] < least[pairs.row[best]]]
    return [_most_agreed(pairs, winner, space) for winner in better.tolist()]


def _learned_prices(array: IntArray, space: CompiledSpace, criterion: Criterion) -> FloatArray:
    """What the prior's price of each term `(h,)` changes by; `found` are the growing paths' terms.

    The terms' frequencies, after as many paths as `_PRIOR_PATHS` that have them as the rarities
    say. The commonest keeps its price, so that growth is no easier to believe.
    """
    expected = np.exp(-0.5 * criterion.rarity * space.rarity)
    expected = expected / expected.sum()
    seen = np.bincount(array, minlength=len(expected))
    share = (seen + _PRIOR_PATHS * expected) / (len(array) + _PRIOR_PATHS)
    price = -2.0 * np.log(share)
    usual = criterion.rarity * (space.rarity - space.rarity.min())
    return np.asarray(price - price.min() - usual)


def select(
    data: Data,
    space: CompiledSpace,
    criterion: Criterion = DEFAULT_CRITERION,
    *,
    max_terms: int = 2,
    learn: bool = False,
) -> Selection:
    """The best model of none, one or two terms for each of the `b` call paths.

    With `learn`, how often the terms occur among many call paths says how rare each is.

    Coefficients of growth terms are positive, unless nothing but a negative one explains the data
    (an efficiency that falls with the number of processes): that has a high price.
    """
    s = _sums(data, space, criterion)
    score, slope, constant, residual, gain, own = _first_scores(s, space, criterion)
    index = score.argmin(1)
    count = len(index)
    if learn and count >= _MANY_PATHS:
        score = score + _learned_prices(index[gain >= criterion.growth], space, criterion)
        index = score.argmin(1)
    flat = index + np.arange(0, count * score.shape[1], score.shape[1])
    first, second = index, index * 0 - 1
    value, coefficient, least = constant.ravel()[flat], slope.ravel()[flat], score.ravel()[flat]
    other = np.zeros(count)
    grows = gain >= criterion.growth
    if max_terms > 1 and len(space.pairs_a):
        left = s.dof[:, 0] * np.log1p(residual.ravel()[flat] / s.base[:, 0])
        worth = criterion.second_gain - _FALLING_GAIN * _falls(data.y, space)
        doubtful = (grows & (left > worth)).nonzero()[0]
        # Misfit and own price of the best single term are all that a pair can save.
        saved = left + own.ravel()[flat] + _SLACK
        doubtful = doubtful[saved[doubtful].argsort()]
        # Those that can save as much go together: they can afford the same pairs.
        for rows in (
            np.array_split(doubtful, -(-len(doubtful) // _TOGETHER)) if len(doubtful) else ()
        ):
            some = Data(*(part[rows] for part in data))
            sums = _Sums(*(part[rows] for part in s))
            worst = saved[rows] + sums.dof[:, 0] * np.log(sums.base[:, 0])
            pairs = _pair_models(some, sums, space, criterion, worst)
            winners = _winners(pairs, least[rows], space) if pairs is not None else []
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


class One(NamedTuple):
    """The best model of one call path, as a row of `Selection`."""

    first: int
    constant: float
    coefficient: float
    second: int = -1
    coefficient_second: float = 0.0
    settled: bool = True
    """Whether one term explains the points so well that no pair is worth a try."""


def select_one(
    seen: Observations,
    space: CompiledSpace,
    criterion: Criterion = DEFAULT_CRITERION,
    *,
    max_terms: int = 2,
) -> One:
    """`select` for a single call path.

    The same formulas without the axis of call paths: for data this small, the number of array
    operations is the cost, and plain numbers need none.
    """
    y, w = seen.y, seen.weights
    h = len(space.terms)
    total = float(_sum(w))
    mean = float(w @ y) / total
    centred = y - mean
    weighted = w * centred
    spread = float(weighted @ centred)
    sums = w @ space.stacked
    column_mean = sums[:h] / total
    column_norm = sums[h:] - column_mean * sums[:h]
    product = weighted @ space.transposed
    base = seen.within + criterion.floor_dof * criterion.noise_floor**2
    dof = seen.dof + criterion.floor_dof + (len(y) - 2.0)
    slope = product / column_norm
    residual = np.maximum(spread - slope * product, 0.0)
    q = base + residual
    log_q = np.log(q)
    likelihood = dof * log_q
    rare = criterion.rarity * space.rarity
    refused = _FALLING * (slope <= 0)
    gain = dof * math.log(base + spread) - float(_least(likelihood + (0.4 * rare + refused)))
    if gain < criterion.growth:
        return One(-1, mean, 0.0)
    size = np.abs(y)
    largest = _least(size * space.inverse, 1)
    constant = mean - slope * column_mean
    error = np.sqrt(q * (1.0 / total + column_mean * (column_mean / column_norm)) * (1.0 / dof))
    volume = np.log(column_norm * largest * largest + 1e-300)
    own = rare + refused + _sign_cost(constant / error)
    own += criterion.ratio * _ratio_cost(constant, error, slope)
    score = likelihood + criterion.occam * (volume - 2.0 * log_q) + own
    index = int(score.argmin())
    worth = criterion.second_gain - (
        _FALLING_GAIN if y[space.smallest] > _NOTICEABLE * _least(y) else 0.0
    )
    left = dof * math.log1p(float(residual[index]) / base)
    selected = One(index, float(constant[index]), float(slope[index]), settled=left <= worth)
    if selected.settled or max_terms < 2 or not len(space.pairs_a):
        return selected
    column_norm = np.maximum(column_norm, _ROUNDING * sums[h:])
    level = math.log(total * float(_least(size)) ** 2 + 1e-300)
    row = _Sums(
        total=np.array([[total]]),
        mean=np.array([[mean]]),
        spread=np.array([[spread]]),
        column_mean=column_mean[None],
        column_norm=column_norm[None],
        product=product[None],
        volume=volume[None],
        volume_constant=np.array([[level]]),
        base=np.array([[base]]),
        dof=np.array([[dof]]),
    )
    pairs = _pair_models(
        Data(y[None], w[None], row.base[0], row.dof[0]),
        row,
        space,
        criterion,
        np.array([float(likelihood[index] + own[index]) + _SLACK]),
    )
    if pairs is None:
        return selected
    level += 2.0 * (math.log(dof) - _LOG_TWO_PI)
    least = np.array([float(score[index]) + criterion.occam * level])
    for winner in _winners(pairs, least, space):
        selected = One(
            int(pairs.first[winner]),
            float(pairs.constant[winner]),
            float(pairs.a[winner]),
            int(pairs.second[winner]),
            float(pairs.b[winner]),
            settled=False,
        )
    return selected


def rank(
    data: Data,
    space: CompiledSpace,
    criterion: Criterion = DEFAULT_CRITERION,
    *,
    max_terms: int = 2,
) -> Selection:
    """All models of one call path (`b` = 1), best first: the runners-up of `select`.

    The constant has the score that makes the growth test a fair coin at its threshold.
    """
    # How far a model may be off is not for that belief to say.
    criterion = replace(criterion, ratio=0.0)
    s = _sums(data, space, criterion)
    score, slope, constant, _, gain, _ = _first_scores(s, space, criterion)
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
