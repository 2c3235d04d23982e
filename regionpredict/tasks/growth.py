"""How the times of tasks and chunks grow with threads: contention, line by line.

On one thread nobody contends; what the same tasks take longer on several is the contention that
they meet (Shudler 2018, sec. 4.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regionpredict.tasks.metrics import line_totals
from regionpredict.tasks.task_graph import TaskGraph


@dataclass(frozen=True, slots=True)
class LineGrowth:
    """The work of one line's tasks or chunks, in seconds, `alone` and `together`.

    `count` is how many ran alone; None where another number ran together (chunks are dealt anew).
    """

    place: str
    kind: str
    count: int | None
    alone_s: float
    together_s: float

    @property
    def factor(self) -> float | None:
        """How many times as long they took; None where alone they took no time."""
        return self.together_s / self.alone_s if self.alone_s > 0 else None


def line_growth(alone: TaskGraph, together: TaskGraph) -> tuple[LineGrowth, ...]:
    """For lines that both graphs have, those first whose work grew most in seconds."""
    none = np.empty(0, dtype=np.int64)
    before = {(total.place, total.kind): total for total in line_totals(alone, none)}
    rows = []
    for total in line_totals(together, none):
        first = before.get((total.place, total.kind))
        if first is not None and total.kind != "implicit":
            count = first.count if first.count == total.count else None
            rows.append(LineGrowth(total.place, total.kind, count, first.work_s, total.work_s))
    return tuple(sorted(rows, key=lambda row: row.alone_s - row.together_s))
