"""Reads measurements in JSON from several tools. The content identifies the tool.

Extra-P's two JSON formats, JSON lines, and TALPas' JSON with semicolons are read here. Files of
benchmark tools and profilers have their own readers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from regionpredict.documents import input_errors_while_reading, read_text
from regionpredict.errors import InputError, UsageError
from regionpredict.fit.experiment import Experiment, SeriesBuilder
from regionpredict.fit.input import talp
from regionpredict.fit.input.benchpark import read_benchpark
from regionpredict.fit.input.caliper import read_caliper
from regionpredict.fit.input.google_benchmark import read_google_benchmark
from regionpredict.fit.input.hyperfine import read_hyperfine
from regionpredict.fit.input.measurements import SCHEMA, is_measurements, read_measurements
from regionpredict.fit.input.pytest_benchmark import read_pytest_benchmark
from regionpredict.fit.input.thicket import read_thicket
from regionpredict.fit.input.variables import number_of
from regionpredict.json_records import Record, json_record

_REMEDY = "compare with the format's description in the documentation"
_WHAT = "JSON of measurements"


def read_json(path: Path, parameters: Sequence[str] | None = None) -> Experiment:
    """Reads JSON in any known form. `parameters` selects the parameters if the form does not
    determine them.

    Raises `InputError` for invalid JSON, and for a missing key or a value of the wrong type.
    """
    text = read_text(path, _REMEDY)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and all(line.startswith("{") and line.endswith("}") for line in lines):
        return read_json_lines(path)
    data = json_record(text, _WHAT, path, _REMEDY)
    if str(data.value.get("schema", "")).startswith(SCHEMA):
        return read_measurements(path)
    with input_errors_while_reading(path, _WHAT, _REMEDY):
        for parts, reader in _BY_PARTS:
            if all(part in data.value for part in parts):
                return reader(data, parameters)
        if parameters:
            raise UsageError(
                "this form of JSON names its parameters itself", remedy="leave --parameter out"
            )
        return _read_legacy_form(data) if "callpaths" in data.value else _read_short_form(data)


def _read_profile(data: Record, parameters: Sequence[str] | None) -> Experiment:
    return read_caliper(Path(data.path), parameters)


_BY_PARTS: tuple[
    tuple[tuple[str, ...], Callable[[Record, Sequence[str] | None], Experiment]], ...
] = (
    (("benchmarks", "machine_info"), read_pytest_benchmark),
    (("benchmarks", "context"), read_google_benchmark),
    (("results",), read_hyperfine),
    (("columns", "nodes", "data"), _read_profile),
    ((talp.VERSION,), _read_profile),
    (("dataframe", "graph"), read_thicket),
    (("experiments",), read_benchpark),
)
"""The top-level keys that identify the files of each tool, and the tool's reader."""


def _parse_repetitions(record: Record, key: str) -> list[float]:
    """Returns the repetitions as a list of numbers. The key has one number or a list, and `null`
    becomes NaN.
    """
    value = record.part(key)
    listed = value if isinstance(value, list) else [value]
    return [math.nan if v is None else _parse_number(record, key, v) for v in listed]


def _parse_point(record: Record, key: str) -> tuple[float, ...]:
    value = record.part(key)
    listed = value if isinstance(value, list) else [value]
    return tuple(_parse_number(record, key, v) for v in listed)


def _parse_number(record: Record, key: str, value: Any) -> float:
    """Converts a value, which may be text, to a number."""
    try:
        if isinstance(value, (int, float, str)) and not isinstance(value, bool):
            return float(value)
    except (ValueError, OverflowError):
        pass
    raise record.error(key, "is not all numbers")


def _read_short_form(data: Record) -> Experiment:
    builder = SeriesBuilder(data.texts("parameters"))
    measured = data.inner("measurements")
    for callpath in measured.value:
        metrics = measured.inner(callpath)
        for metric in metrics.value:
            for place in metrics.inner_records(metric):
                builder.add(
                    callpath,
                    metric,
                    _parse_point(place, "point"),
                    _parse_repetitions(place, "values"),
                )
    return Experiment(builder.series())


def _read_legacy_form(data: Record) -> Experiment:
    parameters = _records_by_id(data, "parameters")
    builder = SeriesBuilder(parameters[number].text("name") for number in sorted(parameters))
    callpaths = {n: part.text("name") for n, part in _records_by_id(data, "callpaths").items()}
    metrics = {n: part.text("name") for n, part in _records_by_id(data, "metrics").items()}
    points = {}
    for number, part in _records_by_id(data, "coordinates").items():
        pairs = sorted(
            (_parse_id(pair, "parameter_id"), _parse_point(pair, "parameter_value"))
            for pair in part.inner_records("parameter_value_pairs")
        )
        points[number] = tuple(value for _, values in pairs for value in values)
    for measured in data.inner_records("measurements"):
        builder.add(
            _part_by_id(callpaths, measured, "callpath_id"),
            _part_by_id(metrics, measured, "metric_id"),
            _part_by_id(points, measured, "coordinate_id"),
            _parse_repetitions(measured, "value"),
        )
    return Experiment(builder.series())


def _records_by_id(data: Record, key: str) -> dict[int, Record]:
    return {_parse_id(part, "id"): part for part in data.inner_records(key)}


def _parse_id(part: Record, key: str) -> int:
    """Returns the number at a key. Some programs write it as text."""
    value = part.part(key)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    return part.whole(key)


def _part_by_id(parts: dict[int, Any], measured: Record, key: str) -> Any:
    number = _parse_id(measured, key)
    if number not in parts:
        raise measured.error(key, f"is {number}, which refers to nothing")
    return parts[number]


def read_json_lines(path: Path) -> Experiment:
    """Reads one JSON object per line: `params`, `value`, and optionally `callpath` and `metric`.

    Each invalid line becomes a problem, and the other lines are read. Files of `regionpredict
    measure` also consist of JSON lines, and are detected by the first line.
    """
    lines = read_text(path, _REMEDY).split("\n")
    if is_measurements(lines[0]):
        return read_measurements(path)
    return _read_lines(lines, str(path), "params")


def read_talpas(path: Path) -> Experiment:
    """Reads TALPas' lines: JSON objects with semicolons instead of commas."""
    lines = read_text(path, _REMEDY).split("\n")
    return _read_lines((line.replace(";", ",") for line in lines), str(path), "parameters")


def _read_lines(lines: Iterable[str], path: str, key: str) -> Experiment:
    """Reads one value, or a list of values, per line. The first line defines the parameters.

    Text values are not parameters. They become parts of the series' names.
    """
    builder: SeriesBuilder | None = None
    problems: list[InputError] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = json_record(line, _WHAT, path, "fix the line", number)
            named = entry.inner(key)
            values = _parse_repetitions(entry, "value")
            names = builder.parameters if builder is not None else _numeric_names(named)
            point = tuple(_parse_number(named, name, named.part(name)) for name in names)
            callpath, metric = (
                entry.text(part) if part in entry.value else "" for part in ("callpath", "metric")
            )
        except InputError as error:
            problems.append(error)
            continue
        labels = [f"{k}={v}" for k, v in named.value.items() if k not in names]
        builder = builder or SeriesBuilder(names)
        builder.add(" ".join(filter(None, (callpath, *labels))), metric, point, values, number)
    if builder is None:
        if problems:
            raise problems[0]
        raise InputError("no measurements found", remedy="add lines", path=path)
    return Experiment(builder.series(), tuple(problems))


def _numeric_names(named: Record) -> tuple[str, ...]:
    """Returns the names with numeric values. If there are none, returns all names, so that reading
    them raises an error.
    """
    numeric = [name for name, value in named.value.items() if number_of(value) is not None]
    return tuple(numeric or named.value)
