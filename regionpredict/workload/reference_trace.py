"""Enumerates all memory references of a small loop nest in program order.

Array operations enumerate all iterations of a loop at once. Larger nests use closed forms, whose
relative error decreases with size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regionpredict.ir import Expr
from regionpredict.ir.expr import Atom, Monomial
from regionpredict.ir.folding import Number
from regionpredict.workload.constants import MOST_EVALUATIONS, MOST_REFERENCES, ROUNDING
from regionpredict.workload.loop_nest import (
    Affine,
    Curved,
    Form,
    LoopNest,
    NestLoop,
    ReferenceGroup,
)

Whole = NDArray[np.int64]
Numbers = NDArray[np.float64]
Points = dict[str, Numbers]
"""The value of each loop variable in every iteration, by variable."""


@dataclass(frozen=True, slots=True)
class ReferenceTrace:
    """All memory references of a nest in the order of a serial execution.

    Each reference has the number of its parallel `iteration`, its `array` as a position in
    `arrays`, and its `byte` from the start of the array. `written` marks stores, and `private`
    marks references to arrays that are private to a thread. `iterations` is the number of parallel
    iterations. `aligned` says for each array whether it starts on a line.
    """

    iterations: int
    arrays: tuple[str, ...]
    iteration: Whole
    array: Whole
    byte: Whole
    written: NDArray[np.bool_]
    private: NDArray[np.bool_]
    aligned: tuple[bool, ...]


def reference_trace(nest: LoopNest) -> ReferenceTrace | None:
    """Returns the trace of a nest. None if there are too many references, or if an address or a
    bound is unknown.
    """
    return _Tracer(nest).trace()


class _NotTracedError(Exception):
    """Raised if the nest has too many references or unknown bounds."""


@dataclass(frozen=True, slots=True)
class _BodyIterations:
    """All iterations of a loop body.

    `points` are the values of variables in each of `number` iterations. `around` is the outer
    iteration of each, and `length` is the number of references in each.
    """

    loop: NestLoop
    points: Points
    number: int
    around: Whole
    children: dict[int, _BodyIterations]
    length: Whole


class _Tracer:
    def __init__(self, nest: LoopNest) -> None:
        self.nest = nest
        self.left = MOST_REFERENCES.value
        self.unasked = int(MOST_EVALUATIONS.value)
        self.arrays: dict[str, int] = {}
        self.references: list[_Reference] = []

    def trace(self) -> ReferenceTrace | None:
        try:
            return self._enumerated_trace()
        except _NotTracedError:
            return None

    def _enumerated_trace(self) -> ReferenceTrace | None:
        body = self._shared_body()
        total = int(body.length.sum())
        if not total:
            return None
        self.reference = np.empty(total, dtype=np.int32)
        self.byte = np.empty(total, dtype=np.int64)
        self._store_references(body, np.cumsum(body.length) - body.length)
        array = np.array([self._array_number(reference) for reference in self.references])
        written = np.array([reference.written for reference in self.references])
        private = np.array([reference.group.private for reference in self.references])
        anywhere = {group.array for group in self.nest.groups() if not group.aligned}
        aligned = tuple(array not in anywhere for array in self.arrays)
        return ReferenceTrace(
            body.number, tuple(self.arrays), np.repeat(np.arange(body.number), body.length),
            array[self.reference], self.byte, written[self.reference], private[self.reference],
            aligned,
        )  # fmt: skip

    def _array_number(self, reference: _Reference) -> int:
        return self.arrays.setdefault(reference.group.array, len(self.arrays))

    def _shared_body(self) -> _BodyIterations:
        """Returns the body of the innermost parallel loop."""
        points: Points = {}
        number = 1
        for loop in self.nest.parallel:
            _, points, number = self._enumerated_iterations(loop, points, number)
        return self._enumerated_body(self.nest.parallel[-1], points, number, np.arange(number))

    def _enumerated_body(
        self, loop: NestLoop, points: Points, number: int, outer_points: Whole
    ) -> _BodyIterations:
        own = sum(len(group.accesses) for group in loop.groups)
        self._use_budget(own * number)
        length = np.full(number, own, dtype=np.int64)
        children = {}
        for child in loop.children:
            inside, inner_points, count = self._enumerated_iterations(child, points, number)
            body = self._enumerated_body(child, inner_points, count, inside)
            children[child.index] = body
            length += np.bincount(inside, weights=body.length, minlength=number).astype(np.int64)
        return _BodyIterations(loop, points, number, outer_points, children, length)

    def _enumerated_iterations(
        self, loop: NestLoop, points: Points, number: int
    ) -> tuple[Whole, Points, int]:
        """Enumerates all iterations of a loop: the outer iteration of each, the values of variables
        in each, and the number of iterations.
        """
        first, limit = (
            self._evaluate_form(loop.first, points, number),
            self._evaluate_form(loop.limit, points, number),
        )
        distance = (limit - first) / loop.step
        trips = np.maximum(0.0, np.ceil(distance - ROUNDING.value))
        self._use_budget(float(trips.sum()), keep=True)
        trips = trips.astype(np.int64)
        inside = np.repeat(np.arange(number), trips)
        turn = np.arange(len(inside)) - np.repeat(np.cumsum(trips) - trips, trips)
        inner_points = {name: value[inside] for name, value in points.items()}
        inner_points[loop.variable] = first[inside] + float(loop.step) * turn
        return inside, inner_points, len(inside)

    def _use_budget(self, references: float, *, keep: bool = False) -> None:
        """Subtracts references from the budget, and raises an exception if it is exceeded. `keep`
        only tests the budget.
        """
        if not references <= self.left:
            raise _NotTracedError
        if not keep:
            self.left -= references

    def _store_references(self, body: _BodyIterations, start: Whole) -> None:
        """Stores the references of a body in the trace. `start` is the position of each iteration's
        first reference.
        """
        at = start.copy()
        for part in _in_source_order(body.loop):
            if isinstance(part, int):
                inner = body.children[part]
                before = np.cumsum(inner.length) - inner.length
                length = np.bincount(
                    inner.around, weights=inner.length, minlength=body.number
                ).astype(np.int64)
                skipped = np.cumsum(length) - length
                self._store_references(inner, at[inner.around] + before - skipped[inner.around])
                at += length
                continue
            group = part.group
            address = part.exact or Affine(part.place, group.slopes)
            byte = self._evaluate_form(address, body.points, body.number)
            most = np.iinfo(np.int64).max
            if len(byte) and not -most < byte.min() <= byte.max() < most:  # NaN, or too far
                raise _NotTracedError
            self.reference[at] = len(self.references)
            self.references.append(part)
            self.byte[at] = np.floor(byte, out=byte)
            at += 1

    def _evaluate_form(self, form: Form | None, points: Points, number: int) -> Numbers:
        """Evaluates a function of loop variables in each iteration."""
        if form is None:
            raise _NotTracedError
        if isinstance(form, Affine):
            total = np.full(number, float(form.constant))
            for name, slope in form.slopes.items():
                if name in points:
                    total = total + slope * points[name]
            return total
        if isinstance(form, Curved):
            moved, rest = _split_affine_part(form)
            if moved.slopes:
                return self._evaluate_form(moved, points, number) + self._evaluate_form(
                    rest, points, number
                )
        names = sorted(form.names & points.keys())
        known: dict[tuple[float, ...], float] = {}
        array = np.empty(number)
        for at, asked in enumerate(zip(*[points[name].tolist() for name in names], strict=True)):
            value = known.get(asked)
            if value is None:
                self.unasked -= 1
                value = known[asked] = form.at(dict(zip(names, asked, strict=True)))
                if self.unasked < 0 or math.isnan(value):
                    raise _NotTracedError
            array[at] = value
        return array


def _split_affine_part(form: Curved) -> tuple[Affine, Curved]:
    """Splits a function into an affine part and a rest, so that fewer distinct values are
    evaluated. In `300 * i + j % 8`, only `j % 8` is the rest.
    """
    slopes: dict[str, float] = {}
    left: dict[Monomial, Number] = {}
    for monomial, number in form.expr.terms.items():
        factors = [factor for factor, power in monomial for _ in range(power)]
        moving = [factor for factor in factors if factor in form.names]
        value = Expr({monomial: number}).evaluate({**form.values, **dict.fromkeys(moving, 1)})
        understood = not any(isinstance(factor, Atom) for factor in factors)
        if len(moving) != 1 or not understood or not isinstance(value, int):
            left[monomial] = number
        elif isinstance(moving[0], str):
            slopes[moving[0]] = slopes.get(moving[0], 0.0) + value
    rest = Expr(left)
    return Affine(0.0, slopes), Curved(rest, form.values, rest.names & form.names)


class _Reference(NamedTuple):
    """A reference of a group: its offset in bytes, whether it is a store, and its non-affine
    address, if any.
    """

    group: ReferenceGroup
    place: float
    written: bool
    exact: Form | None


def _in_source_order(loop: NestLoop) -> Sequence[_Reference | int]:
    """Returns the contents of a loop body in source order: references, and indices of inner
    loops.
    """
    placed: list[tuple[int, _Reference | int]] = []
    for group in loop.groups:
        exact = group.exact or (None,) * len(group.order)
        for access, number, place, form in zip(
            group.accesses, group.order, group.places, exact, strict=True
        ):
            placed.append((number, _Reference(group, place, access.kind == "write", form)))
    for child in loop.children:
        numbers = [number for group in child.groups_below for number in group.order]
        if numbers:
            placed.append((min(numbers), child.index))
    return [pair for _, pair in sorted(placed, key=lambda pair: pair[0])]
