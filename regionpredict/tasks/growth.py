"""Computes the growth of task and chunk times with the number of threads, by source line.

On one thread, there is no contention. The additional time of the same tasks on several threads is
due to contention (Shudler 2018, sec. 4.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regionpredict.tasks.metrics import line_totals
from regionpredict.tasks.task_graph import TaskGraph


@dataclass(frozen=True, slots=True)
class LineGrowth:
    """The work of the tasks or chunks of one source line in seconds, on one thread (`alone_s`) and
    on several threads (`together_s`).

    `count` is the number of tasks or chunks on one thread. It is None if the number on several
    threads differs, since loops are divided differently.
    """

    place: str
    kind: str
    count: int | None
    alone_s: float
    together_s: float

    @property
    def factor(self) -> float | None:
        """The ratio of the times on several threads and on one thread. None if the time on one
        thread is zero.
        """
        return self.together_s / self.alone_s if self.alone_s > 0 else None


def line_growth(serial_graph: TaskGraph, parallel_graph: TaskGraph) -> tuple[LineGrowth, ...]:
    """Returns the growth of all lines that are in both graphs, sorted by additional seconds."""
    none = np.empty(0, dtype=np.int64)
    before = {(total.place, total.kind): total for total in line_totals(serial_graph, none)}
    rows = []
    for total in line_totals(parallel_graph, none):
        first = before.get((total.place, total.kind))
        if first is not None and total.kind != "implicit":
            count = first.count if first.count == total.count else None
            rows.append(LineGrowth(total.place, total.kind, count, first.work_s, total.work_s))
    return tuple(sorted(rows, key=lambda row: row.alone_s - row.together_s))
