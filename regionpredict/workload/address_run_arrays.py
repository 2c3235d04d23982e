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
    """Runs of bytes as two arrays: first bytes, and bytes after the last bytes."""

    begins: Numbers
    ends: Numbers

    @property
    def number(self) -> int:
        """The number of runs."""
        return len(self.begins)

    def in_steps(self, stride: float, number: int) -> ManyRuns:
        """Returns `number` copies of each run, `stride` bytes from each other."""
        return self.repeated(in_steps(stride, number))

    def repeated(self, distances: Sequence[float] | Numbers) -> ManyRuns:
        """Returns a copy of each run at each of these distances in bytes."""
        moves = np.array(distances, dtype=np.float64)[:, None]
        return ManyRuns((self.begins + moves).ravel(), (self.ends + moves).ravel())

    def merged(self, gap: float) -> ManyRuns:
        """Returns the sorted runs. Runs with fewer than `gap` bytes between them are merged."""
        order = np.argsort(self.begins)
        begins, ends = self.begins[order], np.maximum.accumulate(self.ends[order])
        begin = np.append(True, begins[1:] - ends[:-1] >= gap)
        end = np.append(begin[1:], True)
        return ManyRuns(begins[begin], ends[end])

    def first(self) -> tuple[float, float]:
        """Returns the first of the sorted runs."""
        return float(self.begins[0]), float(self.ends[0])

    @property
    def whole(self) -> bool:
        """Whether all addresses are integers."""
        return all(bool((places == np.floor(places)).all()) for places in (self.begins, self.ends))

    def as_bytes(self) -> tuple[bytes, bytes]:
        """Returns the addresses as byte strings, for use as a cache key."""
        return self.begins.tobytes(), self.ends.tobytes()

    def one_by_one(self) -> list[tuple[float, float]]:
        """Returns the runs as a list."""
        return list(zip(self.begins.tolist(), self.ends.tolist(), strict=True))

    def as_many(self) -> ManyRuns:
        """Returns the runs as NumPy arrays."""
        return self

    def lines(self, element: float, line_bytes: float) -> float:
        """Returns the mean number of lines that the runs touch if the offset of the array within a
        line is unknown.
        """
        merged = self.merged(line_bytes - element)
        each = 1.0 + (merged.ends - merged.begins - element) / line_bytes
        return float(sum(each.tolist()))

    def aligned_lines(self, line_bytes: float) -> float:
        """Returns the number of lines that the runs touch if the array starts on a line."""
        order = np.argsort(self.begins)
        first = self.begins[order] // line_bytes
        beyond = np.maximum.accumulate(-(-self.ends[order] // line_bytes))
        first[1:] = np.maximum(first[1:], beyond[:-1])
        return float(np.maximum(beyond - first, 0.0).sum())


def in_steps(step: float, number: int) -> Numbers:
    """Returns the first `number` multiples of `step`, starting at zero."""
    return np.arange(number, dtype=np.float64) * step


def many_runs(runs: Sequence[tuple[float, float]]) -> ManyRuns:
    """Converts a list of runs to NumPy arrays."""
    both = np.array(runs, dtype=np.float64).reshape(-1, 2)
    return ManyRuns(both[:, 0], both[:, 1])


def concatenated_arrays(parts: Sequence[ManyRuns]) -> ManyRuns:
    """Returns all runs of all `parts`."""
    return ManyRuns(
        np.concatenate([part.begins for part in parts]),
        np.concatenate([part.ends for part in parts]),
    )


def sorted_distinct_runs(
    parts: Sequence[ManyRuns], more: Collection[tuple[float, float]]
) -> ManyRuns:
    """Returns all runs of `parts` and `more`, sorted and without duplicates."""
    runs = concatenated_arrays([*parts, many_runs(list(more))])
    order = np.lexsort((runs.ends, runs.begins))
    begins, ends = runs.begins[order], runs.ends[order]
    first = np.append(True, (begins[1:] != begins[:-1]) | (ends[1:] != ends[:-1]))[: len(begins)]
    return ManyRuns(begins[first], ends[first])


class InnerRuns(NamedTuple):
    """The address runs of an inner loop in all outer iterations, with the number of enumerated
    steps and the omitted fractions of iterations.
    """

    runs: ManyRuns
    steps: int
    fractions: frozenset[float]


def inner_runs(
    loop: LoopHeader, slope: float, env: Env, variable: str,
    outer_values: Sequence[float] | Numbers,
    address: float, outer_slope: float, *, element: float, line_bytes: float, round_up: bool,
) -> InnerRuns | None:  # fmt: skip
    """Returns the address runs of an inner loop for all values of the outer `variable`.

    The reference is at `address + outer_slope * value`. `round_up` rounds fractions of an iteration
    up. Returns None if the bounds are not affine functions with plain coefficients.
    """
    values = np.array(outer_values, dtype=np.float64)
    first, limit = (
        _evaluated_at(loop.first, env, variable, values),
        _evaluated_at(loop.limit, env, variable, values),
    )
    if first is None or limit is None:
        return None
    distance = (limit - first) / loop.step
    trips = np.where(distance > 0, distance if abs(loop.step) == 1 else -(-distance // 1), 0.0)
    number = np.floor(trips + ROUNDING.value)
    more = trips - number
    less = (trips > 0) & (trips < 1.0)
    parted = ~less & (more > ROUNDING.value)
    number = np.where(less, 1.0, number + (parted if round_up else 0.0))
    run = number > 0
    first, number = first[run], number[run]
    addresses = address + outer_slope * values[run]
    fractions = frozenset(more[parted].tolist())
    stride = slope * loop.step
    if abs(stride) <= line_bytes:
        array = addresses + slope * first
        other = array + stride * (number - 1)
        runs = ManyRuns(np.minimum(array, other), np.maximum(array, other) + element)
        return InnerRuns(runs, len(number), fractions)
    steps = int(number.sum())
    if steps > MOST_RUNS.value:
        return InnerRuns(many_runs(()), steps, fractions)
    trip_counts = number.astype(np.int64)
    iteration = np.arange(steps) - np.repeat(np.cumsum(trip_counts) - trip_counts, trip_counts)
    values = (
        np.repeat(first, trip_counts) + float(loop.step) * iteration
    )  # the step may be above 2^63
    begins = np.repeat(addresses, trip_counts) + slope * values
    return InnerRuns(ManyRuns(begins, begins + element), steps, fractions)


def _evaluated_at(form: object, env: Env, variable: str, values: Numbers) -> Numbers | None:
    """Evaluates an affine form at all values of a variable. Returns None if the form is not affine
    or if a coefficient has an expression.
    """
    if not isinstance(form, Affine) or type(form.constant) not in (float, int):
        return None
    total = np.full(len(values), float(form.constant))
    for name, slope in form.slopes.items():
        value = values if name == variable else env.get(name, 0.0)
        if type(slope) not in (float, int) or type(value) not in (float, int, np.ndarray):
            return None
        total = total + slope * value
    return total
