"""Selects the reader for a file of measurements."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path

from regionpredict.documents import check_regular, input_errors_while_reading, read_text
from regionpredict.errors import InputError, UsageError
from regionpredict.file_presence import path_exists
from regionpredict.fit.experiment import Experiment, Series
from regionpredict.fit.input.caliper import OWN, read_caliper
from regionpredict.fit.input.csv_table import read_csv
from regionpredict.fit.input.cube_profiles import read_cube
from regionpredict.fit.input.extrap_archive import is_archive, read_extrap_archive
from regionpredict.fit.input.extrap_text import read_extrap_text
from regionpredict.fit.input.json_forms import read_json, read_json_lines, read_talpas
from regionpredict.fit.input.likwid_csv import is_likwid, read_likwid
from regionpredict.fit.input.measurements import read_measurements
from regionpredict.fit.input.reframe_log import is_reframe, read_reframe
from regionpredict.fit.input.tau_profiles import FILES as TAU_FILES
from regionpredict.fit.input.tau_profiles import read_tau

FORMATS: dict[str, Callable[[Path], Experiment]] = {
    "text": read_extrap_text,
    "extra-p": read_extrap_archive,
    "json": read_json,
    "jsonl": read_json_lines,
    "measurements": read_measurements,
    "talpas": read_talpas,
    "cube": read_cube,
    "caliper": read_caliper,
    "likwid": read_likwid,
    "reframe": read_reframe,
    "tau": read_tau,
    "csv": read_csv,
}
"""The readers by the name of their format."""
_WITH_PARAMETERS: dict[str, Callable[[Path, Sequence[str] | None], Experiment]] = {
    "json": read_json,
    "caliper": read_caliper,
    "likwid": read_likwid,
    "reframe": read_reframe,
}
"""The formats in which the caller can select parameters."""

MOST_PARAMETERS = 8
MOST_POINTS = 5000
"""The maximum number of points of a series. The search needs memory for pairs of about fifty terms
at each point.
"""
LARGEST = 1e60
"""The largest absolute value of measurements and parameters. The smallest nonzero value is its
reciprocal. Its fourth power must be a finite double.
"""
_RANGE = f"between {1 / LARGEST:g} and {LARGEST:g}"
MOST_PROBLEMS = 50


def read(
    path: str | Path,
    format_name: str | None = None,
    *,
    parameters: Sequence[str] | None = None,
    values: Sequence[str] | None = None,
) -> Experiment:
    """Reads measurements. Without `format_name`, the file name and the first characters determine
    the format.

    `parameters` are the columns or variables that are parameters, and `values` the measured columns
    of a table. Raises `InputError` for a file that is missing, unreadable, empty, or in an unknown
    format. Raises `UsageError` for names that the format does not use.
    """
    source = Path(path)
    if not path_exists(source):
        raise InputError("no such file or folder", remedy="check the name", path=str(path))
    if format_name is not None and format_name not in FORMATS:
        raise InputError(
            f"unknown format '{format_name}'", remedy=f"use one of {', '.join(FORMATS)}"
        )
    with input_errors_while_reading(
        path, "measurements that can be read", "docs/fit.md names the formats"
    ):
        form = format_name or _detected_format(source)
        if form == "csv":
            experiment = read_csv(source, parameters=parameters, values=values)
        elif values:
            raise UsageError(f"--value has no meaning for {form}", remedy="leave it out")
        elif not parameters:
            experiment = FORMATS[form](source)
        elif form in _WITH_PARAMETERS:
            experiment = _WITH_PARAMETERS[form](source, parameters)
        else:
            raise UsageError(
                f"--parameter has no meaning for {form}, which names its parameters itself",
                remedy="leave it out",
            )
        return without_unusable_series(experiment, str(path))


def without_unusable_series(experiment: Experiment, path: str) -> Experiment:
    """Removes series that cannot be modeled from an experiment. Each removed series becomes a
    problem.
    """
    problems = list(experiment.problems[:MOST_PROBLEMS])
    left_out = len(experiment.problems) - len(problems)
    kept = []
    for series in experiment.series:
        message = _reason_not_modelled(series)
        if message is None:
            kept.append(series)
        elif len(problems) < MOST_PROBLEMS:
            name = ", ".join(part for part in (series.callpath, series.metric) if part)
            problems.append(
                InputError(
                    f"{name}: {message}" if name else message,
                    remedy="give every point one number for each parameter, none below zero",
                    path=path, line=series.line,
                )
            )  # fmt: skip
        else:
            left_out += 1
    if left_out:
        problems.append(InputError(f"{left_out} more problems like these", path=path))
    if not kept and problems:
        raise problems[0]
    return replace(experiment, series=tuple(kept), problems=tuple(problems))


def _reason_not_modelled(series: Series) -> str | None:
    names = series.parameters
    if not 0 < len(names) <= MOST_PARAMETERS:
        return f"{len(names)} parameters, 1 to {MOST_PARAMETERS} can be modelled"
    if len(set(names)) < len(names):
        return "two parameters with the same name"
    if len(series.points) > MOST_POINTS:
        return f"{len(series.points)} points, at most {MOST_POINTS} can be modelled"
    for point in series.points:
        if len(point) != len(names):
            return f"a point of {len(point)} numbers for {len(names)} parameters"
        if not all(map(_is_usable, point)):
            return f"a parameter's value is not 0 or {_RANGE}"
        below = [(name, v) for name, v in zip(names, point, strict=True) if v < 0]
        if below:
            return f"{below[0][0]} = {below[0][1]:g} is below zero, where roots have no value"
    if not all(isnan(value) or _is_usable(value) for values in series.values for value in values):
        return f"a measured value is not 0 or {_RANGE}"
    return None


def _is_usable(value: float) -> bool:
    return value == 0 or 1 / LARGEST <= abs(value) <= LARGEST


_FOLDERS = {
    "*.cubex": "cube",
    TAU_FILES: "tau",
    f"*.{OWN}": "caliper",
    "*.json": "caliper",
    "*.csv": "likwid",
    "*.log": "reframe",
}
"""The format of a folder by the files it contains, in order of precedence."""


def _detected_format(source: Path) -> str:
    if source.is_dir():
        for pattern, form in _FOLDERS.items():
            if next(source.rglob(pattern), None) is not None:
                return form
        return "cube"
    suffix = source.suffix.lower()
    check_regular(source, "give a file or a folder")
    if suffix == f".{OWN}":
        return "caliper"
    if is_archive(source):
        return "extra-p"
    if suffix == ".jsonl":
        return "jsonl"
    text = read_text(source, "give measurements, not a program")
    lines = (line.strip() for line in io.StringIO(text) if line.strip())
    first, second = next(lines, ""), next(lines, "")
    if is_likwid(first):
        return "likwid"
    if is_reframe(first):
        return "reframe"
    if suffix in (".csv", ".tsv"):
        return "csv"
    if first.startswith("{"):
        if '"parameters"' in first and ";" in first and first.endswith("}"):
            return "talpas"
        if first.endswith("}") and second.startswith("{"):
            return "talpas" if '"parameters"' in first else "jsonl"
        return "json"
    if not first:
        raise InputError(
            "the file is empty", remedy="give a file with measurements", path=str(source)
        )
    head = first.split()[0]
    keywords = ("PARAMETER", "POINTS", "METRIC", "REGION", "DATA", "EXPERIMENT")
    if head.startswith("#") or head in keywords:
        return "text"
    return "csv" if "," in first else "text"
