"""Decides which variables of runs are parameters, and which identify series.

Profilers and benchmark tools write variables of the run with each value: sizes, numbers of threads,
names of kernels. A number that varies is a parameter. A text that varies becomes a part of the
series' name. Constant variables are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment, Series, SeriesBuilder

SCALES = (
    "p", "n", "ranks", "n_ranks", "mpi.world.size", "mpi_world_size", "jobsize", "num_ranks",
    "numprocs", "nprocs", "processes", "n_threads", "threads", "num_threads", "omp.num.threads",
    "omp_num_threads", "n_threads_per_proc", "n_nodes", "nodes", "numhosts", "num_nodes", "gpus",
    "n_gpus", "problem_size", "problemsize", "ProblemSize", "size", "n_elements", "elements",
)  # fmt: skip
"""The names of variables that are known sizes of a run. A profile has many other variables that
vary between runs, such as its date.
"""


class Measurement(NamedTuple):
    """The repetitions of one metric of one call path in a run. `variables` describe the run.

    A variable is a number or a text. A text that contains a number counts as a number. `line` is
    the line of the measurement in the file, if known.
    """

    callpath: str
    metric: str
    variables: Mapping[str, object]
    values: Sequence[float]
    line: int | None = None


def experiment_of(
    rows: Sequence[Measurement],
    path: str,
    *,
    parameters: Sequence[str] | None = None,
    among: Sequence[str] | None = None,
    labels: Sequence[str] = (),
) -> Experiment:
    """Groups measurements to series.

    `parameters` selects the variables that are parameters. By default, these are the numbers that
    vary. With `among`, parameters are the names in `among` that vary between runs, without
    redundant ones. Varying texts in `labels` become parts of the series' names. Without `among`,
    each call path has separate parameters, and all varying texts become parts of names. A call path
    without parameters or with missing values is a problem. Raises `InputError` if nothing is
    usable.
    """
    if not rows:
        raise InputError("no measurements found", remedy="measure first", path=path)
    known = list(dict.fromkeys(name for row in rows for name in row.variables))
    missing = [name for name in parameters or () if name not in known]
    if missing:
        raise InputError(
            f"there is no variable '{missing[0]}'", path=path,
            remedy=f"the variables are {', '.join(known[:40]) or 'none'}",
        )  # fmt: skip
    if among is not None:
        names = list(parameters) if parameters else _varying_sizes(rows, known, path, among)
        return _series_with_parameters(rows, names, _identifying_texts(rows, labels, names), path)
    by_callpath: dict[str, list[Measurement]] = {}
    for row in rows:
        by_callpath.setdefault(row.callpath, []).append(row)
    series: list[Series] = []
    problems: list[InputError] = []
    for callpath, own in by_callpath.items():
        names = list(parameters) if parameters else _varying_numbers(own, known)
        if not names:
            problems.append(
                InputError(
                    f"{callpath}: no number changes from run to run", path=path,
                    remedy="measure with several sizes or numbers of threads", line=own[0].line,
                )
            )  # fmt: skip
            continue
        part = _series_with_parameters(own, names, _identifying_texts(own, known, names), path)
        series.extend(part.series)
        problems.extend(part.problems)
    if not series:
        raise problems[0]
    return Experiment(tuple(series), tuple(problems))


def _series_with_parameters(
    rows: Sequence[Measurement], names: Sequence[str], labels: Sequence[str], path: str
) -> Experiment:
    """Groups rows to series with the parameters `names`. `labels` become parts of the series'
    names.
    """
    builder = SeriesBuilder(names)
    problems: dict[str, InputError] = {}
    for row in rows:
        numbers = [number_of(row.variables.get(name)) for name in names]
        if None in numbers:
            problems.setdefault(
                row.callpath,
                InputError(
                    f"{row.callpath}: no number for '{names[numbers.index(None)]}'", path=path,
                    remedy="name other parameters with --parameter", line=row.line,
                ),
            )  # fmt: skip
            continue
        point = tuple(number for number in numbers if number is not None)
        shown = [f"{name}={row.variables[name]}" for name in labels if name in row.variables]
        callpath = " ".join(filter(None, (row.callpath, *shown)))
        builder.add(callpath, row.metric, point, row.values, row.line)
    return Experiment(builder.series(), tuple(problems.values()))


def number_of(value: object) -> float | None:
    """Returns the numeric value of a variable, or None for a text without a number.

    >>> number_of("64"), number_of(8), number_of("mpi"), number_of(True)
    (64.0, 8.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _numeric_column(rows: Sequence[Measurement], name: str) -> list[float | None]:
    return [number_of(row.variables.get(name)) for row in rows]


def _varying_numbers(rows: Sequence[Measurement], known: Sequence[str]) -> list[str]:
    """Returns the variables that are numbers in all rows and vary between rows."""
    columns = {name: _numeric_column(rows, name) for name in known}
    return [name for name, column in columns.items() if None not in column and len(set(column)) > 1]


def _varying_sizes(
    rows: Sequence[Measurement], known: Sequence[str], path: str, among: Sequence[str]
) -> list[str]:
    """Returns the names in `among` that vary between rows, without redundant names."""
    numeric = _varying_numbers(rows, known)
    chosen: list[str] = []
    for name in (variable for variable in among if variable in numeric):
        if not any(
            _are_redundant(_numeric_column(rows, name), _numeric_column(rows, other))
            for other in chosen
        ):
            chosen.append(name)
    if chosen:
        return chosen
    if numeric:
        remedy = f"name it with --parameter: {', '.join(numeric[:20])} change"
    else:
        remedy = "give runs with several sizes or numbers of threads"
    raise InputError("no known parameter changes from run to run", remedy=remedy, path=path)


def _are_redundant(first: Sequence[object], second: Sequence[object]) -> bool:
    """Returns whether the values of two variables correspond one to one."""
    pairs = set(zip(first, second, strict=True))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def _identifying_texts(
    rows: Sequence[Measurement], known: Sequence[str], parameters: Sequence[str]
) -> list[str]:
    """Returns the text variables that vary between rows and do not merely name the point."""
    labels = []
    for name in known:
        values = [row.variables.get(name) for row in rows]
        if name in parameters or len({str(value) for value in values}) < 2:
            continue
        if all(value is None or number_of(value) is not None for value in values):
            continue
        points: dict[tuple[str, str, str], set[tuple[object, ...]]] = {}
        for row in rows:
            key = (row.callpath, row.metric, str(row.variables.get(name)))
            points.setdefault(key, set()).add(
                tuple(row.variables.get(parameter) for parameter in parameters)
            )
        if any(len(seen) > 1 for seen in points.values()):
            labels.append(name)
    return labels
