"""Searches models of several parameters (Shudler 2018, sec. 2.5) without trying all combinations.

1. Along every line of points that differ in one parameter only, the model is a constant plus a
   slope times one term, for any values of the others. This holds for sums, products, and sums of
   products. Therefore, each term of each parameter is fitted to all lines at once, and each line
   has its own constant and slope. The best terms of each parameter form a short list. If the points
   form no lines (scattered designs), common terms are tried parameter by parameter.
2. All products of short-listed terms, at most one per parameter, are candidate columns. All models
   with one and two columns are solved in closed form. The best models get further columns as long
   as each column lowers the score by more than its price. Therefore, parameters without influence
   get no column.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.fit.model.fitted_model import growth_key
from regionpredict.fit.model.observations import Observations
from regionpredict.fit.model.quality import Candidate, Monomial, design_matrix
from regionpredict.fit.model.terms import FloatArray, SearchSpace, Term, rarity_of_term
from regionpredict.fit.search.criterion import DOUBTFUL, Criterion

_SHORT_LIST = {2: 5, 3: 3}
_SHORT_LIST_OF_SUMS = 6  # longer than for products, since sums have no combinations
_LINE_MINIMUM = 3
_FIRST_TERMS: tuple[Term, ...] = ((0.0, 1.0), (1.0, 0.0), (2.0, 0.0))
_SHORT_LIST_RANGE = 8.0
_FURTHER_TERM = 9.0
_SECOND_TERM_OF_PARAMETER = 5.0
_BEAM = 3
_MANY_PARTS = 3  # number of summands with one term each from which a sum counts as long
_NEGATIVE = 12.0  # the price of a negative coefficient, as in the search for one parameter
_SMALLEST_DETERMINANT = 1e-7
MOST_COLUMNS = 512


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines of points that differ in one parameter with `q` values. `indices` is `(lines, q)`."""

    indices: NDArray[np.intp]
    stacked: FloatArray
    transposed: FloatArray


@dataclass(frozen=True, slots=True)
class _Axis:
    """A parameter with its `h` terms, their values `(h, n)` at all points, and its lines."""

    index: int
    terms: tuple[Term, ...]
    columns: FloatArray
    rarity: FloatArray
    lines: tuple[_Lines, ...]
    line_count: int


_UNIT = np.eye(2)
_OTHER = 1.0 - _UNIT
_sum = np.add.reduce  # faster than the arrays' method

_ShortLists = tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]
"""For each parameter, the indices of the terms for products, and those of the terms for sums."""


@dataclass(slots=True)
class Grid:
    """The measured points of several parameters, and data derived from them for the search.

    A cache holds the candidate columns of each short list, since many call paths share them. It is
    cleared at `MOST_COLUMNS` entries.
    """

    points: FloatArray
    axes: tuple[_Axis, ...]
    _kept: dict[tuple[_ShortLists, Criterion], _Columns] = field(default_factory=dict)

    @staticmethod
    def of(
        points: FloatArray,
        active: tuple[int, ...],
        space: SearchSpace,
        spaces: dict[int, SearchSpace] | None = None,
    ) -> Grid:
        """Creates the grid of points `(n, m)`. The parameters `active` have several values."""
        axes = tuple(
            _parameter_axis(points, index, (spaces or {}).get(index, space)) for index in active
        )
        return Grid(points, axes)

    def columns(self, lists: _ShortLists, criterion: Criterion) -> _Columns:
        """Returns the candidate columns of these short lists of terms, with their prices."""
        columns = self._kept.get((lists, criterion))
        if columns is None:
            if len(self._kept) >= MOST_COLUMNS:
                self._kept.clear()
            columns = self._kept[lists, criterion] = _candidate_columns(self, lists, criterion)
        return columns


@dataclass(frozen=True, slots=True)
class _Columns:
    """The candidate columns of the search: monomials with their growth, `values` `(c, n)` at the
    points, and prices.

    `price` has one entry per column, and `pair_price` one per pair of columns. `flat` has the
    pairs' positions in a flattened matrix `(c, c)`.

    `sums` `(s, m)` lists sums with one term per parameter, for at least three parameters.
    """

    monomials: tuple[Monomial, ...]
    growths: tuple[tuple[float, float, float], ...]
    values: FloatArray
    price: FloatArray
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    flat: NDArray[np.intp]
    pair_price: FloatArray
    sums: NDArray[np.intp]
    sum_price: FloatArray
    _prices: dict[tuple[int, ...], float] = field(default_factory=dict)

    def model_price(self, columns: tuple[int, ...], criterion: Criterion) -> float:
        """Returns the prior's price of a model with these columns."""
        price = self._prices.get(columns)
        if price is None:
            price = _model_price(tuple(self.monomials[k] for k in columns), criterion)
            self._prices[columns] = price
        return price


def _parameter_axis(points: FloatArray, index: int, space: SearchSpace) -> _Axis:
    compiled = space.compiled(points[:, index])
    groups: dict[tuple[float, ...], list[int]] = {}
    for row, point in enumerate(np.delete(points, index, axis=1).tolist()):
        groups.setdefault(tuple(point), []).append(row)
    by_values: dict[tuple[float, ...], list[list[int]]] = {}
    for rows in groups.values():
        ordered = sorted(rows, key=lambda row: float(points[row, index]))
        if len(ordered) >= _LINE_MINIMUM:
            by_values.setdefault(tuple(points[ordered, index].tolist()), []).append(ordered)
    lines = []
    for rows_of_lines in by_values.values():
        columns = compiled.columns[:, rows_of_lines[0]]
        lines.append(
            _Lines(
                np.array(rows_of_lines),
                np.ascontiguousarray(np.concatenate([columns, columns**2]).T),
                np.ascontiguousarray(columns.T),
            )
        )
    return _Axis(
        index,
        compiled.terms,
        compiled.columns,
        compiled.rarity,
        tuple(lines),
        sum(len(rows) for rows in by_values.values()),
    )


def _best_terms_along_lines(
    axis: _Axis, observations: Observations, count: int, criterion: Criterion, signed: bool
) -> tuple[int, ...]:
    """Returns the indices of the terms that fit the lines of a parameter best, the best first."""
    y, w = observations.y, observations.weights
    h = len(axis.terms)
    residual = np.zeros(h)
    measured = 0
    for lines in axis.lines:
        wl, yl = w[lines.indices], y[lines.indices]
        total = _sum(wl, 1, keepdims=True)
        centred = yl - _sum(wl * yl, 1, keepdims=True) / total
        weighted = wl * centred
        sums = wl @ lines.stacked  # sums of the columns and of their squares
        norm = sums[:, h:] - sums[:, :h] ** 2 / total
        product = weighted @ lines.transposed
        rising = product if signed else np.maximum(product, 0.0)
        residual += float(_sum(weighted * centred, None)) - _sum(rising * rising / norm, 0)
        measured += lines.indices.size
    dof = observations.dof + 1.0 + max(measured - 2 * axis.line_count, 0)
    base = observations.within + criterion.noise_floor**2
    score = dof * np.log(base + np.maximum(residual, 0.0)) + criterion.line_rarity * axis.rarity
    order = score.argsort(kind="stable")[:count].tolist()
    worst = score[order[0]] + _SHORT_LIST_RANGE
    return tuple(k for k in order if score[k] <= worst)


def _candidate_columns(grid: Grid, lists: _ShortLists, criterion: Criterion) -> _Columns:
    monomials: list[Monomial] = []
    column_values, price = [], []
    narrow, wide = lists
    picked = list(product(*((-1, *terms) for terms in narrow)))
    alone: list[list[int]] = []  # for each parameter, the positions of its separate terms
    for number, terms in enumerate(wide):
        nothing = [-1] * len(wide)
        ones = [(*nothing[:number], term, *nothing[number + 1 :]) for term in terms]
        picked.extend(column for column in ones if column not in picked)
        # The first combination has no term, so columns are numbered from the second one.
        alone.append([picked.index(column) - 1 for column in ones])
    for picks in picked:
        monomial: Monomial = {}
        column = np.ones(len(grid.points))
        for axis, pick in zip(grid.axes, picks, strict=True):
            if pick >= 0:
                monomial[axis.index] = axis.terms[pick]
                column = column * axis.columns[pick]
        if monomial:
            monomials.append(monomial)
            column_values.append(column)
            price.append(_model_price((monomial,), criterion))
    first, second = np.triu_indices(len(monomials), 1)
    pair_price = np.array(
        [
            _model_price((monomials[a], monomials[b]), criterion)
            for a, b in zip(first.tolist(), second.tolist(), strict=True)
        ]
    )
    sums = list(product(*alone)) if len(alone) > 2 else []
    sum_price = [_model_price(tuple(monomials[k] for k in picks), criterion) for picks in sums]
    return _Columns(
        tuple(monomials),
        tuple(map(growth_key, monomials)),
        np.array(column_values),
        np.array(price),
        first,
        second,
        first * len(monomials) + second,
        pair_price,
        np.array(sums, dtype=np.intp).reshape(len(sums), len(alone)),
        np.array(sum_price),
    )


def _model_price(monomials: tuple[Monomial, ...], criterion: Criterion) -> float:
    """Returns the prior's price of a model: it grows with the number of columns, of different
    factors and of rare factors.

    In a sum over many parameters, each part is small relative to the others' noise. Therefore, a
    rare term often fits a part better than the correct one.
    """
    factors = {item for monomial in monomials for item in monomial.items()}
    parameters = {index for index, _ in factors}
    sum_of_many = len(monomials) == len(factors) >= _MANY_PARTS
    return (
        criterion.growth
        + _FURTHER_TERM * (len(monomials) - 1)
        + _SECOND_TERM_OF_PARAMETER * (len(factors) - len(parameters))
        + (criterion.sum_rarity if sum_of_many else criterion.grid_rarity)
        * sum(rarity_of_term(term) for _, term in factors)
    )


@dataclass(frozen=True, slots=True)
class _StandardisedFit:
    """The standardized candidate columns `unit` `(c, n)`, their products `gram` `(c, c)`, their
    products `projection` with the values, and their scales.

    With `signed`, coefficients may be negative, at an additional price.
    """

    columns: _Columns
    unit: FloatArray
    gram: FloatArray
    projection: FloatArray
    norm: FloatArray
    column_mean: FloatArray
    mean: float
    spread: float
    base: float
    dof: float
    signed: bool


def _short_lists(
    grid: Grid, observations: Observations, criterion: Criterion, signed: bool
) -> _ShortLists:
    """Returns the short lists of terms of all parameters.

    For a parameter without lines, common terms are tried together with the lists of the other
    parameters. The terms of the best models are kept. A second pass repeats this.
    """
    count = _SHORT_LIST.get(len(grid.axes), 2)
    wide = max(count, _SHORT_LIST_OF_SUMS) if len(grid.axes) > 2 else count
    ranked = [
        _best_terms_along_lines(axis, observations, wide, criterion, signed)
        if axis.lines
        else tuple(k for k, term in enumerate(axis.terms) if term in _FIRST_TERMS)[:count]
        for axis in grid.axes
    ]
    lists = [tuple(sorted(terms[:count])) for terms in ranked]
    alone = [tuple(sorted(terms)) for terms in ranked]
    if all(axis.lines for axis in grid.axes):
        return tuple(lists), tuple(alone)
    for _ in range(2):
        for number, axis in enumerate(grid.axes):
            if axis.lines:
                continue
            common = tuple(np.flatnonzero(axis.rarity == axis.rarity.min()).tolist())
            lists[number] = common
            fit = _standardised_columns(
                grid, observations, criterion, (tuple(lists), tuple(lists)), signed
            )
            kept: dict[int, None] = {}
            for _, chosen in _best_small_models(fit, 12):
                for k in chosen:
                    term = fit.columns.monomials[k].get(axis.index)
                    if term is not None:
                        kept.setdefault(axis.terms.index(term))
            lists[number] = tuple(sorted(list(kept)[:count])) or common[:count]
    return tuple(lists), tuple(lists)


def _standardised_columns(
    grid: Grid,
    observations: Observations,
    criterion: Criterion,
    lists: _ShortLists | None = None,
    signed: bool = False,
) -> _StandardisedFit:
    if lists is None:
        lists = _short_lists(grid, observations, criterion, signed)
    columns = grid.columns(lists, criterion)
    if not columns.values.size:
        raise InputError(
            "no term has a finite value at every point",
            remedy="search smaller exponents (--terms, --exponents)",
        )
    y, w = observations.y, observations.weights
    root = np.sqrt(w)
    total = float(_sum(w))
    mean = float(w @ y) / total
    column_mean = columns.values @ w / total
    unit = (columns.values - column_mean[:, None]) * root
    norm = np.sqrt(_sum(unit * unit, 1))
    norm[norm == 0] = 1.0
    unit /= norm[:, None]
    centred = (y - mean) * root
    return _StandardisedFit(
        columns=columns,
        unit=unit,
        gram=unit @ unit.T,
        projection=unit @ centred,
        norm=norm,
        column_mean=column_mean,
        mean=mean,
        spread=float(centred @ centred),
        base=observations.within + criterion.floor_dof * criterion.noise_floor**2,
        dof=observations.dof + criterion.floor_dof + len(y) - 2.0,
        signed=signed,
    )


_Scored = tuple[float, tuple[int, ...]]


def _best_small_models(fit: _StandardisedFit, keep: int) -> list[_Scored]:
    """Returns the best models with zero, one and two columns, with their scores, the best first."""
    constant = (fit.dof * np.log(fit.base + fit.spread), ())
    slope = fit.projection if fit.signed else np.maximum(fit.projection, 0.0)
    single = fit.dof * np.log(fit.base + np.maximum(fit.spread - slope**2, 0.0))
    single_scores = single + fit.columns.price + _NEGATIVE * (slope < 0)
    ranked: list[_Scored] = [constant]
    ranked.extend((float(single_scores[k]), (k,)) for k in single_scores.argsort()[:keep].tolist())
    a, b = fit.columns.first, fit.columns.second
    if len(a):
        rho = fit.gram.take(fit.columns.flat)
        pa, pb = fit.projection[a], fit.projection[b]
        determinant = 1.0 - rho * rho
        positive = (pa > rho * pb) & (pb > rho * pa)
        if fit.signed:
            usable = (determinant > _SMALLEST_DETERMINANT).nonzero()[0]
        else:
            usable = (positive & (determinant > _SMALLEST_DETERMINANT)).nonzero()[0]
        if len(usable):
            r, pa, pb = rho[usable], pa[usable], pb[usable]
            explained = (pa * pa + pb * pb - 2.0 * r * pa * pb) / determinant[usable]
            pair_scores = (
                fit.dof * np.log(fit.base + np.maximum(fit.spread - explained, 0.0))
                + fit.columns.pair_price[usable]
                + _NEGATIVE * ~positive[usable]
            )
            best = pair_scores.argpartition(min(keep, len(pair_scores)) - 1)[:keep]
            array = usable[best]
            ranked.extend(
                zip(
                    pair_scores[best].tolist(),
                    zip(a[array].tolist(), b[array].tolist(), strict=True),
                    strict=True,
                )
            )
    ranked.extend(_best_sums(fit, keep))
    ranked.sort(key=lambda item: item[0])
    return ranked


def _best_sums(fit: _StandardisedFit, keep: int) -> list[_Scored]:
    """Returns the best sums with one term per parameter, for at least three parameters.

    Extending the best models of two columns would miss these sums, since the best terms for two
    parameters may differ from those for three.
    """
    sums = fit.columns.sums
    if not len(sums):
        return []
    matrices = fit.gram[sums[:, :, None], sums[:, None, :]]
    projection = fit.projection[sums]
    sound = np.flatnonzero(np.linalg.det(matrices) > _SMALLEST_DETERMINANT)
    solution = np.linalg.solve(matrices[sound], projection[sound][:, :, None])[:, :, 0]
    positive = (solution > 0).all(1)
    sound, solution = sound[positive], solution[positive]
    explained = (solution * projection[sound]).sum(1)
    scores = (
        fit.dof * np.log(fit.base + np.maximum(fit.spread - explained, 0.0))
        + fit.columns.sum_price[sound]
    )
    best = np.argsort(scores, kind="stable")[:keep]
    return [(float(scores[k]), tuple(sums[sound[k]].tolist())) for k in best]


_Solved = tuple[FloatArray, float]
"""Coefficients `(k,)` of the standardized columns, and the weighted residual sum of squares."""


def _coefficients_of_columns(fit: _StandardisedFit, columns: tuple[int, ...]) -> _Solved | None:
    """Returns the coefficients of the standardized columns and the residual sum of squares. The
    result is None if a coefficient has a sign that is not allowed.
    """
    index = list(columns)
    if len(index) < 3:  # closed form, which is faster than a solver's call
        pa, pb = float(fit.projection[index[0]]), float(fit.projection[index[-1]])
        r = float(fit.gram[index[0], index[1]]) if len(index) > 1 else 0.0
        if abs(r) >= 1.0:
            return None
        a, b = (pa - r * pb) / (1.0 - r * r), (pb - r * pa) / (1.0 - r * r)
        if min(a, b) <= 0 and not fit.signed:
            return None
        if len(index) < 2:
            return np.array([pa]), max(fit.spread - pa * pa, 0.0)
        return np.array([a, b]), max(fit.spread - (a * pa + b * pb), 0.0)
    try:
        solution = np.asarray(
            np.linalg.solve(fit.gram[index][:, index], fit.projection[index]), dtype=np.float64
        )
    except np.linalg.LinAlgError:
        return None
    if (solution <= 0).any() and not fit.signed:
        return None
    return solution, max(fit.spread - float(solution @ fit.projection[index]), 0.0)


def _with_more_columns(
    fit: _StandardisedFit, ranked: list[_Scored], criterion: Criterion, limit: int
) -> _Scored:
    """Adds columns to the best models with two columns as long as each column lowers the score."""
    best = ranked[0]
    beam = [item for item in ranked if len(item[1]) == 2][:_BEAM]
    while beam and len(beam[0][1]) < limit:
        grown: list[_Scored] = []
        beam = [item for item in beam if item[0] <= best[0] + 2 * _FURTHER_TERM]
        if not beam:
            break
        index = np.array([chosen for _, chosen in beam])
        shared = fit.gram[index]  # (models, columns of each, all columns)
        projection = fit.projection[index][:, None, :]
        if index.shape[1] == 2:  # columns of unit length: the inverse in closed form
            r = fit.gram[index[:, 0], index[:, 1]][:, None, None]
            inverse = (_UNIT - r * _OTHER) / (1.0 - r * r)
        else:
            inverse = np.linalg.inv(fit.gram[index[:, :, None], index[:, None, :]])
        known = projection @ inverse
        explained = _sum(known * projection, 2)
        independent = 1.0 - _sum(
            shared * (inverse @ shared), 1
        )  # remaining share of each column's sum of squares
        rest = fit.projection - (known @ shared)[:, 0]
        usable = independent > _SMALLEST_DETERMINANT
        gain = rest * rest * usable / np.maximum(independent, _SMALLEST_DETERMINANT)
        # Columns are tried only if they reduce the sum of squares by more than their price.
        left = fit.base + np.maximum(fit.spread - explained - gain, 0.0)
        lows = [fit.columns.model_price(chosen, criterion) for _, chosen in beam]
        most = np.exp((best[0] - _FURTHER_TERM - np.array(lows)) / fit.dof)[:, None]
        hopeful: dict[int, list[int]] = {}
        for row, k in zip(*(part.tolist() for part in (left < most).nonzero()), strict=True):
            hopeful.setdefault(row, []).append(k)
        for row, columns in hopeful.items():
            chosen = beam[row][1]
            for k in columns[:200]:
                if k in chosen:
                    continue
                wider = (*chosen, k)
                solved = _coefficients_of_columns(fit, wider)
                if solved is None:
                    continue
                price = fit.columns.model_price(wider, criterion)
                grown.append((float(fit.dof * np.log(fit.base + solved[1])) + price, wider))
        grown.sort(key=lambda item: item[0])
        if not grown or grown[0][0] >= best[0]:
            break
        best = grown[0]
        beam = grown[:_BEAM]
    return best


class SelectedTerms(NamedTuple):
    """The terms of the selected model, the fastest growing first, and its constant.

    `settled` means that the model explains the points (`Observations.explained`), and clearly
    better than their mean.
    """

    terms: list[tuple[float, Monomial]]
    constant: float
    settled: bool


def search(grid: Grid, observations: Observations, criterion: Criterion) -> SelectedTerms:
    """Returns the terms and the constant of the best model.

    Coefficients are positive if such a model explains the points. Otherwise they may be negative,
    as for efficiencies, if the model is positive at all corners of the measured ranges.
    """
    fit, (_, chosen), solved, explained = _best_model(grid, observations, criterion)
    if not chosen:
        return SelectedTerms([], fit.mean, explained)
    assert solved is not None
    coefficients = solved[0] / fit.norm[list(chosen)]
    constant = fit.mean - float(coefficients @ fit.column_mean[list(chosen)])
    columns = fit.columns
    pairs = [*zip(chosen, coefficients.tolist(), strict=True)]
    pairs.sort(key=lambda pair: columns.growths[pair[0]], reverse=True)
    terms = [(c, dict(columns.monomials[k])) for k, c in pairs]
    settled = explained and solved[1] <= DOUBTFUL * fit.spread
    return SelectedTerms(terms, constant, settled)


def _best_model(
    grid: Grid, observations: Observations, criterion: Criterion
) -> tuple[_StandardisedFit, _Scored, _Solved | None, bool]:
    """Returns the best model with positive coefficients, or a better model with negative ones if
    the former does not explain the points.

    Also returns the model's coefficients (None for a constant), and whether the model explains the
    points.
    """
    fit = _standardised_columns(grid, observations, criterion)
    best = _with_more_columns(fit, _best_small_models(fit, 8), criterion, 2 + len(grid.axes))
    solved = _coefficients_of_columns(fit, best[1]) if best[1] else None
    misfit = solved[1] if solved is not None else fit.spread
    if observations.explained(misfit, 1 + len(best[1])):
        return fit, best, solved, True
    signed = _standardised_columns(grid, observations, criterion, signed=True)
    for score, chosen in _best_small_models(signed, 8):
        if score >= best[0]:
            break
        if chosen and _stays_positive(grid, observations, signed, chosen):
            solved = _coefficients_of_columns(signed, chosen)
            assert solved is not None
            explained = observations.explained(solved[1], 1 + len(chosen))
            return signed, (score, chosen), solved, explained
    return fit, best, solved, False


def _stays_positive(
    grid: Grid, observations: Observations, fit: _StandardisedFit, chosen: tuple[int, ...]
) -> bool:
    """Returns whether the model is positive at all corners, if all measured values are."""
    solved = _coefficients_of_columns(fit, chosen)
    if solved is None:
        return False
    if not observations.relative:
        return True
    coefficients = solved[0] / fit.norm[list(chosen)]
    ends = [(column.min(), column.max()) for column in grid.points.T]
    corners = np.array(list(product(*ends)))
    columns = design_matrix([fit.columns.monomials[k] for k in chosen], corners)[:, 1:]
    predictions = fit.mean + (columns - fit.column_mean[list(chosen)]) @ coefficients
    return bool(predictions.min() > 0)


def rival_models(grid: Grid, observations: Observations, criterion: Criterion) -> list[Candidate]:
    """Returns the best models that the search considered, the best first."""
    fit, best, _, _ = _best_model(grid, observations, criterion)
    ranked = [candidate for candidate in _best_small_models(fit, 30) if candidate[0] > best[0]]
    ranked.insert(0, best)
    return [
        Candidate(tuple(fit.columns.monomials[k] for k in chosen), float(score))
        for score, chosen in ranked
    ]
