"""Numbers that a loop makes anew in each iteration from those before, carried out one by one.

The parts of a recurrence are whether it goes on, and of each state the atom that stands for it,
its first value and its next one: of `for (j = 1; j < n; j *= 2)`, (j < n), j, 1, 2*j.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Protocol

MOST_ROUNDS = 20_000
"""Iterations that are carried out for one answer: a loop that needs more is not counted."""


class State(Protocol):
    """What stands for a number that changes: an atom, by its label."""

    @property
    def label(self) -> str:
        """Its name."""


class Part(Protocol):
    """An expression, as far as a recurrence asks it."""

    @property
    def names(self) -> frozenset[str]:
        """The names whose values it needs."""

    def atoms(self) -> Iterable[State]:
        """What it is made of."""

    def evaluate(self, bindings: Mapping[str, int | Fraction], /) -> int | Fraction | None:
        """Its value; None where a name has none."""


class Rounds(NamedTuple):
    """What the states hold when each of the `trips` rounds begins, behind the last of them, and
    once more, where that has a value: a condition that stands behind the body is asked later."""

    states: tuple[Mapping[str, int | Fraction], ...]
    trips: int


def rounds(parts: tuple[Part, ...], bindings: Mapping[str, int | Fraction]) -> Rounds | None:
    """The rounds of a recurrence; None where a name has no value, or it takes too many."""
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
            return None  # it goes on for ever
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
