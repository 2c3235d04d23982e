"""Evaluates recurrences: values that each iteration of a loop computes from the values of earlier
iterations.

A recurrence consists of a condition and states. Each state has an atom, a first value and a next
value. For `for (j = 1; j < n; j *= 2)`, the condition is (j < n), and the state is (j, 1, 2*j).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Protocol

from regionpredict.ir.compiled_expr import Polynomial, compiled_count

Number = int | Fraction
States = Mapping[str, Number]
Names = tuple[tuple[str, Number], ...]

MOST_ROUNDS = 20_000
"""Maximum number of evaluated iterations. A loop with more iterations has an unknown count."""
_FIRST_BEYOND = {"lt": bisect_left, "le": bisect_right}
"""Maps each comparison to the search function that finds the first of ascending values for which
the comparison is false.
"""


class State(Protocol):
    """An atom: a changing value that the label identifies, or an operator with its operands."""

    @property
    def kind(self) -> str:
        """The kind of operator."""

    @property
    def args(self) -> Sequence[Part]:
        """The operands of the expression."""

    @property
    def label(self) -> str:
        """The name that identifies the value."""


class Part(Polynomial, Protocol):
    """The interface of expressions that recurrences need."""

    @property
    def names(self) -> frozenset[str]:
        """The names that the value depends on."""

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of all atoms."""

    @property
    def only_atom(self) -> State | None:
        """The atom, if the expression consists of a single atom."""

    def atoms(self) -> Iterable[State]:
        """Returns all atoms of the expression."""

    def evaluate(self, bindings: Mapping[str, Number], /) -> Number | None:
        """Returns the value of the expression. None if a name has no value."""


class Rounds(NamedTuple):
    """The states at the start of each of the `trips` iterations, and after the last iteration. One
    more state follows if it can be computed, for loops that test their condition after the body.
    """

    states: tuple[States, ...]
    trips: int


def rounds(parts: tuple[Part, ...], bindings: Mapping[str, Number]) -> Rounds | None:
    """Returns the states of a recurrence. None if a name has no value or the loop is too long."""
    known = _known_names(parts, bindings)
    return None if known is None else _cached_rounds(parts, known)


def trips(parts: tuple[Part, ...], bindings: Mapping[str, Number]) -> int | None:
    """Returns the trip count of a recurrence. None if it is unknown or too large."""
    known = _known_names(parts, bindings)
    return None if known is None else _cached_trips(parts, known)


def _known_names(parts: tuple[Part, ...], bindings: Mapping[str, Number]) -> Names | None:
    """Returns the values of the names in a recurrence. None if a name has no value."""
    try:
        return tuple([(name, bindings[name]) for name in _names_of(parts)])
    except KeyError:
        return None


@lru_cache(maxsize=256)
def _names_of(parts: tuple[Part, ...]) -> tuple[str, ...]:
    return tuple(sorted(frozenset().union(*(part.names for part in parts))))


@lru_cache(maxsize=1 << 13)  # an inner recurrence has a count for each outer iteration
def _cached_trips(parts: tuple[Part, ...], known: Names) -> int | None:
    count = None if _fixed_limit(parts[0], _names_of(parts[1:])) else _compiled_trip_count(parts)
    if count is not None:
        return count(dict(known))
    done = _cached_rounds(parts, known)
    return None if done is None else done.trips


@lru_cache(maxsize=256)
def _cached_rounds(parts: tuple[Part, ...], known: Names) -> Rounds | None:
    condition, *rest = parts
    bindings = dict(known)
    changing = tuple(rest)
    course = _cached_states(
        changing, tuple([(name, bindings[name]) for name in _names_of(changing)])
    )
    number = course.trips(condition, bindings)
    if number is None:
        return None
    course.compute_up_to(number + 1)
    return Rounds(tuple(course.states[: number + 2]), number)


@lru_cache(maxsize=256)
def _compiled_trip_count(parts: tuple[Part, ...]) -> Callable[[States], int | None] | None:
    """Returns a function that counts the iterations without storing the states, or None."""
    condition, *rest = parts
    states = dict(zip(_labels_of(rest), zip(rest[1::3], rest[2::3], strict=True), strict=True))
    return compiled_count(condition, states, _names_of(parts), MOST_ROUNDS)


def _labels_of(parts: Sequence[Part]) -> list[str]:
    return [next(iter(state.atoms())).label for state in parts[::3]]


def _fixed_limit(condition: Part, names: Collection[str]) -> tuple[Part, Part, str] | None:
    """Returns the value, limit and comparison of a condition that compares a value with a fixed
    limit. The value must consist of states and these names. None for any other condition.
    """
    compared = condition.only_atom
    if compared is None or compared.kind not in _FIRST_BEYOND:
        return None
    value, limit = compared.args
    fixed = "state" not in limit.kinds and value.names <= frozenset(names)
    return (value, limit, compared.kind) if fixed else None


class _StateSequence:
    """The `states` of a recurrence in each iteration, computed when needed. Loop conditions with
    different limits share the states, because states do not depend on the condition.
    """

    def __init__(self, parts: tuple[Part, ...], known: Names) -> None:
        self._labels = _labels_of(parts)
        self._next = parts[2::3]
        self._known = dict(known)
        first = self._evaluated_states(parts[1::3], self._known)
        self.states: list[States] = [] if first is None else [first]
        self._ends = first is None
        self._highest: dict[Part, list[Number]] = {}

    def _evaluated_states(self, parts: Iterable[Part], at: States) -> States | None:
        values: dict[str, Number] = {}
        for label, part in zip(self._labels, parts, strict=True):
            value = part.evaluate(at)
            if value is None:
                return None
            values[label] = value
        return values

    def compute_up_to(self, number: int) -> bool:
        """Computes the states up to `number`. Returns whether this state exists. The sequence ends
        if a state equals its predecessor, or if the successor is unknown.
        """
        while not self._ends and len(self.states) <= number:
            current = self.states[-1]
            after = self._evaluated_states(self._next, {**self._known, **current})
            if after is not None:
                self.states.append(after)
            self._ends = after is None or after == current
        return number < len(self.states)

    def trips(self, condition: Part, bindings: Mapping[str, Number]) -> int | None:
        """Returns the number of the first state for which the condition is false. None if there is
        no such state within the limit.
        """
        limited = _fixed_limit(condition, self._known)
        if limited is not None:
            value, limit, comparison = limited
            return self._first_beyond(value, limit.evaluate(bindings), comparison)
        for number in range(MOST_ROUNDS + 1):
            more = (
                condition.evaluate({**bindings, **self.states[number]})
                if self.compute_up_to(number)
                else None
            )
            if not more:
                return None if more is None else number
        return None

    def _first_beyond(self, value: Part, limit: Number | None, comparison: str) -> int | None:
        """Returns the number of the first state in which `value < limit`, or `value <= limit`, is
        false. In this state, the highest value so far exceeds the limit for the first time.
        """
        if limit is None:
            return None
        highest = self._highest.setdefault(value, [])
        first_beyond = _FIRST_BEYOND[comparison]
        while not highest or first_beyond(highest[-1:], limit):
            if len(highest) > MOST_ROUNDS or not self.compute_up_to(len(highest)):
                return None
            reached = value.evaluate({**self._known, **self.states[len(highest)]})
            if reached is None:
                return None
            highest.append(max(reached, highest[-1]) if highest else reached)
        return first_beyond(highest, limit)


_cached_states = lru_cache(maxsize=16)(_StateSequence)
