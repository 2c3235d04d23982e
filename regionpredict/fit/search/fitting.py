"""`fit` and `fit_many` model measured values as functions of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.laws.thread_laws import THREAD_LAWS, fit_law, law_of
from regionpredict.fit.model.fitted_model import FittedModel, without_formula
from regionpredict.fit.model.observations import (
    Observations,
    Statistic,
    explained_rows,
    summarise_many,
    summarise_repetitions,
)
from regionpredict.fit.model.quality import Candidate, Monomial
from regionpredict.fit.model.terms import DEFAULT_SPACE, CompiledSpace, SearchSpace, growth_order
from regionpredict.fit.search import one_parameter, several_parameters
from regionpredict.fit.search.criterion import DEFAULT_CRITERION, Criterion
from regionpredict.fit.search.division import PRICE, log_likelihood_cost
from regionpredict.fit.search.exact import through_all, without_noise
from regionpredict.fit.search.more_terms import more_terms
from regionpredict.fit.search.one_parameter import BestModel, Data
from regionpredict.fit.search.options import MOST_SEGMENTS, NEEDED_POINTS, Options
from regionpredict.fit.search.outliers import without_outlier
from regionpredict.fit.search.pieces import Outlooks, is_within_noise, misfit_of_model, with_pieces
from regionpredict.fit.search.point_plans import PointPlan, Points, plan_of
from regionpredict.fit.search.prior import Prior, fit_with_prior
from regionpredict.fit.search.refined_space import REFINING, refined_columns

_DEFAULT_OPTIONS = Options()
_MOST_RIVALS = 40
_SEARCHED_TERMS = 2  # all models with up to this many terms are tried
_LEAST_EXPLAINED = 0.9  # minimum adjusted R2 of a model of measurements without noise


def _values_per_point(
    repetitions: Sequence[Sequence[float]], plan: PointPlan
) -> Sequence[Sequence[float]]:
    if plan.order is None:
        if len(repetitions) != len(plan.points):
            raise InputError(
                f"{len(repetitions)} lists of repetitions for {len(plan.points)} points",
                remedy="give one list per point",
            )
        return repetitions
    return [
        [v for index in group for v in np.atleast_1d(repetitions[index]).tolist()]
        for group in plan.order
    ]


def fit(
    points: Points,
    values: Sequence[Sequence[float]],
    *,
    parameters: Sequence[str] | None = None,
    statistic: Statistic = "mean",
    space: SearchSpace | None = None,
    criterion: Criterion = DEFAULT_CRITERION,
    max_terms: int = 2,
    min_points: int = NEEDED_POINTS,
    segments: int = MOST_SEGMENTS,
    law: str = "auto",
    prior: Prior | None = None,
) -> FittedModel:
    """Fits a scaling model to the values measured at some points.

    `points` are `n` points, each with one number per parameter (or a plain number for one
    parameter). `values` are `n` lists of repetitions in one unit. Their lengths may differ, and NaN
    repetitions are ignored. `statistic` is the summary of the repetitions. `space` and `max_terms`
    bound the search, and `segments` is the maximum number of pieces of a range (1: no pieces).
    `law` is the name of a law to fit instead (`regionpredict.fit.laws.LAWS`), or `threads` for the
    best law of run times over threads. `prior` is a model that is known before the measurements.

    Raises `InputError` for fewer than `min_points` different points, for a point without a finite
    value, and if the numbers of points and values differ.

    >>> model = fit([(2,), (4,), (8,), (16,), (32,)], [[5.0], [7.0], [9.0], [11.0], [13.0]])
    >>> str(model), round(model.predict((64,)), 6)
    ('3 + 2*log2(p)', 15.0)
    """
    usual = min_points == NEEDED_POINTS and segments == MOST_SEGMENTS
    if usual and statistic == "mean" and space is None and max_terms == 2:
        options = _DEFAULT_OPTIONS
        if criterion is not DEFAULT_CRITERION:
            options = Options(criterion=criterion)
    else:
        options = Options(
            statistic, space or DEFAULT_SPACE, criterion, max_terms, min_points, segments
        )
    names = tuple(parameters) if parameters else None
    plan = plan_of(points, names, options)
    observations = summarise_repetitions(_values_per_point(values, plan), options.statistic)
    if statistic != "mean":
        options = _with_criterion_for(options, [observations])
    if prior is not None:
        return fit_with_prior(plan.points, observations, plan.names, prior, options)
    if law not in ("auto", "pmnf"):
        if len(plan.active) > 1:
            raise InputError(
                f"the law '{law}' has one parameter, the points have {len(plan.active)}",
                remedy="fix the others",
            )
        return fit_law(law, plan.points, observations, plan.names)
    return _fit_plan(plan, observations, options)


def _with_criterion_for(options: Options, many: Sequence[Observations]) -> Options:
    """Returns the options with the search criterion adapted to the summary and the number of
    repetitions.
    """
    repetitions = round(float(np.median([observations.repetitions for observations in many])))
    criterion = options.criterion.for_summaries(options.statistic, repetitions)
    return replace(options, criterion=criterion)


def _fit_plan(plan: PointPlan, observations: Observations, options: Options) -> FittedModel:
    if plan.grid is not None:
        model, done = _fit_grid(plan, observations, options)
        return model if done else _final_model(model, plan, options)
    compiled = plan.single
    assert compiled is not None
    o = observations
    exact = _exact_model(plan, o, options)
    if exact is not None:
        return exact
    selected = one_parameter.select_one(o, compiled, options.criterion, max_terms=options.max_terms)
    outlooks = Outlooks(plan.active, options)
    model = _model_from_terms(
        plan, o, outlooks, selected.constant, _coefficients_and_terms(selected)
    )
    settled = selected.settled and (selected.first >= 0 or not without_noise(o))
    return model if settled else _final_model(model, plan, options)


def _exact_model(
    plan: PointPlan, observations: Observations, options: Options
) -> FittedModel | None:
    """Returns the model that goes through all points of measurements without noise. The result is
    None if the measurements have noise, or if no term fits.
    """
    compiled = plan.single
    if compiled is None or not plan.active or not without_noise(observations):
        return None
    outlooks = Outlooks(plan.active, options)
    spaces = [compiled]
    if options.space == DEFAULT_SPACE:  # a search space from the user is not refined
        spaces.append(refined_columns(compiled, plan.points[:, plan.active[0]]))
    for space in spaces:
        one = through_all(observations, space)
        if one is not None:
            return _model_from_terms(
                plan, observations, outlooks, one.constant, _coefficients_and_terms(one), space
            )
    return None


def _coefficients_and_terms(best: BestModel) -> tuple[tuple[float, int], ...]:
    """Returns each coefficient with the index of its term in the search space."""
    return ((best.coefficient, best.first), (best.coefficient_second, best.second))


def _fit_grid(
    plan: PointPlan, observations: Observations, options: Options
) -> tuple[FittedModel, bool]:
    """Returns the model of several parameters, and whether the search for a better model can
    stop.
    """
    grid = plan.grid
    assert grid is not None
    match = several_parameters.search(grid, observations, options.criterion)
    model = FittedModel.of_search(
        constant=match.constant,
        terms=match.terms,
        law="pmnf",
        parameters=plan.names,
        points=plan.points,
        observations=observations,
        rivals=lambda: several_parameters.rival_models(grid, observations, options.criterion),
        forecaster=Outlooks(plan.active, options),
    )
    return model, match.settled


def _final_model(model: FittedModel, plan: PointPlan, options: Options) -> FittedModel:
    """Returns the model if it explains all points, otherwise an improved model.

    Improved models omit an outlier, have finer exponents, or have pieces. If none is better than
    the mean of the points, the result has no formula.
    """
    if not plan.active:
        return model
    if not is_within_noise(model):
        model = _improved_model(model, plan, options)
    return model if _is_better_than_mean(model) else without_formula(model)


def _is_better_than_mean(model: FittedModel) -> bool:
    """Returns whether the formula explains the points better than their mean.

    For points without noise, the adjusted R2 must be at least 0.9.
    """
    exact = model.observations.dof > 0 and without_noise(model.observations)
    if not (model.terms or model.pieces):
        return not exact or is_within_noise(model)
    return not model.adjusted_r2 < (_LEAST_EXPLAINED if exact else 0.0)


def _improved_model(model: FittedModel, plan: PointPlan, options: Options) -> FittedModel:
    """Returns the model, or a better model without an outlier, with more terms, with finer
    exponents, or with pieces.
    """

    def refit(observations: Observations) -> FittedModel:
        if plan.grid is not None:
            return _fit_grid(plan, observations, options)[0]
        compiled = plan.single
        assert compiled is not None
        selection = one_parameter.select_models(
            _search_data([observations]), compiled, options.criterion, max_terms=1
        )
        return _model_from_terms(
            plan, observations, Outlooks(plan.active, options), *_selected_terms(selection, 0)
        )

    model = without_outlier(model, plan.active, refit)
    if plan.grid is not None or is_within_noise(model):
        return model
    if options.max_terms > _SEARCHED_TERMS:
        model = _with_more_terms(model, plan, options)
    if options.space != DEFAULT_SPACE:  # a search space from the user is not refined
        return with_pieces(model, plan.active[0], options)
    model = _with_finer_exponents(model, plan, options)
    return with_pieces(model, plan.active[0], options)


def _with_more_terms(model: FittedModel, plan: PointPlan, options: Options) -> FittedModel:
    """Returns a model with three or more terms if it is better, otherwise the given model."""
    compiled = plan.single
    assert compiled is not None
    observations = model.observations
    longer = more_terms(observations, compiled, options.criterion, options.max_terms)
    if longer is None:
        return model
    other = _model_from_terms(plan, observations, Outlooks(plan.active, options), *longer)
    return replace(other, notes=model.notes)


def _with_finer_exponents(model: FittedModel, plan: PointPlan, options: Options) -> FittedModel:
    """Returns a model with a refined exponent if it explains the points clearly better, otherwise
    the given model.
    """
    compiled = plan.single
    assert compiled is not None
    observations = model.observations
    fine = refined_columns(compiled, plan.points[:, plan.active[0]])
    one = one_parameter.select_one(observations, fine, REFINING, max_terms=1)
    if one.first < 0:
        return model
    other = _model_from_terms(
        plan,
        observations,
        Outlooks(plan.active, options),
        one.constant,
        _coefficients_and_terms(one),
        fine,
    )
    floor = options.criterion.noise_floor
    gain = log_likelihood_cost(
        misfit_of_model(model), observations, floor, 2.0 * len(model.terms)
    ) - log_likelihood_cost(misfit_of_model(other), observations, floor, 2.0)
    return replace(other, notes=model.notes) if gain > PRICE else model


def _search_data(observations: Sequence[Observations]) -> Data:
    if len(observations) == 1:
        o = observations[0]
        return Data(o.y[None], o.weights[None], np.array([o.within]), np.array([o.dof]))
    return Data(
        np.array([o.y for o in observations]),
        np.array([o.weights for o in observations]),
        np.array([o.within for o in observations]),
        np.array([o.dof for o in observations]),
    )


def _selected_terms(
    selection: one_parameter.Selection, row: int
) -> tuple[float, tuple[tuple[float, int], ...]]:
    """Returns the constant of a selected model, and each coefficient with the index of its term in
    the search space.
    """
    return float(selection.constant[row]), (
        (float(selection.coefficient_first[row]), int(selection.first[row])),
        (float(selection.coefficient_second[row]), int(selection.second[row])),
    )


def _model_from_terms(
    plan: PointPlan,
    observations: Observations,
    outlooks: Outlooks,
    constant: float,
    coefficients_and_terms: tuple[tuple[float, int], ...],
    space: CompiledSpace | None = None,
) -> FittedModel:
    """Creates the model from pairs of a coefficient and a term's index in the search space. An
    index of -1 means no term.
    """
    compiled = space or plan.single
    assert compiled is not None
    index = plan.active[0] if plan.active else 0
    terms: list[tuple[float, Monomial]] = [
        (coefficient, {index: compiled.terms[k]})
        for coefficient, k in coefficients_and_terms
        if k >= 0
    ]
    if len(terms) > 1:
        terms.sort(key=lambda item: growth_order(item[1][index]), reverse=True)
    return FittedModel.of_search(
        constant=constant,
        terms=terms,
        law=law_of(terms),
        parameters=plan.names,
        points=plan.points,
        observations=observations,
        rivals=partial(_rival_models, plan, observations, outlooks.options),
        forecaster=outlooks if plan.active else None,
    )


def _rival_models(plan: PointPlan, observations: Observations, options: Options) -> list[Candidate]:
    """Returns the models of one parameter that the search considered, the best first."""
    compiled = plan.single
    assert compiled is not None
    index = plan.active[0] if plan.active else 0
    ranked = one_parameter.ranked_models(
        _search_data([observations]), compiled, options.criterion, max_terms=options.max_terms
    )
    return [
        Candidate(tuple({index: compiled.terms[k]} for k in (a, b) if k >= 0), float(score))
        for a, b, score in zip(
            ranked.first[:_MOST_RIVALS].tolist(),
            ranked.second[:_MOST_RIVALS].tolist(),
            ranked.score[:_MOST_RIVALS].tolist(),
            strict=True,
        )
    ]


def fit_many(
    points: Points,
    many: Sequence[Sequence[Sequence[float]]],
    *,
    parameters: Sequence[str] | None = None,
    statistic: Statistic = "mean",
    space: SearchSpace | None = None,
    criterion: Criterion = DEFAULT_CRITERION,
    max_terms: int = 2,
    min_points: int = NEEDED_POINTS,
    segments: int = MOST_SEGMENTS,
    law: str = "auto",
) -> list[FittedModel]:
    """Fits models to many call paths measured at the same points, faster than calls of `fit`.

    Each entry of `many` is the argument `values` of `fit` for one call path. With 30 or more call
    paths, the frequency of each term determines its prior. Therefore, a model may differ from the
    result of `fit`. Raises the same errors as `fit`.
    """
    options = Options(statistic, space or DEFAULT_SPACE, criterion, max_terms, min_points, segments)
    plan = plan_of(points, tuple(parameters) if parameters else None, options)
    series = summarise_many(
        [_values_per_point(repetitions, plan) for repetitions in many], statistic
    )
    if series and statistic != "mean":
        options = _with_criterion_for(options, series)
    if law not in ("auto", "pmnf"):
        return [fit_law(law, plan.points, observations, plan.names) for observations in series]
    if plan.single is None:
        return [_fit_plan(plan, observations, options) for observations in series]
    models: list[FittedModel] = []
    outlooks = Outlooks(plan.active, options)
    for start in range(0, len(series), 512):
        block = series[start : start + 512]
        data = _search_data(block)
        selection = one_parameter.select_models(
            data, plan.single, options.criterion, max_terms=max_terms, learn=True
        )
        done = _explained_rows(data, selection, plan.single)
        columns = (column.tolist() for column in selection[:-1])
        for observations, explains, a, b, constant, first, second in zip(
            block, done, *columns, strict=True
        ):
            model = _exact_model(plan, observations, options)
            if model is None:
                model = _model_from_terms(
                    plan, observations, outlooks, constant, ((first, a), (second, b))
                )
                model = model if explains else _final_model(model, plan, options)
            models.append(model)
    return models


def _explained_rows(
    data: Data, selection: one_parameter.Selection, space: CompiledSpace
) -> list[bool]:
    """Returns for each call path whether the selected model explains its observations
    (`Observations.explained`).
    """
    modelled = np.tile(selection.constant[:, None], data.y.shape[1])
    for index, coefficient in (
        (selection.first, selection.coefficient_first),
        (selection.second, selection.coefficient_second),
    ):
        rows = np.flatnonzero(index >= 0)
        modelled[rows] += coefficient[rows, None] * space.columns[index[rows]]
    misfit = (data.weights * (data.y - modelled) ** 2).sum(1)
    used = 1 + (selection.first >= 0) + (selection.second >= 0)
    done = explained_rows(data.weights, data.within, data.dof, misfit, used)
    left = ((data.y - modelled) ** 2).sum(1) / np.maximum(modelled.shape[1] - used, 1)
    mean = data.y.mean(1, keepdims=True)
    done &= (used == 1) | (left * (modelled.shape[1] - 1) < ((data.y - mean) ** 2).sum(1))
    return [bool(explains) for explains in done.tolist()]


__all__ = ["THREAD_LAWS", "Options", "fit", "fit_many"]
