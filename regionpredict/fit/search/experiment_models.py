"""Models all series of an experiment as a `ModelSet`."""

from __future__ import annotations

from dataclasses import dataclass, field

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Coordinates, Experiment, Series
from regionpredict.fit.model.fitted_model import FittedModel, remember_quality
from regionpredict.fit.model.observations import Statistic
from regionpredict.fit.model.terms import SearchSpace
from regionpredict.fit.search.criterion import DEFAULT_CRITERION, Criterion
from regionpredict.fit.search.fitting import fit_many
from regionpredict.fit.search.options import MOST_SEGMENTS, NEEDED_POINTS


@dataclass(frozen=True, slots=True)
class ModelSet:
    """The models of an experiment's series. `problems` are the reasons for series without a
    model.
    """

    models: tuple[tuple[Series, FittedModel], ...]
    problems: tuple[InputError, ...] = field(default=())


def model_experiment(
    experiment: Experiment,
    *,
    path: str = "",
    statistic: Statistic = "mean",
    space: SearchSpace | None = None,
    criterion: Criterion = DEFAULT_CRITERION,
    max_terms: int = 2,
    min_points: int = NEEDED_POINTS,
    segments: int = MOST_SEGMENTS,
    law: str = "auto",
) -> ModelSet:
    """Fits a model to each series. A series that cannot be modeled becomes a problem.

    Series with the same points are modeled together. `path` is shown in problems.
    """
    failed: dict[tuple[str, str], list[Series]] = {}
    done: dict[int, FittedModel] = {}
    groups: dict[tuple[tuple[str, ...], tuple[Coordinates, ...]], list[int]] = {}
    for index, series in enumerate(experiment.series):
        groups.setdefault((series.parameters, series.points), []).append(index)
    for (parameters, points), members in groups.items():

        def fit_rows(rows: list[int], parameters=parameters, points=points) -> list[FittedModel]:  # type: ignore[no-untyped-def]
            return fit_many(
                points,
                [experiment.series[row].values for row in rows],
                parameters=parameters,
                statistic=statistic,
                space=space,
                criterion=criterion,
                max_terms=max_terms,
                min_points=min_points,
                segments=segments,
                law=law,
            )

        try:
            done.update(zip(members, fit_rows(members), strict=True))
        except InputError:
            for row in members:
                try:
                    done[row] = fit_rows([row])[0]
                except InputError as error:
                    failed.setdefault((error.message, error.remedy), []).append(
                        experiment.series[row]
                    )
    models = tuple((experiment.series[row], done[row]) for row in sorted(done))
    remember_quality([model for _, model in models])
    problems = [_common_problem(*why, series, path) for why, series in failed.items()]
    return ModelSet(models, (*experiment.problems, *problems))


def _common_problem(message: str, remedy: str, failed: list[Series], path: str) -> InputError:
    """Returns one problem for all series that failed for the same reason, at the line of the first
    series.
    """
    name = ", ".join(part for part in (failed[0].callpath, failed[0].metric) if part)
    if len(failed) > 1:
        name = f"{name or 'the first'} and {len(failed) - 1} other series"
    return InputError(
        f"{name}: {message}" if name else message, remedy=remedy, path=path, line=failed[0].line
    )
