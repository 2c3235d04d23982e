"""`FittedModel`: a scaling model with its quality, its uncertainty and alternative models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError, percent
from regionpredict.fit.model import quality
from regionpredict.fit.model.observations import Observations, at_points
from regionpredict.fit.model.outlook import Forecast, Outlook
from regionpredict.fit.model.quality import Candidate, Monomial
from regionpredict.fit.model.terms import (
    FloatArray,
    Term,
    evaluate_term,
    growth_order,
    is_growth,
    term_text,
)
from regionpredict.quoting import latex_name, python_name

Point = Sequence[float] | float

_FAR = 4.0  # multiple of the largest measured value from which a poor fit is marked as a guess
TOO_FAR = 32.0
"""Predictions beyond this multiple of the measured range are marked or withheld."""
_POOR_FIT = 10.0  # percent (SMAPE)
POOR_SMAPE = 20.0  # percent: such a model gets a warning, also at the measured points
NO_MODEL = "none"
"""The law of a series without a suitable formula. Its constant is the mean of the points."""

_NO_FORMULA = {"text": "no model", "python": "float('nan')", "latex": "\\text{no model}"}
_ROUNDING = 1e-13  # share of the largest value below which a constant is a rounding error
_NEGLIGIBLE = 5e-5  # share of the sum below which a term changes none of its first four digits


@dataclass(frozen=True, slots=True)
class Interval:
    """The interval that contains a value with probability `level`. `low` and `high` are in the unit
    of the metric.
    """

    low: float
    high: float
    level: float


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a piecewise model, valid from the measured parameter value `first` to `last`."""

    first: float
    last: float
    constant: float
    terms: tuple[tuple[float, Monomial], ...]


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A model of one metric: `constant + sum(coefficient * monomial)`, or its reciprocal.

    `terms` has `(coefficient, {parameter index: (poly, log2)})`, the fastest growth first, without
    the constant. `parameters` are the names of the parameters. `points` has shape `(n, m)`. With
    `reciprocal`, the sum is a model of `1/value`, as for efficiencies and speedups (Rosas 2014, eq.
    5 and 6). `ceiling` is the limit of a saturating law: a lower bound for times, and an upper
    bound for their reciprocals. `law` is the name of the law: `pmnf`, `amdahl`, `amdahl-log`,
    `amdahl-linear`, `usl`, `saturation`, `pipeline`, or `none` if no formula describes the points.

    A piecewise model has one varying parameter. `pieces` are the models for its smaller values, in
    ascending order. The constant and terms are valid from `start` on. `forecaster` computes the
    forecast beyond the measured points on first use.
    """

    constant: float
    terms: list[tuple[float, Monomial]]
    law: str
    parameters: tuple[str, ...]
    points: FloatArray
    observations: Observations
    notes: tuple[str, ...] = ()
    reciprocal: bool = False
    ceiling: float | None = None
    law_parameters: dict[str, float] = field(default_factory=dict)
    rivals: Callable[[], list[Candidate]] | None = None
    pieces: tuple[Piece, ...] = ()
    start: float = -np.inf
    forecaster: Callable[[FittedModel], Forecast | None] | None = None

    @staticmethod
    def of_search(
        constant: float,
        terms: list[tuple[float, Monomial]],
        law: str,
        parameters: tuple[str, ...],
        points: FloatArray,
        observations: Observations,
        rivals: Callable[[], list[Candidate]],
        forecaster: Callable[[FittedModel], Forecast | None] | None,
    ) -> FittedModel:
        """Creates a model in a third of the time of the constructor, since a frozen class sets each
        field by a call.

        With thousands of call paths, the search becomes a fifth faster.
        """
        model = object.__new__(FittedModel)
        model.__dict__.update(
            constant=constant,
            terms=terms,
            law=law,
            parameters=parameters,
            points=points,
            observations=observations,
            law_parameters={},
            rivals=rivals,
            forecaster=forecaster,
        )
        return model

    def predict(self, point: Point) -> float:
        """Predicts the value at `point` (one number per parameter), in the unit of the metric.

        The result is never negative if all measured values are positive. Raises `InputError` for a
        point of the wrong length, or outside the domain of a logarithm or a power.
        """
        return float(self.predict_many(np.atleast_2d(np.asarray(point, dtype=np.float64)))[0])

    def predict_many(self, points: FloatArray) -> FloatArray:
        """Predicts the values `(k,)` at the points `(k, m)`. Predictions in the measured range
        follow the formula. Predictions beyond it come from `outlook`, unless the formula is certain
        and explains the measurements within their noise.
        """
        x = self._checked_points(points)
        value = self.formula_values(x)
        beyond = self._points_beyond(x)
        if beyond.any():
            outlook = self.outlook(x[beyond])
            if outlook is not None:
                value[beyond] = outlook.values
        return value

    def stretches(self) -> list[tuple[NDArray[np.bool_], tuple[Monomial, ...]]]:
        """Returns for each piece, in ascending order, a mask `(n,)` of its points, and its
        monomials.
        """
        parts = []
        rest = np.ones(len(self.points), dtype=bool)
        for piece in self.pieces:
            own = rest & (self.points[:, self._index_of_varying_parameter] <= piece.last)
            rest &= ~own
            parts.append((own, tuple(monomial for _, monomial in piece.terms)))
        return [*parts, (rest, self.monomials)]

    @property
    def _index_of_varying_parameter(self) -> int:
        """The index of the only parameter that varies. Its range is divided into pieces."""
        return int(np.argmax((self.points != self.points[0]).any(0)))

    def _checked_points(self, points: FloatArray) -> FloatArray:
        x = np.asarray(points, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != len(self.parameters):
            raise InputError(
                f"a point has {x.shape[-1] if x.ndim else 1} numbers, "
                f"the model has the parameters {', '.join(self.parameters)}",
                remedy="give one number per parameter",
            )
        return x

    def _points_beyond(self, x: FloatArray) -> NDArray[np.bool_]:
        """Returns a mask of the points that exceed each measured point in at least one
        parameter.
        """
        reached = np.ones((len(x), len(self.points)), dtype=bool)
        for column, measured in zip(x.T, self.points.T, strict=True):
            reached &= column[:, None] <= measured
        return np.asarray(~reached.any(1))

    def outlook(self, points: FloatArray) -> Outlook | None:
        """Returns the forecast at points `(k, m)` beyond the measured points, with its forecasters
        and uncertainty.

        Returns None if there is no forecaster or the formula is reliable. A reliable formula goes
        through all points, or is certain and explains them within their noise.
        """
        forecast = (
            self._forecast_beyond_points(points)
            if self._forecast_beyond_points is not None
            else None
        )
        return forecast if forecast is not None and np.isfinite(forecast.values).all() else None

    def forecasters(self, point: Point) -> tuple[str, ...]:
        """Returns the names of the forecasters of the value at `point`, by descending weight. Empty
        if the formula predicts the value.
        """
        x = self._checked_points(np.atleast_2d(np.asarray(point, dtype=np.float64)))
        outlook = self.outlook(x) if self._points_beyond(x).any() else None
        if outlook is None:
            return ()
        shares = np.where(np.isfinite(outlook.opinions[:, 0]), outlook.shares[:, 0], 0.0)
        order = np.argsort(-shares, kind="stable")
        return tuple(outlook.forecasters[k] for k in order.tolist() if shares[k] > 0)

    @cached_property
    def _forecast_beyond_points(self) -> Forecast | None:
        return self.forecaster(self) if self.forecaster is not None else None

    def formula_values(self, points: FloatArray) -> FloatArray:
        """Returns the formula's values `(k,)` at the points `(k, m)`, without forecasts."""
        x = self._checked_points(points)
        value = self._sum_of_terms(self.constant, self.terms, x)
        ends = [*(piece.first for piece in self.pieces[1:]), self.start]
        for piece, following in reversed(list(zip(self.pieces, ends, strict=False))):
            here = x[:, self._index_of_varying_parameter] <= 0.5 * (piece.last + following)
            value[here] = self._sum_of_terms(piece.constant, piece.terms, x[here])
        if self.ceiling is not None:
            value = np.maximum(value, self.ceiling)
        if self.reciprocal:
            # The reciprocal of a sum that reaches zero has a pole, but an efficiency has none.
            return 1.0 / np.maximum(value, 1e-12 * float(np.abs(value).max() or 1.0))
        return np.maximum(value, 0.0) if self.observations.relative else value

    def _sum_of_terms(
        self, constant: float, terms: Sequence[tuple[float, Monomial]], x: FloatArray
    ) -> FloatArray:
        value = constant + np.zeros(len(x))
        for coefficient, monomial in terms:
            value = value + coefficient * self._monomial_column(monomial, x)
        return value

    def _monomial_column(self, monomial: Monomial, x: FloatArray) -> FloatArray:
        column = np.ones(len(x))
        for index, term in monomial.items():
            values = x[:, index]
            if len(values) and (
                (term[1] and values.min() <= 0) or (term[0] < 0 and values.min() == 0)
            ):
                raise InputError(
                    f"{term_text(self.parameters[index], term)} has no value at "
                    f"{self.parameters[index]} = {values.min():g}",
                    remedy="predict at a positive value",
                )
            column = column * evaluate_term(term, values)
        return column

    @cached_property
    def _quality(self) -> quality.Quality:
        return quality.of_model(self)

    @property
    def smape(self) -> float:
        """Symmetric mean absolute percentage error of the fit, in percent, from 0 to 200."""
        return self._quality.smape

    @property
    def adjusted_r2(self) -> float:
        """Adjusted coefficient of determination, or `nan` for constants (Shudler 2018, sec.
        2.3).
        """
        return self._quality.adjusted_r2

    @property
    def cross_validated_error(self) -> float:
        """The SMAPE in percent if each point is predicted from all other points."""
        return self._quality.cross_validated_error

    @property
    def noise(self) -> float:
        """The relative standard deviation of one repetition, or `nan` without repetitions."""
        return self.observations.noise

    @property
    def leading_term(self) -> Monomial:
        """The monomial of the fastest growing term. Empty for a constant model.

        With several parameters, monomials are compared as if all parameters grew equally.
        """
        growing = [m for _, m in self.terms if any(is_growth(t) for t in m.values())]
        return max(growing, key=growth_key, default={})

    def runners_up(self, count: int = 5) -> list[FittedModel]:
        """Returns the next best models, the best first. A piecewise model returns those of its last
        piece.
        """
        own = _term_set(self.monomials)
        others = [c for c in self.candidates() if _term_set(c.monomials) != own]
        here = self._model_of_piece(
            self.points[[int(np.argmax(self.points[:, self._index_of_varying_parameter]))]]
        )
        return [here._refitted_model(candidate.monomials) for candidate in others[:count]]

    def _refitted_model(self, monomials: Sequence[Monomial]) -> FittedModel:
        """Fits a model with other monomials to the same data, by weighted least squares."""
        solution = quality.weighted_fit(
            quality.design_matrix(monomials, self.points),
            self.observations.y,
            self.observations.weights,
        )
        coefficients = [float(c) for c in solution.coefficients]
        return replace(
            self,
            constant=coefficients[0],
            terms=list(zip(coefficients[1:], monomials, strict=True)),
            law="pmnf",
            notes=(),
            pieces=(),
            start=-np.inf,
            forecaster=None,
        )

    def candidates(self) -> list[Candidate]:
        """Returns the models that the search considered (at most a few dozen), the best first."""
        return self.rivals() if self.rivals is not None else [Candidate(self.monomials, 0.0)]

    @property
    def monomials(self) -> tuple[Monomial, ...]:
        """The monomials of `terms`, without their coefficients."""
        return tuple(monomial for _, monomial in self.terms)

    def interval(self, point: Point, level: float = 0.9) -> Interval:
        """Returns the interval that contains a measured value at `point` with probability `level`.

        The interval includes the uncertainty of the coefficients, and of the choice among candidate
        models by their posterior probability. It assumes as many repetitions as at the measured
        points. If `outlook` predicts the value, its spread determines the interval.
        """
        x = np.atleast_2d(np.asarray(point, dtype=np.float64))
        centre = self.predict(point)
        outlook = self.outlook(x) if self._points_beyond(x).any() else None
        if outlook is not None:
            reach = float(outlook.spread[0]) * NormalDist().inv_cdf(0.5 + level / 2)
            return Interval(centre * np.exp(-reach), centre * np.exp(reach), level)
        low, high = self.formula_quantiles(x, (0.5 - level / 2, 0.5 + level / 2))
        return Interval(min(low, centre), max(high, centre), level)

    def formula_quantiles(self, point: FloatArray, levels: Sequence[float]) -> list[float]:
        """Returns quantiles of a measured value at a point `(1, m)`, for ascending levels.

        They are the quantiles of the mixture of all candidate models, weighted by their posterior
        probability.
        """
        return quality.prediction_quantiles(self._model_of_piece(point), point, levels)

    def _model_of_piece(self, x: FloatArray) -> FittedModel:
        """Returns the model of the piece that contains the point `(1, m)`, restricted to the points
        of that piece.
        """
        if not self.pieces:
            return self
        ends = [*(piece.first for piece in self.pieces[1:]), self.start]
        value = float(x[0, self._index_of_varying_parameter])
        row = sum(value > 0.5 * (p.last + e) for p, e in zip(self.pieces, ends, strict=True))
        own, _ = self.stretches()[row]
        last = row == len(self.pieces)
        return replace(
            self,
            constant=self.constant if last else self.pieces[row].constant,
            terms=self.terms if last else list(self.pieces[row].terms),
            points=self.points[own],
            observations=at_points(self.observations, own),
            rivals=self.rivals if last else None,
            pieces=(),
            start=-np.inf,
            forecaster=None,
        )

    def extrapolation_warning(self, point: Point, level: float = 0.9) -> str:
        """Returns the reasons not to trust a prediction at `point`. The result is empty for a
        reliable prediction.
        """
        x = np.atleast_2d(np.asarray(point, dtype=np.float64))
        band = self.interval(point, level)
        middle = self.predict(point)
        beyond = [
            (name, value, value / top)
            for name, value, top in zip(self.parameters, x[0], self.points.max(0), strict=True)
            if top > 0 and value > top
        ]
        doubts = [
            f"{name} = {value:g} is {times:.0f} times the largest measured value"
            for name, value, times in beyond
            if times > TOO_FAR
        ]
        if band.high - band.low > abs(middle):
            doubts.append(
                f"the data are consistent with values from {band.low:.3g} to {band.high:.3g} "
                f"({percent(level)} confidence)"
            )
        if middle <= 0 and self.observations.relative:
            return "; ".join(["no prediction: the formula falls to zero or below", *doubts])
        # Far from the measured points, a poor fit is only a guess.
        if any(times >= _FAR for _, _, times in beyond) and self.smape > _POOR_FIT:
            return "; ".join(
                [f"a guess: the model misses the points by {self.smape:.0f} %", *doubts]
            )
        return "; ".join(doubts)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings about the model. They begin with the notes of the search."""
        warnings = list(self.notes)
        if self.noise > 0.1:
            warnings.append(
                f"the repetitions differ by {percent(self.noise)}: more of them, or their minimum, "
                "make a better model"
            )
        if self.smape > POOR_SMAPE:
            warnings.append(f"the model misses the measurements by {self.smape:.0f} % (SMAPE)")
        return tuple(warnings)

    def formula(self, style: str = "text", digits: int = 4) -> str:
        """The model as a formula in the style `text`, `python` or `latex`.

        >>> import regionpredict.fit as rf
        >>> m = rf.fit([(p,) for p in (2, 4, 8, 16, 32)], [[3 + 2 * p] for p in (2, 4, 8, 16, 32)])
        >>> m.formula(), m.formula("latex")
        ('3 + 2*p', '3 + 2 \\\\cdot p')
        """
        if self.law == NO_MODEL:
            return _NO_FORMULA[style]
        last = self._sum_text(self.constant, self.terms, style, digits)
        if self.pieces:
            return self._pieces_text(last, style, digits)
        if self.ceiling is not None:
            top = _format_number(self.ceiling, style, digits)
            last = f"\\max({last}, {top})" if style == "latex" else f"max({last}, {top})"
        if self.reciprocal and not self.terms and self.constant:
            return _format_number(1.0 / self.constant, style, digits)
        if self.reciprocal:
            return f"\\frac{{1}}{{{last}}}" if style == "latex" else f"1/({last})"
        return last

    def without_negligible_terms(self, points: FloatArray) -> FittedModel:
        """Returns the model without the terms that change no displayed digit of the value at any of
        the points `(k, m)`.
        """
        x = self._checked_points(points)
        least = _NEGLIGIBLE * np.abs(self._sum_of_terms(self.constant, self.terms, x))
        terms = [
            (coefficient, monomial)
            for coefficient, monomial in self.terms
            if np.any(np.abs(coefficient * self._monomial_column(monomial, x)) > least)
        ]
        return replace(self, terms=terms)

    def sum_text(self, monomials: Sequence[Monomial], coefficients: Sequence[float]) -> str:
        """Returns the sum of a constant and monomials as text. The first coefficient is the
        constant.
        """
        terms = list(zip(coefficients[1:], monomials, strict=True))
        return self._sum_text(coefficients[0], terms, "text", 4)

    def _sum_text(
        self, constant: float, terms: Sequence[tuple[float, Monomial]], style: str, digits: int
    ) -> str:
        parts = []
        size = np.abs(self.observations.y)
        largest = 1.0 / size[size > 0].min(initial=np.inf) if self.reciprocal else size.max()
        if abs(constant) > _ROUNDING * largest or not terms:
            parts.append(_format_number(constant, style, digits))
        for coefficient, monomial in terms:
            joint = " " if style == "latex" else "*"
            product = joint.join(
                term_text(parameter_name(style, self.parameters[i]), t, style=style)
                for i, t in sorted(monomial.items())
            )
            dot = " \\cdot " if style == "latex" else "*"
            parts.append(f"{_format_number(coefficient, style, digits)}{dot}{product}")
        return " + ".join(parts).replace("+ -", "- ")

    def _pieces_text(self, last: str, style: str, digits: int) -> str:
        name = parameter_name(style, self.parameters[self._index_of_varying_parameter])
        ends = [*(piece.first for piece in self.pieces[1:]), self.start]
        parts = [self._sum_text(p.constant, p.terms, style, digits) for p in self.pieces]
        if style == "python":
            for part, piece, end in reversed(list(zip(parts, self.pieces, ends, strict=True))):
                last = f"({part} if {name} <= {0.5 * (piece.last + end)!r} else {last})"
            return last
        if style == "latex":
            rows = [
                f"{part} & {name} \\le {piece.last:g}"
                for part, piece in zip(parts, self.pieces, strict=True)
            ]
            rows.append(f"{last} & {name} \\ge {self.start:g}")
            return "\\begin{cases} " + " \\\\ ".join(rows) + " \\end{cases}"
        before = "; ".join(
            f"{part} up to {name} = {piece.last:g}"
            for part, piece in zip(parts, self.pieces, strict=True)
        )
        return f"{before}; {last} from {name} = {self.start:g}"

    def __str__(self) -> str:
        return self.formula()

    def __repr__(self) -> str:
        return f"<FittedModel {self.formula()} ({self.law})>"


def parameter_name(style: str, name: str) -> str:
    """Returns a parameter's name for a formula in the style `text`, `python` or `latex`."""
    return {"python": python_name, "latex": latex_name}.get(style, str)(name)


def without_formula(model: FittedModel) -> FittedModel:
    """Returns the model of a series for which no formula is better than the mean."""
    observations = model.observations
    note = (
        "no formula describes the measurements better than their mean: "
        "plot them, and measure more points or repetitions"
    )
    return replace(
        model,
        constant=float((observations.weights * observations.y).sum() / observations.weights.sum()),
        terms=[],
        law=NO_MODEL,
        pieces=(),
        start=-np.inf,
        notes=(*model.notes, note),
    )


def remember_quality(models: Sequence[FittedModel]) -> None:
    """Computes the quality of many models together and stores it in the models."""
    for model, model_quality in zip(models, quality.of_models(models), strict=True):
        model.__dict__["_quality"] = model_quality


def growth_key(monomial: Monomial) -> tuple[float, float, float]:
    """Returns a sort key that orders monomials by growth if all parameters grow equally. It
    compares exponentials, then powers, then logarithms.

    >>> growth_key({0: (1.0, 1.0), 1: (0.5, 0.0)})
    (0.0, 1.5, 1.0)
    """
    orders = [growth_order(term) for term in monomial.values()]
    return (sum(o[0] for o in orders), sum(o[1] for o in orders), sum(o[2] for o in orders))


def _term_set(monomials: Sequence[Monomial]) -> frozenset[tuple[tuple[int, Term], ...]]:
    return frozenset(tuple(sorted(m.items())) for m in monomials)


def _format_number(value: float, style: str, digits: int) -> str:
    if style == "python":
        return repr(float(value))
    text = f"{value:.{digits}g}"
    if style == "latex" and "e" in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa} \\cdot 10^{{{int(exponent)}}}"
    return text
