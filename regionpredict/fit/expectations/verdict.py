"""Compares the growth of models with expectations (Shudler 2018, sec. 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from regionpredict.fit.expectations.growth import ONE, Growth, compare, parse
from regionpredict.fit.expectations.search_spaces import space_around
from regionpredict.fit.model.fitted_model import NO_MODEL, POOR_SMAPE, FittedModel
from regionpredict.fit.model.observations import Statistic
from regionpredict.fit.model.terms import SearchSpace, growth_order
from regionpredict.fit.search.fitting import fit

Match = Literal["match", "approximate", "none"]
Better = Literal["deviation", "match"]

_LEAST_R2 = 0.9  # minimum adjusted R2 of a model whose growth is trusted


def default_deviation(expected: Growth) -> Growth:
    """Returns the default deviation limit: half the exponent of the expectation's leading class.

    A constant has the exponent 0, so its default limit allows no deviation.

    >>> default_deviation(Growth(poly=1, log2=1)).text(), default_deviation(Growth(log2=1)).text()
    ('p^(1/2)', 'log(p)^(1/2)')
    """
    if expected.exponential:
        return Growth(exponential=expected.exponential / 2)
    if expected.poly:
        return Growth(poly=expected.poly / 2)
    return Growth(log2=expected.log2 / 2)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The comparison of a growth with an expectation.

    `divergence` is the growth divided by the expectation (Shudler 2018, sec. 3.2.4). `match` is
    `match`, `approximate` (within the deviation limits) or `none`.
    """

    expected: Growth
    growth: Growth
    divergence: Growth
    deviation: Growth
    match: Match

    @property
    def passed(self) -> bool:
        """Whether the growth equals the expectation or is within the deviation limits."""
        return self.match != "none"


def judge_growth(
    expected: Growth | str,
    growth: Growth | str,
    *,
    deviation: Growth | str | None = None,
    better: Better = "deviation",
) -> Verdict:
    """Compares a growth with the expectation.

    `better` says how a growth below the expectation counts: as a `deviation` (Shudler 2018, fig.
    3.3 and tables 3.3 and 3.9), or as a `match` (table 3.7).

    >>> judge_growth("log p", "p^0.67 log p", deviation="sqrt(p)").match
    'none'
    >>> v = judge_growth("p log p", "p"); v.divergence.text(), v.match
    ('1/log(p)', 'approximate')
    """
    wanted = parse(expected)[0] if isinstance(expected, str) else expected
    fitted = parse(growth)[0] if isinstance(growth, str) else growth
    limit = parse(deviation)[0] if isinstance(deviation, str) else deviation
    if limit is None:
        limit = default_deviation(wanted)
    divergence = fitted / wanted
    side = compare(divergence, ONE)
    match: Match
    if side == 0 or (side < 0 and better == "match"):
        match = "match"
    elif compare(divergence, limit) <= 0 and compare(divergence, limit**-1) >= 0:
        match = "approximate"
    else:
        match = "none"
    return Verdict(wanted, fitted, divergence, limit, match)


def growth_of(model: FittedModel) -> Growth:
    """Returns the asymptotic growth of a model of one parameter: its leading term without the
    coefficient.
    """
    terms = [term for coefficient, m in model.terms if coefficient > 0 for term in m.values()]
    leading = max(map(growth_order, terms), default=(0.0, 0.0, 0.0))
    return max(Growth(*leading), ONE, key=lambda growth: growth.order)


def doubt_about(model: FittedModel) -> str:
    """Returns the reason why a model does not determine the growth. The result is empty if the
    model determines it.
    """
    if model.law == NO_MODEL:
        return "no formula describes the measurements"
    if model.smape > POOR_SMAPE:
        return f"the model misses the measurements by {model.smape:.0f} % (SMAPE)"
    if model.adjusted_r2 < _LEAST_R2:
        return f"the adjusted R2 of the model is {model.adjusted_r2:.2f}"
    return ""


def fit_expected(
    expected: Growth,
    points: Sequence[Sequence[float]],
    values: Sequence[Sequence[float]],
    *,
    search: Growth | None = None,
    steps: int = 2,
    statistic: Statistic = "mean",
    parameters: Sequence[str] | None = None,
    min_points: int = 5,
    space: SearchSpace | None = None,
    max_terms: int = 2,
) -> FittedModel:
    """Fits a model of one parameter in the search space around the expectation.

    `search` is another growth around which to search, and `space` replaces the search space. The
    expected term is preferred over other growths around it, and these over the default terms. If a
    constant and the expected term go through all points, no other term is tried. This model is
    selected even with an unlikely property such as a negative constant. Raises the same errors as
    `fit`.
    """
    around = space_around(search if search is not None else expected, steps=steps)
    if space is not None:
        around = space
    rarities = dict(zip(around.terms, around.rarities, strict=True))
    if not expected.is_constant():
        rarities[expected.term] = 0.0

    def fitted(space: SearchSpace, max_terms: int) -> FittedModel:
        return fit(
            points,
            values,
            parameters=parameters,
            statistic=statistic,
            space=space,
            min_points=min_points,
            max_terms=max_terms,
            segments=1,  # the expected growth holds over the whole range
        )

    if not expected.is_constant():
        alone = fitted(SearchSpace.of([expected.term]), 1)
        if alone.terms and _fits_exactly(alone):
            return alone
    return fitted(SearchSpace.of(rarities, rarities=list(rarities.values())), max_terms)


def _fits_exactly(model: FittedModel) -> bool:
    """Returns whether the formula is exact at all points, with more points than coefficients."""
    exact = replace(model.observations, dof=0.0)  # ignores the noise of the repetitions
    misfit = float(np.sum(exact.weights * (exact.y - model.formula_values(model.points)) ** 2))
    return exact.explained(misfit, len(model.terms) + 1)
