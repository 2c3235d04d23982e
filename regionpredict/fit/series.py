"""What a file of measurements holds: one `Series` for each call path and metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from regionpredict.errors import InputError
from regionpredict.fit.fitting import NEEDED_POINTS, fit_many
from regionpredict.fit.model import FittedModel, remember_quality
from regionpredict.fit.observations import Statistic
from regionpredict.fit.single import DEFAULT_CRITERION, Criterion
from regionpredict.fit.terms import SearchSpace

Coordinates = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """The repetitions of one metric of one call path.

    `points` are the parameters' values, `values` the repetitions at each, in `unit` (empty:
    unknown). `line` is where the series begins in its file, if that is known.
    """

    callpath: str
    metric: str
    parameters: tuple[str, ...]
    points: tuple[Coordinates, ...]
    values: tuple[Sequence[float], ...]
    unit: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """All series of one source; `problems` are lines that could not be used, with their place."""

    series: tuple[Series, ...]
    problems: tuple[InputError, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelSet:
    """The models of an experiment's series, and why some series have none."""

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
    law: str = "auto",
) -> ModelSet:
    """Models every series; one that cannot be modelled becomes a problem, the others go on.

    Series that share their points are modelled together. `path` is named in the problems.
    """
    problems = list(experiment.problems)
    done: dict[int, FittedModel] = {}
    groups: dict[tuple[tuple[str, ...], tuple[Coordinates, ...]], list[int]] = {}
    for index, series in enumerate(experiment.series):
        groups.setdefault((series.parameters, series.points), []).append(index)
    for (parameters, points), members in groups.items():

        def together(rows: list[int], parameters=parameters, points=points) -> list[FittedModel]:  # type: ignore[no-untyped-def]
            return fit_many(
                points,
                [experiment.series[row].values for row in rows],
                parameters=parameters,
                statistic=statistic,
                space=space,
                criterion=criterion,
                max_terms=max_terms,
                min_points=min_points,
                law=law,
            )

        try:
            done.update(zip(members, together(members), strict=True))
        except InputError:
            for row in members:
                try:
                    done[row] = together([row])[0]
                except InputError as error:
                    problems.append(_placed(error, experiment.series[row], path))
    models = tuple((experiment.series[row], done[row]) for row in sorted(done))
    remember_quality([model for _, model in models])
    return ModelSet(models, tuple(problems))


def _placed(error: InputError, series: Series, path: str) -> InputError:
    name = ", ".join(part for part in (series.callpath, series.metric) if part)
    return InputError(
        f"{name}: {error.message}" if name else error.message,
        remedy=error.remedy,
        path=path,
        line=series.line,
    )


class SeriesBuilder:
    """Collects single values into series; the order of call paths, metrics and points is kept."""

    def __init__(self, parameters: Iterable[str]) -> None:
        self.parameters = tuple(parameters)
        self._found: dict[tuple[str, str], dict[Coordinates, list[float]]] = {}
        self._line: dict[tuple[str, str], int | None] = {}

    def add(
        self,
        callpath: str,
        metric: str,
        point: Coordinates,
        values: Iterable[float],
        line: int | None = None,
    ) -> None:
        """Adds repetitions of one metric of one call path at one point."""
        key = (callpath, metric)
        points = self._found.get(key)
        if points is None:
            points = self._found[key] = {}
            self._line[key] = line
        found = points.get(point)
        if found is None:
            points[point] = list(values)
        else:
            found.extend(values)

    def series(self) -> tuple[Series, ...]:
        """Everything added so far."""
        return tuple(
            Series(
                callpath,
                metric,
                self.parameters,
                tuple(points),
                tuple(points.values()),
                line=self._line[callpath, metric],
            )
            for (callpath, metric), points in self._found.items()
        )
