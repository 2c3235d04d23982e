"""Reads pytest-benchmark's JSON: `--benchmark-json=FILE`, or a file of its storage."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.fit.experiment import Experiment
from regionpredict.fit.input.variables import Measurement, experiment_of
from regionpredict.json_records import Record


def read_pytest_benchmark(data: Record, parameters: Sequence[str] | None = None) -> Experiment:
    """Reads the time of a round in seconds, over the tests' numeric parameters.

    Files of `--benchmark-autosave` have only a mean per point, and files of `--benchmark-json` have
    each round. Tests without parameters are problems. Raises the same errors as `experiment_of`.
    """
    rows = []
    for entry in data.inner_records("benchmarks"):
        stats = entry.inner("stats")
        variables = {} if entry.value.get("params") is None else entry.inner("params").value
        extra = entry.value.get("extra_info")
        if isinstance(extra, dict):
            variables = {**extra, **variables}
        if "data" in stats.value:
            times = [float(value) for value in stats.items("data")]
        else:
            times = [stats.number("mean")]
        name = entry.text("fullname").removesuffix(f"[{entry.value.get('param')}]")
        rows.append(Measurement(name, "time", variables, times))
    return experiment_of(rows, data.path, parameters=parameters)
