"""Reads Google Benchmark's JSON: `--benchmark_out=FILE`, schema version 1.

A benchmark's name is `function/argument/...`. An argument is a number, or `name:number`. Unnamed
numbers become `arg1`, `arg2`, ... `threads:N` is the number of threads. Aggregates (mean, stddev,
...) are ignored if the file has the individual repetitions.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment
from regionpredict.fit.input.variables import Measurement, experiment_of, number_of
from regionpredict.json_records import Record

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_TIMES = ("real_time", "cpu_time")
_SETTINGS = ("iterations", "repeats", "min_time", "min_warmup_time", "process_time", "real_time",
             "manual_time")  # fmt: skip
"""The parts of a benchmark's name that are settings of the run instead of arguments."""
_OWN = {
    "name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions",
    "repetition_index", "threads", "iterations", "time_unit", "aggregate_name", "aggregate_unit",
    "label", "error_occurred", "error_message", "big_o", "rms", *_TIMES,
}  # fmt: skip


def read_google_benchmark(data: Record, parameters: Sequence[str] | None = None) -> Experiment:
    """Reads the times of all repetitions in seconds, and the user's counters, over the arguments.

    A failed benchmark is a problem. Raises `InputError` for another schema version, and the same
    errors as `experiment_of`.
    """
    context = data.inner("context")
    version = context.value.get("json_schema_version", 1)
    if version != 1:
        raise context.error("json_schema_version", f"is {version!r}; 1 can be read")
    entries = list(data.inner_records("benchmarks"))
    single = {_run_name(entry) for entry in entries if entry.value.get("run_type") != "aggregate"}
    rows: list[Measurement] = []
    problems: list[InputError] = []
    for entry in entries:
        name = _run_name(entry)
        aggregate = entry.value.get("aggregate_name")
        if aggregate is not None and (name in single or aggregate != "mean"):
            continue
        if entry.value.get("error_occurred"):
            said = str(entry.value.get("error_message", "")) or "it gives no details"
            problems.append(
                InputError(f"{name} failed: {said}", remedy="fix it and measure again",
                           path=data.path)
            )  # fmt: skip
            continue
        if "time_unit" not in entry.value:  # the fitted complexity, not a measurement
            continue
        function, variables = _parsed_name(name)
        unit = _SECONDS.get(entry.text("time_unit"))
        if unit is None:
            raise entry.error("time_unit", f"is '{entry.value['time_unit']}'")
        rows.extend(
            Measurement(function, metric, variables, (unit * entry.number(metric),))
            for metric in _TIMES
        )
        rows.extend(
            Measurement(function, counter, variables, (float(value),))
            for counter, value in entry.value.items()
            if counter not in _OWN and type(value) in (int, float)
        )
    if not rows and problems:
        raise problems[0]
    experiment = experiment_of(rows, data.path, parameters=parameters)
    return Experiment(experiment.series, (*problems, *experiment.problems))


def _run_name(entry: Record) -> str:
    return entry.text("run_name" if "run_name" in entry.value else "name")


def _parsed_name(name: str) -> tuple[str, dict[str, float]]:
    """Returns the function and the arguments in a benchmark's name.

    >>> _parsed_name("sort<int>/1024/n:8/threads:2/real_time")
    ('sort<int>', {'arg1': 1024.0, 'n': 8.0, 'threads': 2.0})
    """
    function: list[str] = []
    variables: dict[str, float] = {}
    unnamed = 0
    for part in name.split("/"):
        label, colon, text = part.rpartition(":")
        number = number_of(text)
        if (label if colon else part) in _SETTINGS:
            continue
        if number is None:
            function.append(part)
        elif colon and not label.endswith(":"):
            variables[label] = number
        else:
            unnamed += 1
            variables[f"arg{unnamed}"] = number
    return "/".join(function), variables
