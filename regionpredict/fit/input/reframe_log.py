"""Reads ReFrame's performance logs, `perflogs/SYSTEM/PARTITION/TEST.log` with a header (ReFrame 4):
a file, or a folder of them.

A log has the runs of a test in all programming environments, one row per run.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from regionpredict.documents import read_text
from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment
from regionpredict.fit.input.variables import SCALES, Measurement, experiment_of, number_of

_LEAST = ("result", "name")  # the columns of every log
_PASSED = "pass"
_VALUE = "_value"  # suffix of a performance variable's column
_PARAMETER = re.compile(r"%([\w.]+)=(\S+)")  # parameters in the name of a test
_TASKS = ("num_tasks", "num_cpus_per_task", "num_tasks_per_node")
_PLACES = ("system", "partition", "environ")  # columns that distinguish series of one test


def is_reframe(first: str) -> bool:
    """Returns whether a file with this first line is a performance log.

    >>> is_reframe("result|job_completion_time|name|num_tasks|copy_bw_value|copy_bw_unit")
    True
    """
    columns = first.split("|")
    return set(_LEAST) <= set(columns) and any(c.endswith(_VALUE) for c in columns)


def read_reframe(path: Path, parameters: Sequence[str] | None = None) -> Experiment:
    """Reads each performance variable of each run that passed.

    Parameters are the test's parameters, which its name contains as `%n=100`, and the numbers of
    tasks if they vary. Text parameters, systems, partitions and programming environments that vary
    distinguish series. A failed run is a problem. Raises the same errors as `experiment_of`.
    """
    rows: list[Measurement] = []
    problems: list[InputError] = []
    own: dict[str, None] = {}
    files = sorted(path.rglob("*.log")) if path.is_dir() else [path]
    for file in files:
        text = read_text(file, "give a performance log").splitlines()
        if path.is_dir() and not (text and is_reframe(text[0])):
            continue
        for number, line in enumerate(csv.DictReader(text, delimiter="|"), start=2):
            name = line.get("name") or ""
            if line.get("result") != _PASSED:
                problems.append(
                    InputError(
                        f"{name or 'the run'} ended with {line.get('result')}",
                        remedy="run it again", path=str(file), line=number,
                    )
                )  # fmt: skip
                continue
            of_test = dict(_PARAMETER.findall(name))
            own |= dict.fromkeys(of_test)
            variables = {
                key: value
                for key, value in line.items()
                if isinstance(key, str) and isinstance(value, str)
            }
            for column, cell in variables.items():
                value = number_of(cell) if column.endswith(_VALUE) else None
                if value is not None:
                    rows.append(
                        Measurement(
                            name.split(" ")[0], column.removesuffix(_VALUE), variables | of_test,
                            (value,), number,
                        )
                    )  # fmt: skip
    if not rows and problems:
        raise problems[0]
    among = tuple(dict.fromkeys((*own, *_TASKS, *SCALES)))
    measured = experiment_of(
        rows, str(path), parameters=parameters, among=among, labels=(*own, *_PLACES)
    )
    return Experiment(measured.series, (*problems, *measured.problems))
