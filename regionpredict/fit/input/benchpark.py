"""Reads results of Ramble and Benchpark: `ramble workspace analyze --formats json`.

Each experiment has variables, and figures of merit in contexts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment
from regionpredict.fit.input.variables import SCALES, Measurement, experiment_of, number_of
from regionpredict.json_records import Record

_KEYS = ("n_nodes", "processes_per_node", "n_ranks", "n_threads")


def read_benchpark(data: Record, parameters: Sequence[str] | None = None) -> Experiment:
    """All numeric figures of merit. Parameters are found in the variables, as for Caliper.

    Repeats of an experiment are its repetitions. A failed experiment is a problem. Raises like
    `experiment_of`.
    """
    rows: list[Measurement] = []
    problems: list[InputError] = []
    for experiment in data.inner_records("experiments"):
        name = experiment.text("name")
        status = experiment.value.get("RAMBLE_STATUS", "SUCCESS")
        if status != "SUCCESS":
            problems.append(
                InputError(f"{name} ended with {status}", remedy="run it again", path=data.path)
            )
            continue
        variables: Mapping[str, object] = {
            **{key: experiment.value[key] for key in _KEYS if key in experiment.value},
            **experiment.inner("RAMBLE_VARIABLES").value,
        }
        workload = ".".join(
            str(experiment.value[key])
            for key in ("application_name", "workload_name")
            if key in experiment.value
        )
        for context in experiment.inner_records("CONTEXTS"):
            where = context.text("name")
            for figure in context.inner_records("foms"):
                value = number_of(figure.part("value"))
                if value is None or str(figure.value.get("origin_type", "")).startswith("summary"):
                    continue
                callpath = workload if where in ("null", "") else f"{workload}->{where}"
                rows.append(Measurement(callpath, figure.text("name"), variables, (value,)))
    if not rows and problems:
        raise problems[0]
    measured = experiment_of(rows, data.path, parameters=parameters, among=SCALES)
    return Experiment(measured.series, (*problems, *measured.problems))
