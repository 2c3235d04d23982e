"""Stores many runs of contiguous bytes as arrays."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regionpredict.workload.constants import MOST_RUNS, ROUNDING
from regionpredict.workload.loop_nest import Affine, Env, LoopHeader

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ManyRuns:
    """Runs of bytes as arrays of their first bytes and of the bytes after their ends."""

    begins: Numbers
    ends: Numbers

    @property
    def number(self) -> int:
        """The number of runs."""
        return len(self.begins)

    def in_steps(self, stride: float, number: int) -> ManyRuns:
        """Copies of each run at a distance of `stride` bytes."""
        return self.repeated(in_steps(stride, number))

    def repeated(self, distances: Sequence[float] | Numbers) -> ManyRuns:
        """A copy of each run at each of these distances."""
        along = np.array(distances, dtype=np.float64)[:, None]
        return ManyRuns((self.begins + along).ravel(), (self.ends + along).ravel())

    def joined(self, near: float) -> ManyRuns:
        """The sorted runs. Runs with fewer than `near` bytes between them are merged."""
        order = np.argsort(self.begins)
        begins, ends = self.begins[order], np.maximum.accumulate(self.ends[order])
        begin = np.append(True, begins[1:] - ends[:-1] >= near)
        end = np.append(begin[1:], True)
        return ManyRuns(begins[begin], ends[end])

    def first(self) -> tuple[float, float]:
        """The first of the sorted runs."""
        return float(self.begins[0]), float(self.ends[0])

    @property
    def whole(self) -> bool:
        """Whether all positions are whole numbers."""
        return all(bool((places == np.floor(places)).all()) for places in (self.begins, self.ends))

    def as_bytes(self) -> tuple[bytes, bytes]:
        """The positions as bytes, for use as a key."""
        return self.begins.tobytes(), self.ends.tobytes()

    def one_by_one(self) -> list[tuple[float, float]]:
        """The runs as a list."""
        return list(zip(self.begins.tolist(), self.ends.tolist(), strict=True))

    def as_many(self) -> ManyRuns:
        """The runs stored as arrays."""
        return self

    def lines(self, element: float, line_bytes: float) -> float:
        """The number of lines that the runs of elements touch, at an unknown position within a
        line.
        """
        whole = self.joined(line_bytes - element)
        each = 1.0 + (whole.ends - whole.begins - element) / line_bytes
        return float(sum(each.tolist()))

    def aligned_lines(self, line_bytes: float) -> float:
        """The number of lines that the runs touch if the array starts on a line."""
        order = np.argsort(self.begins)
        first = self.begins[order] // line_bytes
        beyond = np.maximum.accumulate(-(-self.ends[order] // line_bytes))
        first[1:] = np.maximum(first[1:], beyond[:-1])
        return float(np.maximum(beyond - first, 0.0).sum())


def in_steps(step: float, number: int) -> Numbers:
    """The first multiples of a step, starting at zero."""
    return np.arange(number, dtype=np.float64) * step


def many_runs(runs: Sequence[tuple[float, float]]) -> ManyRuns:
    """Runs stored as arrays."""
    both = np.array(runs, dtype=np.float64).reshape(-1, 2)
    return ManyRuns(both[:, 0], both[:, 1])


def all_of(parts: Sequence[ManyRuns]) -> ManyRuns:
    """All runs of all parts."""
    return ManyRuns(
        np.concatenate([part.begins for part in parts]),
        np.concatenate([part.ends for part in parts]),
    )


def in_order_once(parts: Sequence[ManyRuns], more: Collection[tuple[float, float]]) -> ManyRuns:
    """All runs of the parts and of `more`, sorted, without duplicates."""
    runs = all_of([*parts, many_runs(list(more))])
    order = np.lexsort((runs.ends, runs.begins))
    begins, ends = runs.begins[order], runs.ends[order]
    first = np.append(True, (begins[1:] != begins[:-1]) | (ends[1:] != ends[:-1]))[: len(begins)]
    return ManyRuns(begins[first], ends[first])


class Inner(NamedTuple):
    """The accesses of a loop in each outer iteration: its runs, the number of steps to enumerate
    them, and the omitted fractions of iterations.
    """

    runs: ManyRuns
    steps: int
    fractions: frozenset[float]


def inner_runs(
    loop: LoopHeader, slope: float, env: Env, variable: str, around: Sequence[float] | Numbers,
    address: float, along: float, *, element: float, line_bytes: float, up: bool,
) -> Inner | None:  # fmt: skip
    """The runs of an inner loop. The outer loop has each of these values of its `variable`. Each
    value moves the reference by `along` bytes from `address`. None if the bounds are not simple
    affine functions of the variable.

    `up` says that a fraction of an iteration is rounded up.
    """
    values = np.array(around, dtype=np.float64)
    first, limit = _at(loop.first, env, variable, values), _at(loop.limit, env, variable, values)
    if first is None or limit is None:
        return None
    distance = (limit - first) / loop.step
    trips = np.where(distance > 0, distance if abs(loop.step) == 1 else -(-distance // 1), 0.0)
    number = np.floor(trips + ROUNDING.value)
    more = trips - number
    less = (trips > 0) & (trips < 1.0)
    parted = ~less & (more > ROUNDING.value)
    number = np.where(less, 1.0, number + (parted if up else 0.0))
    run = number > 0
    first, number = first[run], number[run]
    addresses = address + along * values[run]
    fractions = frozenset(more[parted].tolist())
    stride = slope * loop.step
    if abs(stride) <= line_bytes:
        array = addresses + slope * first
        other = array + stride * (number - 1)
        runs = ManyRuns(np.minimum(array, other), np.maximum(array, other) + element)
        return Inner(runs, len(number), fractions)
    steps = int(number.sum())
    if steps > MOST_RUNS.value:
        return Inner(many_runs(()), steps, fractions)
    whole = number.astype(np.int64)
    iteration = np.arange(steps) - np.repeat(np.cumsum(whole) - whole, whole)
    values = np.repeat(first, whole) + float(loop.step) * iteration  # the step may be above 2^63
    begins = np.repeat(addresses, whole) + slope * values
    return Inner(ManyRuns(begins, begins + element), steps, fractions)


def _at(form: object, env: Env, variable: str, values: Numbers) -> Numbers | None:
    """The affine form at all values of a variable. None if it is not affine or if a coefficient has
    an expression.
    """
    if not isinstance(form, Affine) or type(form.constant) not in (float, int):
        return None
    total = np.full(len(values), float(form.constant))
    for name, slope in form.slopes.items():
        around = values if name == variable else env.get(name, 0.0)
        if type(slope) not in (float, int) or type(around) not in (float, int, np.ndarray):
            return None
        total = total + slope * around
    return total
