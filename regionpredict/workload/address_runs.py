"""Runs of contiguous bytes of an array, with operations to repeat them, to merge them, and to count
their cache lines.

A few runs are stored as a list, and many runs as NumPy arrays (`address_run_arrays.py`). Both forms
add the same numbers in the same order, so results do not depend on the form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from regionpredict.workload.constants import FEW_RUNS
from regionpredict.workload.derived_number import lines_of_run

if TYPE_CHECKING:
    from regionpredict.workload.address_run_arrays import ManyRuns

Run = tuple[float, float]
"""A contiguous range of bytes in an array: the first byte, and the byte after the last."""


@dataclass(frozen=True, slots=True)
class FewRuns:
    """Runs stored as a list. `plain` says that all addresses are floats without expressions, so
    that the runs can be converted to arrays.
    """

    runs: Sequence[Run]
    plain: bool

    @property
    def number(self) -> int:
        """The number of runs."""
        return len(self.runs)

    def repeated(self, places: Sequence[float]) -> FewRuns | ManyRuns:
        """Returns copies of each run, moved by each of the byte distances in `places`."""
        if self.plain and len(self.runs) * len(places) > FEW_RUNS.value:
            return self.as_many().repeated(places)
        if len(places) == 1 and type(places[0]) is float and not places[0]:
            return self
        moved = [(begin + place, end + place) for begin, end in self.runs for place in places]
        return FewRuns(moved, self.plain)

    def in_steps(self, stride: float, number: int) -> FewRuns | ManyRuns:
        """Returns `number` copies of each run, `stride` bytes from each other."""
        if self.plain and len(self.runs) * number > FEW_RUNS.value:
            return self.as_many().in_steps(stride, number)
        return self.repeated([turn * stride for turn in range(number)])

    def merged(self, gap: float) -> FewRuns:
        """Returns the sorted runs. Runs with fewer than `gap` bytes between them are merged."""
        return FewRuns(merge_runs(self.runs, gap), self.plain)

    def first(self) -> Run:
        """Returns the first of the sorted runs."""
        return self.runs[0]

    def as_many(self) -> ManyRuns:
        """Returns the runs as NumPy arrays."""
        # Imported on demand, since most nests have too few runs for arrays.
        from regionpredict.workload.address_run_arrays import many_runs  # noqa: PLC0415

        return many_runs(self.runs)

    def lines(self, element: float, line_bytes: float) -> float:
        """Returns the mean number of lines that the runs touch if the offset of the array within a
        line is unknown.
        """
        return lines_of_runs(self.runs, element, line_bytes)

    def aligned_lines(self, line_bytes: float) -> float:
        """Returns the number of lines that the runs touch if the array starts on a line."""
        return aligned_lines(self.runs, line_bytes)


Runs: TypeAlias = "FewRuns | ManyRuns"
"""Runs of an array, stored as a list or as arrays."""


def merged_runs(runs: Runs, gap: float) -> Runs:
    """Merges runs like `merge_runs`. Returns a list for few runs, and arrays for many runs."""
    whole = runs.merged(gap)
    if isinstance(whole, FewRuns) or whole.number > FEW_RUNS.value:
        return whole
    return FewRuns(whole.one_by_one(), plain=True)


def concatenated_runs(parts: Sequence[Runs]) -> Runs:
    """Returns all runs of all `parts`."""
    few = [part for part in parts if isinstance(part, FewRuns)]
    if len(few) == len(parts):
        runs = [run for part in few for run in part.runs]
        return FewRuns(runs, all(part.plain for part in few))
    from regionpredict.workload.address_run_arrays import concatenated_arrays  # noqa: PLC0415

    return concatenated_arrays([part.as_many() for part in parts])


def aligned_lines(runs: Iterable[Run], line_bytes: float) -> float:
    """Returns the number of lines that the runs touch if the array starts on a line.

    >>> aligned_lines([(0.0, 8.0), (56.0, 72.0), (4800.0, 4808.0)], 64.0)
    3.0
    """
    lines = 0.0
    last = -math.inf
    for begin, end in sorted_runs(runs):
        first, beyond = begin // line_bytes, -(-end // line_bytes)
        lines += max(0.0, beyond - max(first, last))
        last = max(last, beyond)
    return lines


def lines_of_runs(runs: Iterable[Run], element: float, line_bytes: float) -> float:
    """Returns the mean number of lines that the runs touch if the offset of the array within a line
    is unknown.

    >>> lines_of_runs([(0.0, 8.0), (8.0, 72.0), (4800.0, 4808.0)], 8.0, 64.0)
    3.0
    """
    whole = merge_runs(runs, line_bytes - element)
    return sum([lines_of_run(begin, end, element, line_bytes) for begin, end in whole])


def merge_runs(runs: Iterable[Run], gap: float) -> list[Run]:
    """Returns the sorted runs. Runs with fewer than `gap` bytes between them are merged.

    >>> merge_runs([(64.0, 72.0), (0.0, 16.0), (200.0, 208.0)], 56.0)
    [(0.0, 72.0), (200.0, 208.0)]
    """
    whole: list[Run] = []
    for first, last in sorted_runs(runs):
        if whole and float(first) - float(whole[-1][1]) < gap:
            begin, end = whole[-1]
            whole[-1] = (begin, max(end, last))
        else:
            whole.append((first, last))
    return whole


def sorted_runs(runs: Iterable[Run]) -> list[Run]:
    """Returns the runs sorted by address.

    Runs with equal first bytes are also compared by their expressions. This slow comparison is
    skipped if no two runs start at the same address.
    """
    listed = list(runs)
    if listed and type(listed[0][0]) is not float:
        by_begin = {float(run[0]): run for run in listed}
        if len(by_begin) == len(listed):
            return [by_begin[begin] for begin in sorted(by_begin)]
    return sorted(listed)
