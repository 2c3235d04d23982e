"""Fits models to measurements: `fit`, `fit_table` and `fit_file`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from regionpredict.api.models import Model, Models
from regionpredict.api.tables import rows_of
from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment, Series
from regionpredict.fit.input import read, without_unusable_series
from regionpredict.fit.input.variables import experiment_of
from regionpredict.fit.search.experiment_models import model_experiment


def fit(
    points: Any,
    values: Any,
    *,
    parameters: Sequence[str] | str | None = None,
    name: str = "",
    metric: str = "",
    unit: str = "",
    **options: Any,
) -> Model:
    """Fits a model to values measured at some points. `points` are `n` numbers, or `n` rows with
    one number per parameter. A dictionary of columns also names the parameters. `values` are `n`
    numbers, `n` rows of repetitions, or `n` lists of different lengths, as any sequence or array.

    `options` are those of `regionpredict.fit.fit` (`statistic`, `law`, `max_terms`, `min_points`,
    ...). Raises `InputError` if the numbers of points and values differ, or if there are too few
    points.

    >>> model = fit([2, 4, 8, 16, 32], [5.0, 7.0, 9.0, 11.0, 13.0])
    >>> str(model), round(model.predict(64), 6)
    ('3 + 2*log2(p)', 15.0)
    >>> str(fit({"n": [1, 2, 3, 4, 5]}, [2.0, 4.0, 6.0, 8.0, 10.0]))
    '2*n'
    """
    names = (parameters,) if isinstance(parameters, str) else tuple(parameters or ())
    if isinstance(points, Mapping):
        names = names or tuple(str(key) for key in points)
        points = np.column_stack([_number_array(points[key], str(key)) for key in points])
    coordinates = _point_array(points)
    if not names:
        width = len(coordinates[0]) if coordinates else 1
        names = ("p",) if width == 1 else tuple(f"x{k + 1}" for k in range(width))
    repeated = [np.atleast_1d(_number_array(row, "values")).ravel().tolist() for row in values]
    if len(coordinates) != len(repeated):
        raise InputError(
            f"{len(repeated)} values for {len(coordinates)} points",
            remedy="give one, or a list of repetitions, per point",
        )
    series = Series(name, metric, names, tuple(coordinates), tuple(repeated), unit)
    model_set = model_experiment(without_unusable_series(Experiment((series,)), ""), **options)
    if model_set.problems:
        raise model_set.problems[0]
    return Model(*model_set.models[0])


def fit_table(
    data: Any,
    *,
    values: Sequence[str] | str | None = None,
    parameters: Sequence[str] | str | None = None,
    by: Sequence[str] | str | None = None,
    **options: Any,
) -> Models:
    """The models of a table with one row per measurement, or of an array with labeled axes.

    `data` is a dictionary of columns, a list of dictionaries, a pandas DataFrame or Series, or an
    xarray DataArray or Dataset. The index of a pandas object may contain parameters. `values` are
    the measured columns (default: `value`, `time` and similar names). `parameters` are the model
    parameters (default: the numbers that vary). `by` are the columns that identify a series
    (default: the texts that vary). Rows at one point are repetitions. Other options are as in
    `fit`.

    Raises `InputError` if no data can be used. Series without a model are in `problems`.

    >>> table = {"p": [1, 2, 3, 4, 5] * 2, "kind": ["a"] * 5 + ["b"] * 5,
    ...          "time": [3, 5, 7, 9, 11, 5, 7, 9, 11, 13]}
    >>> for model in fit_table(table): print(model.name, "=", model)
    kind=a = 1 + 2*p
    kind=b = 3 + 2*p
    """
    rows = rows_of(data, _name_list(values), _name_list(by))
    experiment = experiment_of(rows, "the table", parameters=_name_list(parameters))
    return _fit_models(without_unusable_series(experiment, "the table"), options)


def fit_file(
    path: str | Path,
    *,
    parameters: Sequence[str] | str | None = None,
    values: Sequence[str] | str | None = None,
    **options: Any,
) -> Models:
    """The models of a file or folder of measurements, in any format that `regionpredict fit` reads.

    `parameters` and `values` select columns if the format has several. Other options are as in
    `fit`. Raises `InputError` like `regionpredict.fit.input.read`.
    """
    experiment = read(path, parameters=_name_list(parameters), values=_name_list(values))
    return _fit_models(experiment, {"path": str(path), **options})


def _fit_models(experiment: Experiment, options: Mapping[str, Any]) -> Models:
    model_set = model_experiment(experiment, **options)
    return Models(tuple(Model(*item) for item in model_set.models), model_set.problems)


def _name_list(value: Sequence[str] | str | None) -> Sequence[str] | None:
    return [value] if isinstance(value, str) else value


def _point_array(points: Any) -> list[tuple[float, ...]]:
    if isinstance(points, np.ndarray) and points.ndim > 2:
        raise InputError(
            f"points of {points.ndim} dimensions", remedy="give one row of numbers per point"
        )
    return [tuple(np.atleast_1d(_number_array(point, "points")).tolist()) for point in points]


def _number_array(value: Any, argument_name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{argument_name}: {str(value)[:40]!r} is not all numbers", remedy="give numbers"
        ) from None
