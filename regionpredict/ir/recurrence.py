"""Executes recurrences: values that each iteration of a loop computes from previous values.

A recurrence consists of its condition and, for each state, an atom, the first value and the next
value. For `for (j = 1; j < n; j *= 2)`, these are (j < n), j, 1, 2*j.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Protocol

MOST_ROUNDS = 20_000
"""The maximum number of executed iterations. A loop that needs more is not counted."""


class State(Protocol):
    """The atom of a value that changes, identified by its label."""

    @property
    def label(self) -> str:
        """The name that identifies the value."""


class Part(Protocol):
    """The part of an expression that recurrences need."""

    @property
    def names(self) -> frozenset[str]:
        """The names that the value depends on."""

    def atoms(self) -> Iterable[State]:
        """All atoms of the expression."""

    def evaluate(self, bindings: Mapping[str, int | Fraction], /) -> int | Fraction | None:
        """The value. None if a name has no value."""


class Rounds(NamedTuple):
    """The states at the start of each of the `trips` iterations, and after the last one. One
    further value is added if it exists, since a condition after the body is evaluated later.
    """

    states: tuple[Mapping[str, int | Fraction], ...]
    trips: int


def rounds(parts: tuple[Part, ...], bindings: Mapping[str, int | Fraction]) -> Rounds | None:
    """The iterations of a recurrence. None if a name has no value, or there are too many."""
    names = frozenset().union(*(part.names for part in parts))
    if not names <= bindings.keys():
        return None
    return _rounds(parts, tuple(sorted((name, bindings[name]) for name in names)))


@lru_cache(maxsize=256)
def _rounds(
    parts: tuple[Part, ...], known: tuple[tuple[str, int | Fraction], ...]
) -> Rounds | None:
    goes_on, *rest = parts
    labels = [_atom_of(state).label for state in rest[::3]]
    held = _values(labels, rest[1::3], dict(known))
    states: list[Mapping[str, int | Fraction]] = []
    while held is not None and len(states) <= MOST_ROUNDS:
        states.append(held)
        at = {**dict(known), **held}
        more = goes_on.evaluate(at)
        if more is None:
            return None
        after = _values(labels, rest[2::3], at)
        if not more:
            return Rounds((*states, *([after] if after is not None else [])), len(states) - 1)
        if after == held:
            return None  # it does not end
        held = after
    return None


def _values(
    labels: list[str], expressions: list[Part], at: Mapping[str, int | Fraction]
) -> dict[str, int | Fraction] | None:
    values: dict[str, int | Fraction] = {}
    for label, expression in zip(labels, expressions, strict=True):
        value = expression.evaluate(at)
        if value is None:
            return None
        values[label] = value
    return values


def _atom_of(state: Part) -> State:
    return next(iter(state.atoms()))
