"""Loops carried out with numbers: counts and boxes that hold for these sizes, whatever they are.

A closed form speaks of all sizes, and boxes compare bounds as if sizes were large. Where the names
have values, what the loops do can be computed: a loop whose variable no bound inside uses counts
by its trips, and its ends alone matter to an affine subscript; only others are gone through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from regionpredict.ir import Expr, Loop
from regionpredict.ir.expr import Number

_MOST_STEPS = 20_000
"""Iterations that are gone through for one answer: a tenth of a second."""


class TooManyError(Exception):
    """More iterations would have to be gone through than is worth an answer."""


class _Steps(NamedTuple):
    """The values of one loop's variable: `trips` of them, from `first` by `step`."""

    first: int
    trips: int
    step: int

    @property
    def last(self) -> int:
        return self.first + (self.trips - 1) * self.step


def runs(loops: Sequence[Loop], values: Mapping[str, Number]) -> int | None:
    """How often the body of the loops (outermost first) runs; None where that is not known.

    >>> from regionpredict.ir import Span
    >>> n, i, zero, one = Expr.name("n"), Expr.name("i"), Expr.const(0), Expr.const(1)
    >>> outer = Loop("i", zero, n, "<", one, (), Span("f.c", 1))
    >>> inner = Loop("j", i + 4, Expr.const(9), "<", one, (), Span("f.c", 2))
    >>> runs((outer, inner), {"n": 1000})
    15
    """
    walked = _walked(loops, ())
    try:
        return sum(weight for weight, _ in _points(loops, walked, values, _Budget()))
    except (TooManyError, _UnknownError):
        return None


class Extent(NamedTuple):
    """The lowest and the highest value of an expression."""

    low: int
    high: int


def extents(
    subscripts: Sequence[Expr], loops: Sequence[Loop], values: Mapping[str, Number]
) -> tuple[Extent, ...] | None:
    """The extents of expressions over all iterations of the loops; none where no iteration runs.

    None where they are not known, or too many iterations would have to be gone through. A loop
    whose trips nobody knows is taken to run (`open_ended`).
    """
    used = frozenset().union(*(subscript.names for subscript in subscripts), *map(_ends_of, loops))
    loops = [loop for loop in loops if loop.variable in used or _is_known(loop, loops, values)]
    walked = _walked(loops, subscripts)
    ranges: tuple[Extent, ...] = ()
    budget = _Budget()
    ends = [loop.variable for loop, own in zip(loops, walked, strict=True) if not own]
    try:
        for _, steps in _points(loops, walked, values, budget):
            at = dict(values)
            at.update((name, step) for name, step in steps.items() if isinstance(step, int))
            met = []
            for subscript in subscripts:
                moving = [name for name in ends if name in subscript.names]
                met.append(_extent(subscript, moving, steps, at, budget))
            ranges = tuple(
                Extent(min(a.low, b.low), max(a.high, b.high))
                for a, b in zip(ranges or met, met, strict=True)
            )
    except (TooManyError, _UnknownError):
        return None
    return ranges


def extents_of_all(
    references: Sequence[Sequence[Expr]], loops: Sequence[Loop], values: Mapping[str, Number]
) -> Iterator[tuple[Extent, ...] | None]:
    """The `extents` of several references' subscripts in the same loops, one reference after the
    other; the loops are carried out once for all of them where their ends alone matter.
    """
    every = dict.fromkeys(subscript for own in references for subscript in own)
    plain = not open_ended(loops, values) and not any(_walked(loops, [*every]))
    told = extents([*every], loops, values) if plain else None
    if told is None:
        yield from (extents(own, loops, values) for own in references)
        return
    known = dict(zip(every, told, strict=False))
    for own in references:
        yield tuple(known[subscript] for subscript in own) if told else ()


def open_ended(loops: Sequence[Loop], values: Mapping[str, Number]) -> bool:
    """Whether nobody knows of one of the loops how often it runs."""
    return any(not _is_known(loop, loops, values) for loop in loops)


def _is_known(loop: Loop, around: Sequence[Loop], values: Mapping[str, Number]) -> bool:
    own = {other.variable for other in around}
    return (
        loop.trips is not None
        and _ends_of(loop) <= own | values.keys()
        and not any(
            end is not None and end.has_unreadable_part
            for end in (loop.start, loop.bound, loop.step)
        )
    )


def _ends_of(loop: Loop) -> frozenset[str]:
    ends = (end for end in (loop.start, loop.bound, loop.step) if end is not None)
    return frozenset().union(*(end.names for end in ends))


class _UnknownError(Exception):
    """A bound or a subscript has no number."""


class _Budget:
    """Counts what is gone through."""

    def __init__(self) -> None:
        self.left = _MOST_STEPS

    def spend(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooManyError


def _walked(loops: Sequence[Loop], subscripts: Sequence[Expr]) -> list[bool]:
    """Which loops are gone through: inner bounds use their variables, or no plain subscripts."""
    walked = []
    for position, loop in enumerate(loops):
        name = loop.variable
        inner = any(
            bound is None or name in bound.names
            for other in loops[position + 1 :]
            for bound in (other.start, other.bound, other.step)
        )
        again = any(other.variable == name for other in loops[position + 1 :])
        bent = any(name in s.names and s.coefficient(name) is None for s in subscripts)
        walked.append(inner or bent or again)
    return walked


def _points(
    loops: Sequence[Loop], walked: Sequence[bool], values: Mapping[str, Number], budget: _Budget
) -> Iterator[tuple[int, dict[str, int | _Steps]]]:
    """Every combination of the loops gone through that runs something, with its iterations.

    By names the value of each loop gone through, and the steps of every other.
    """

    def below(
        depth: int, at: dict[str, Number], steps: dict[str, int | _Steps], weight: int
    ) -> Iterator[tuple[int, dict[str, int | _Steps]]]:
        if depth == len(loops):
            yield weight, steps
            return
        loop = loops[depth]
        own = steps_of(loop, at)
        if _counts_rounds(loop):
            budget.spend(own.trips)
        if not own.trips:
            return
        if walked[depth] and own.trips > budget.left:
            raise TooManyError
        if not walked[depth]:
            yield from below(depth + 1, at, {**steps, loop.variable: own}, weight * own.trips)
            return
        for number in range(own.trips):
            budget.spend()
            value = own.first + number * own.step
            at[loop.variable] = value
            yield from below(depth + 1, at, {**steps, loop.variable: value}, weight)
        at.pop(loop.variable, None)

    yield from below(0, dict(values), {}, 1)


def _counts_rounds(loop: Loop) -> bool:
    """Whether a loop's iterations are known by carrying out one after the other."""
    return loop.bound is not None and any(atom.kind == "trips" for atom in loop.bound.atoms())


def steps_of(loop: Loop, values: Mapping[str, Number]) -> _Steps:
    """The values that a loop's variable takes, as C carries the loop out."""
    first, bound, step = (_whole(end, values) for end in (loop.start, loop.bound, loop.step))
    distance = bound - first
    if loop.comparison == "!=":
        if distance == 0:
            return _Steps(first, 0, step)
        if step == 0 or distance % step or (distance > 0) != (step > 0):
            raise _UnknownError
        return _Steps(first, distance // step, step)
    rising = loop.comparison in ("<", "<=")
    if loop.comparison in ("<=", ">="):
        distance += 1 if rising else -1
    if (distance <= 0) if rising else (distance >= 0):
        return _Steps(first, 0, step)
    if step == 0 or (step > 0) != rising:
        raise _UnknownError  # away from its bound: it ends where its type does
    return _Steps(first, -(-abs(distance) // abs(step)), step)


def _whole(expression: Expr | None, values: Mapping[str, Number]) -> int:
    value = expression.evaluate(values) if expression is not None else None
    if value is None or isinstance(value, Fraction):
        raise _UnknownError
    return value


def _extent(
    subscript: Expr, moving: Sequence[str], steps: Mapping[str, int | _Steps],
    at: dict[str, Number], budget: _Budget,
) -> Extent:  # fmt: skip
    """What is linear in each of some variables has its extremes where these have theirs."""
    numbers = []
    choices = []
    for name in moving:
        own = steps[name]
        choices.append((own.first, own.last) if isinstance(own, _Steps) else (own,))
    for corner in product(*choices):
        budget.spend()
        at.update(zip(moving, corner, strict=True))
        numbers.append(_whole(subscript, at))
    return Extent(min(numbers), max(numbers))
