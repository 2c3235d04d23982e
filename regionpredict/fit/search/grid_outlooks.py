"""Forecasts series of several parameters by formulas and by lines of the grid, weighted as for one
parameter.

The forecasters `formula` and `formula of work` (the value times the first parameter) use all
points. Other forecasters use lines. The points that differ in one parameter only form a series with
its own outlook. `neighbours` assumes that the change along one parameter is the same at neighboring
values of another, as a factor or as a difference. `last` is the value at the last measured point
that is not larger in any parameter.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from regionpredict.fit.model.observations import Observations, at_points
from regionpredict.fit.model.outlook import Outlook
from regionpredict.fit.model.quality import design_matrix
from regionpredict.fit.model.terms import FloatArray
from regionpredict.fit.search import several_parameters
from regionpredict.fit.search.forecasters import FEWEST
from regionpredict.fit.search.options import Options
from regionpredict.fit.search.outlooks import (
    Forecaster,
    PointForecast,
    combine_forecasts,
    outlook_of,
)
from regionpredict.fit.search.several_parameters import Grid

_ORIGINS = 5  # number of measured points that are predicted from previous ones


class GridForecaster:
    """Forecasts a series of several `active` parameters at positive points `(n, m)`."""

    def __init__(
        self,
        points: FloatArray,
        observations: Observations,
        active: tuple[int, ...],
        options: Options,
    ) -> None:
        self._points, self._observations = points, observations
        self._active, self._options = active, options
        names = [f"along parameter {index + 1}" for index in active]
        pairs = [f"neighbours {a + 1}, {b + 1}" for a, b in combinations(active, 2)]
        self.names = (
            "formula",
            "formula of work",
            *names,
            *(f"{kind} of {pair}" for pair in pairs for kind in ("factors", "differences")),
            "last",
        )
        self._formulas: dict[
            bytes, list[tuple[float, list[tuple[float, dict[int, tuple[float, ...]]]]]]
        ] = {}
        self._lines: dict[bytes, Forecaster] = {}
        self._results: dict[tuple[float, ...], PointForecast] = {}
        self._past_opinions, self._truths = self._rolling_origin_opinions()

    def at(self, points: FloatArray) -> Outlook:
        """Returns the outlook at points `(k, m)`."""
        every = np.ones(len(self._points), dtype=bool)
        scales = [1.0] * len(self._truths)
        for point in points:
            if tuple(point) not in self._results:
                now = self._forecasts_of_target(every, point)
                combination = combine_forecasts(self._past_opinions, self._truths, scales, now)
                self._results[tuple(point)] = (now, *combination)
        return outlook_of(self.names, [self._results[tuple(point)] for point in points])

    def _rolling_origin_opinions(self) -> tuple[list[FloatArray], list[float]]:
        """Returns the opinions on the outermost measured points, each from smaller points, and the
        measured values.
        """
        ranks = np.zeros(len(self._points))
        for index in self._active:
            ranks += np.unique(self._points[:, index], return_inverse=True)[1]
        past_opinions, truths = [], []
        for row in np.argsort(ranks, kind="stable")[-_ORIGINS:].tolist():
            target = self._points[row]
            before = ~(self._points >= target).all(1)
            if before.sum() < self._options.min_points:
                continue
            past_opinions.append(self._forecasts_of_target(before, target))
            truths.append(float(self._observations.y[row]))
        return past_opinions, truths

    def _forecasts_of_target(self, before: NDArray[np.bool_], target: FloatArray) -> FloatArray:
        """Returns the opinions on the point `target` `(m,)`, using only the points in the mask
        `before`. NaN means no opinion.
        """
        points, observations = self._points[before], at_points(self._observations, before)
        opinions = [*self._by_formulas(before, points, observations, target)]
        others = {index: np.delete(np.arange(points.shape[1]), index) for index in self._active}
        lines = {
            index: (points[:, others[index]] == target[others[index]]).all(1)
            & (points[:, index] < target[index])
            for index in self._active
        }
        opinions += [
            self._outlooks_along_lines(index, lines[index], points, observations, target)
            for index in self._active
        ]
        for a, b in combinations(self._active, 2):
            opinions += _forecasts_from_neighbours(
                points, observations.y, lines[a], lines[b], (a, b)
            )
        below = np.flatnonzero(np.all(points <= target, axis=1))
        opinions.append(float(observations.y[below[-1]]) if len(below) else float("nan"))
        opinion_array = np.array(opinions)
        return np.where(np.isfinite(opinion_array) & (opinion_array > 0), opinion_array, np.nan)

    def _by_formulas(
        self,
        before: NDArray[np.bool_],
        points: FloatArray,
        observations: Observations,
        target: FloatArray,
    ) -> tuple[float, float]:
        key = before.tobytes()
        if key not in self._formulas:
            grid = Grid.of(points, self._active, self._options.space)
            first = points[:, self._active[0]]
            work = replace(
                observations, y=observations.y * first, weights=observations.weights / first**2
            )
            opinions = []
            for observed in (observations, work):
                terms, constant, _ = several_parameters.search(
                    grid, observed, self._options.criterion
                )
                opinions.append((constant, terms))
            self._formulas[key] = opinions
        predictions = []
        for constant, terms in self._formulas[key]:
            columns = design_matrix([monomial for _, monomial in terms], target[None])[0]
            predictions.append(float(columns @ [constant, *(c for c, _ in terms)]))
        return predictions[0], predictions[1] / float(target[self._active[0]])

    def _outlooks_along_lines(
        self,
        index: int,
        line: NDArray[np.bool_],
        points: FloatArray,
        observations: Observations,
        target: FloatArray,
    ) -> float:
        if line.sum() < FEWEST:
            return float("nan")
        order = np.flatnonzero(line)[np.argsort(points[line, index], kind="stable")]
        key = points[order].tobytes()
        forecaster = self._lines.get(key)
        if forecaster is None:
            options = self._options
            forecaster = self._lines[key] = Forecaster(
                points[order, index],
                at_points(observations, order),
                options.space,
                options.criterion,
                options.max_terms,
            )
        return float(forecaster.at(target[[index]]).values[0])


def _forecasts_from_neighbours(
    points: FloatArray,
    y: FloatArray,
    along_a: NDArray[np.bool_],
    along_b: NDArray[np.bool_],
    pair: tuple[int, int],
) -> list[float]:
    """Returns the forecasts by factors and by differences. They use the nearest point on the line
    of each parameter, and the point at the corner between them.
    """
    if not along_a.any() or not along_b.any():
        return [float("nan")] * 2
    a, b = pair
    near_a = np.flatnonzero(along_a)[np.argmax(points[along_a, a])]
    near_b = np.flatnonzero(along_b)[np.argmax(points[along_b, b])]
    corner = points[near_a].copy()
    corner[b] = points[near_b, b]
    between = np.flatnonzero((points == corner).all(1))
    if not len(between):
        return [float("nan")] * 2
    first, other, base = float(y[near_a]), float(y[near_b]), float(y[between[0]])
    return [first * other / base, first + other - base]
