"""Runs of neighbouring bytes of an array: repeated, joined and counted in lines.

Few of them are lists, many are arrays; both make the same sums, run by run, so that no digit hangs
on how many they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.workload.constants import FEW_RUNS

Run = tuple[float, float]
"""Bytes of an array that are touched one behind the other: the first, and one past the last."""
Bytes = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FewRuns:
    """Runs gone through one by one. `plain`: their places are numbers and no more than that, so
    that they may become arrays.
    """

    runs: Sequence[Run]
    plain: bool

    @property
    def number(self) -> int:
        """How many they are."""
        return len(self.runs)

    def repeated(self, places: Sequence[float]) -> FewRuns | ManyRuns:
        """Each run at each of these distances."""
        if self.plain and len(self.runs) * len(places) > FEW_RUNS.value:
            return self.as_many().repeated(places)
        moved = [(begin + place, end + place) for begin, end in self.runs for place in places]
        return FewRuns(moved, self.plain)

    def joined(self, near: float) -> FewRuns:
        """The runs in order, those joined between which there are less than `near` bytes."""
        return FewRuns(joined(self.runs, near), self.plain)

    def first(self) -> Run:
        """The first run, where they are in order."""
        return self.runs[0]

    def as_many(self) -> ManyRuns:
        """The runs as arrays."""
        both = np.array(self.runs, dtype=np.float64).reshape(-1, 2)
        return ManyRuns(both[:, 0], both[:, 1])

    def lines(self, element: float, line_bytes: float) -> float:
        """Lines that the runs of elements touch, at an unknown position within a line."""
        return lines_of_runs(self.runs, element, line_bytes)

    def aligned_lines(self, line_bytes: float) -> float:
        """Lines that the runs touch where the array begins with a line."""
        return aligned_lines(self.runs, line_bytes)


@dataclass(frozen=True, slots=True)
class ManyRuns:
    """Runs as arrays: their first bytes, and one past their last."""

    begins: Bytes
    ends: Bytes

    @property
    def number(self) -> int:
        """How many they are."""
        return len(self.begins)

    def repeated(self, places: Sequence[float]) -> ManyRuns:
        """Each run at each of these distances."""
        along = np.array(places, dtype=np.float64)[:, None]
        return ManyRuns((self.begins + along).ravel(), (self.ends + along).ravel())

    def joined(self, near: float) -> FewRuns | ManyRuns:
        """The runs in order, those joined between which there are less than `near` bytes."""
        order = np.argsort(self.begins)
        begins, ends = self.begins[order], np.maximum.accumulate(self.ends[order])
        begin = np.append(True, begins[1:] - ends[:-1] >= near)
        end = np.append(begin[1:], True)
        whole = ManyRuns(begins[begin], ends[end])
        return whole.as_few() if whole.number <= FEW_RUNS.value else whole

    def first(self) -> Run:
        """The first run, where they are in order."""
        return float(self.begins[0]), float(self.ends[0])

    def as_few(self) -> FewRuns:
        """The runs one by one."""
        return FewRuns(list(zip(self.begins.tolist(), self.ends.tolist(), strict=True)), plain=True)

    def as_many(self) -> ManyRuns:
        """The runs as arrays."""
        return self

    def lines(self, element: float, line_bytes: float) -> float:
        """Lines that the runs of elements touch, at an unknown position within a line."""
        whole = self.joined(line_bytes - element).as_many()
        each = 1.0 + (whole.ends - whole.begins - element) / line_bytes
        return float(sum(each.tolist()))

    def aligned_lines(self, line_bytes: float) -> float:
        """Lines that the runs touch where the array begins with a line."""
        order = np.argsort(self.begins)
        first = self.begins[order] // line_bytes
        beyond = np.maximum.accumulate(-(-self.ends[order] // line_bytes))
        first[1:] = np.maximum(first[1:], beyond[:-1])
        return float(np.maximum(beyond - first, 0.0).sum())


Runs = FewRuns | ManyRuns


def together(parts: Sequence[Runs]) -> Runs:
    """All runs of all parts."""
    few = [part for part in parts if isinstance(part, FewRuns)]
    if len(few) == len(parts):
        runs = [run for part in few for run in part.runs]
        return FewRuns(runs, all(part.plain for part in few))
    many = [part.as_many() for part in parts]
    return ManyRuns(
        np.concatenate([part.begins for part in many]),
        np.concatenate([part.ends for part in many]),
    )


def aligned_lines(runs: Iterable[Run], line_bytes: float) -> float:
    """Lines that runs of elements touch where the array begins with a line.

    >>> aligned_lines([(0.0, 8.0), (56.0, 72.0), (4800.0, 4808.0)], 64.0)
    3.0
    """
    lines = 0.0
    last = -math.inf
    for begin, end in sorted(runs):
        first, beyond = begin // line_bytes, -(-end // line_bytes)
        lines += max(0.0, beyond - max(first, last))
        last = max(last, beyond)
    return lines


def lines_of_runs(runs: Iterable[Run], element: float, line_bytes: float) -> float:
    """Lines that runs of elements touch, at an unknown position within a line.

    >>> lines_of_runs([(0.0, 8.0), (8.0, 72.0), (4800.0, 4808.0)], 8.0, 64.0)
    3.0
    """
    whole = joined(runs, line_bytes - element)
    return sum(1.0 + (end - begin - element) / line_bytes for begin, end in whole)


def joined(runs: Iterable[Run], near: float) -> list[Run]:
    """The runs in order, those joined between which no line fits: less than `near` bytes.

    >>> joined([(64.0, 72.0), (0.0, 16.0), (200.0, 208.0)], 56.0)
    [(0.0, 72.0), (200.0, 208.0)]
    """
    whole: list[Run] = []
    for first, last in sorted(runs):
        if whole and first - whole[-1][1] < near:
            begin, end = whole[-1]
            whole[-1] = (begin, max(end, last))
        else:
            whole.append((first, last))
    return whole
