"""Reads StarPU's `tasks.rec`, which has a record per task with dependences and times in
milliseconds.
"""

from __future__ import annotations

import re

from regionpredict.errors import InputError
from regionpredict.tasks.named_graph import named_graph
from regionpredict.tasks.task_graph import TaskGraph

_FIELD = re.compile(r"([A-Za-z]+):[ \t]*(.*)")
_REMEDY = "give the tasks.rec that starpu_fxt_tool writes"


def is_starpu_records(text: str) -> bool:
    """Returns whether a text contains StarPU's records of tasks."""
    return bool(re.search(r"^JobId:", text[:65536], re.MULTILINE))


def starpu_graph(text: str, path: str) -> TaskGraph:
    """Converts the records to a task graph. A task that did not run, for example without a kernel,
    takes no time.

    Raises InputError with the invalid line.
    """
    times: dict[str, float | None] = {}
    labels: dict[str, str] = {}
    edges: list[tuple[str, str]] = []
    record: dict[str, str] = {}
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if not line.strip():
            _add_task(record, times, labels, edges, path, number)
            record = {}
        elif line[0] not in "#%+":
            field = _FIELD.match(line)
            if field is None:
                raise InputError(
                    f"not StarPU's records: '{line[:20]}' is not a field", remedy=_REMEDY,
                    path=path, line=number,
                )  # fmt: skip
            record.setdefault(field[1], field[2].strip())
    known = [(source, target) for source, target in edges if source in times]
    return named_graph(times, known, labels, path, _REMEDY)


def _add_task(
    record: dict[str, str], times: dict[str, float | None], labels: dict[str, str],
    edges: list[tuple[str, str]], path: str, line: int,
) -> None:  # fmt: skip
    job = record.get("JobId")
    if job is None:
        return
    try:
        begin, end = (float(record.get(key, 0)) for key in ("StartTime", "EndTime"))
    except ValueError:
        raise InputError(
            f"not StarPU's records: task {job} has a time that is not a number", remedy=_REMEDY,
            path=path, line=line,
        ) from None  # fmt: skip
    times[job] = max(end - begin, 0.0) / 1e3
    labels[job] = record.get("Name") or record.get("Model") or ""
    edges += [(before, job) for before in record.get("DependsOn", "").split()]
