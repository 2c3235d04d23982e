"""Fits models with prior knowledge of the caller, such as the relevant parameters or terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.laws.thread_laws import law_of, nonnegative_least_squares
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.observations import Observations
from regionpredict.fit.model.quality import Candidate, Monomial, design_matrix
from regionpredict.fit.model.terms import FloatArray, SearchSpace, Term, growth_order
from regionpredict.fit.search import one_parameter, several_parameters
from regionpredict.fit.search.options import Options


@dataclass(frozen=True, slots=True)
class Prior:
    """Knowledge about a model before it is fitted.

    `parameters` are the indices of the parameters that may have influence, or None for all.
    `growth` has the allowed terms of some parameters. `terms` are the monomials of the model. If
    they are given, only their nonnegative coefficients and the constant are fitted. `constant` says
    whether the model has a constant.
    """

    parameters: tuple[int, ...] | None = None
    growth: Mapping[int, Sequence[Term]] = field(default_factory=dict)
    terms: tuple[Monomial, ...] = ()
    constant: bool = True


def fit_with_prior(
    points: FloatArray,
    observations: Observations,
    names: tuple[str, ...],
    prior: Prior,
    options: Options,
) -> FittedModel:
    """Fits a model that satisfies the prior. `points` has shape `(n, m)`.

    Raises `InputError` if the prior contains a parameter that the points do not have.
    """
    count = points.shape[1]
    named = {i for m in prior.terms for i in m} | set(prior.growth) | set(prior.parameters or ())
    if any(index < 0 or index >= count for index in named):
        raise InputError(
            f"the prior names parameter {max(named)}, the points have {count}",
            remedy="count parameters from 0",
        )
    if prior.terms:
        return _fit_terms(points, observations, names, prior)
    active = [
        index
        for index in range(count)
        if len(np.unique(points[:, index])) > 1
        and (prior.parameters is None or index in prior.parameters)
    ]
    spaces = {
        index: SearchSpace.of(prior.growth[index], rarities=[0.0] * len(set(prior.growth[index])))
        if index in prior.growth
        else options.space
        for index in active
    }
    if len(active) > 1:
        grid = several_parameters.Grid.of(points, tuple(active), options.space, spaces)
        terms, constant, _ = several_parameters.search(grid, observations, options.criterion)
        return FittedModel(
            constant,
            terms,
            "pmnf",
            names,
            points,
            observations,
            rivals=lambda: several_parameters.rival_models(grid, observations, options.criterion),
        )
    index = active[0] if active else 0
    if not active:
        return FittedModel(
            float((observations.weights * observations.y).sum() / observations.weights.sum()),
            [],
            "pmnf",
            names,
            points,
            observations,
        )
    compiled = spaces[index].compiled(points[:, index])
    data = one_parameter.Data(
        observations.y[None],
        observations.weights[None],
        np.array([observations.within]),
        np.array([observations.dof]),
    )
    selection = one_parameter.select_models(
        data, compiled, options.criterion, max_terms=options.max_terms
    )
    pairs = (
        (selection.first[0], selection.coefficient_first[0]),
        (selection.second[0], selection.coefficient_second[0]),
    )
    chosen = [(float(c), {index: compiled.terms[k]}) for k, c in pairs if k >= 0]
    chosen.sort(key=lambda item: growth_order(item[1][index]), reverse=True)
    monomials = tuple(m for _, m in chosen)
    return FittedModel(
        float(selection.constant[0]),
        chosen,
        law_of(chosen),
        names,
        points,
        observations,
        rivals=lambda: [Candidate(monomials, 0.0)],
    )


def _fit_terms(
    points: FloatArray, observations: Observations, names: tuple[str, ...], prior: Prior
) -> FittedModel:
    columns = design_matrix(prior.terms, points)
    if not prior.constant:
        columns[:, 0] = 0.0
    coefficients = nonnegative_least_squares(columns, observations.y, observations.weights)
    terms = [
        (float(c), dict(m)) for c, m in zip(coefficients[1:], prior.terms, strict=True) if c > 0
    ]
    monomials = tuple(m for _, m in terms)
    return FittedModel(
        float(coefficients[0]),
        terms,
        law_of(terms),
        names,
        points,
        observations,
        rivals=lambda: [Candidate(monomials, 0.0)],
    )
