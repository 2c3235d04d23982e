"""Extra-P's two JSON forms, JSON lines, and TALPas' JSON with semicolons."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment, SeriesBuilder
from regionpredict.fit.input.measurements import (
    SCHEMA,
    is_measurements,
    read_measurements,
)


def read_json(path: Path) -> Experiment:
    """Reads both JSON forms of Extra-P: the short one and the legacy one with numbered parts.

    Raises `InputError` for text that is no JSON and for a missing part.
    """
    text = path.read_text(encoding="utf-8")
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines):
            return read_json_lines(path)
        raise InputError(
            f"this is not JSON: {error.msg}",
            remedy="mend the file",
            path=str(path),
            line=error.lineno,
            column=error.colno,
        ) from error
    try:
        if not isinstance(data, dict):
            raise InputError("the file holds no object", remedy="begin it with {", path=str(path))
        if str(data.get("schema", "")).startswith(SCHEMA):
            return read_measurements(path)
        return _read_legacy(data) if "callpaths" in data else _read_short(data)
    except KeyError as error:
        raise InputError(f"the part {error} is missing", remedy="add it", path=str(path)) from error
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(
            f"a part has the wrong form: {error}",
            remedy="compare with the format's description in the documentation",
            path=str(path),
        ) from error


def _numbers(values: Any) -> list[float]:
    """Repetitions as numbers; `null` is a missing one."""
    listed = values if isinstance(values, list) else [values]
    return [float("nan") if v is None else float(v) for v in listed]


def _point(values: Any) -> tuple[float, ...]:
    return tuple(float(v) for v in (values if isinstance(values, list) else [values]))


def _read_short(data: dict[str, Any]) -> Experiment:
    builder = SeriesBuilder(data["parameters"])
    for callpath, metrics in data["measurements"].items():
        for metric, measurements in metrics.items():
            for one in measurements:
                builder.add(callpath, metric, _point(one["point"]), _numbers(one["values"]))
    return Experiment(builder.series())


def _read_legacy(data: dict[str, Any]) -> Experiment:
    parameters = sorted(data["parameters"], key=lambda part: int(part["id"]))
    builder = SeriesBuilder(part["name"] for part in parameters)
    callpaths = {int(part["id"]): str(part["name"]) for part in data["callpaths"]}
    metrics = {int(part["id"]): str(part["name"]) for part in data["metrics"]}
    points = {}
    for part in data["coordinates"]:
        pairs = sorted(part["parameter_value_pairs"], key=lambda pair: int(pair["parameter_id"]))
        points[int(part["id"])] = tuple(float(pair["parameter_value"]) for pair in pairs)
    for one in data["measurements"]:
        builder.add(
            callpaths[int(one["callpath_id"])],
            metrics[int(one["metric_id"])],
            points[int(one["coordinate_id"])],
            _numbers(one["value"]),
        )
    return Experiment(builder.series())


def read_json_lines(path: Path) -> Experiment:
    """Reads one JSON object a line: `params`, `value`, and perhaps `callpath` and `metric`.

    A line that does not fit becomes a problem; the others are read. Files that `regionpredict
    measure` wrote are lines of JSON too, and are known by their first.
    """
    with path.open(encoding="utf-8") as stream:
        if is_measurements(stream.readline()):
            return read_measurements(path)
        stream.seek(0)
        return _read_lines(stream, str(path), "params")


def read_talpas(path: Path) -> Experiment:
    """Reads TALPas' lines, JSON objects whose commas are semicolons."""
    with path.open(encoding="utf-8") as stream:
        return _read_lines((line.replace(";", ",") for line in stream), str(path), "parameters")


def _read_lines(lines: Iterable[str], path: str, key: str) -> Experiment:
    builder: SeriesBuilder | None = None
    problems: list[InputError] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            one = json.loads(line)
            named = one[key]
            if builder is None:
                builder = SeriesBuilder(named)
            point = tuple(float(named[name]) for name in builder.parameters)
            values = _numbers(one["value"])
        except json.JSONDecodeError as error:
            problems.append(
                InputError(
                    f"this is not JSON: {error.msg}",
                    remedy="mend the line",
                    path=path,
                    line=number,
                    column=error.colno,
                )
            )
            continue
        except KeyError as error:
            problems.append(
                InputError(f"{error} is missing", remedy="add it", path=path, line=number)
            )
            continue
        except (TypeError, ValueError, AttributeError) as error:
            problems.append(
                InputError(
                    f"a value has the wrong form: {error}",
                    remedy="write numbers",
                    path=path,
                    line=number,
                )
            )
            continue
        builder.add(str(one.get("callpath", "")), str(one.get("metric", "")), point, values, number)
    if builder is None:
        if problems:
            raise problems[0]
        raise InputError("no measurements found", remedy="add lines", path=path)
    return Experiment(builder.series(), tuple(problems))
