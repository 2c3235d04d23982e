"""Conditions on the parallel loop's variable: the share of iterations in which they hold, and
where.

`if (i < n / 10)` holds in the first tenth of the iterations, which then has all the work of the
guarded loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from regionpredict.ir import Expr
from regionpredict.ir.expr import Atom
from regionpredict.workload.constants import GOLDEN_RATIO, PROFILE_SAMPLES, SCATTERED_SAMPLES
from regionpredict.workload.derived_number import evaluated

Tests = tuple[tuple[Expr, bool], ...]
"""The conditions around a node, each with the required truth value."""
_ORDERED = frozenset(("lt", "le", "and", "or", "not", "floordiv"))
"""With only these operators, a condition holds in a few contiguous ranges of a loop."""


class TrueIterations(NamedTuple):
    """The iterations of the loop over `variable` in which `tests` hold, a `share` (0 to 1) of all.

    `values` are those of the other names. If the tests hold `together`, in contiguous ranges, some
    threads have more such iterations than others.
    """

    tests: Tests
    variable: str
    values: Mapping[str, int | Fraction]
    share: float
    together: bool

    def at(self, env: Mapping[str, float]) -> float:
        """The frequency with which they hold at a position, relative to the average."""
        place = env.get(self.variable)
        if place is None or not self.together:
            return 1.0
        held = _hold(self.tests, {**self.values, self.variable: round(place)})
        return 1.0 / self.share if held else 0.0


def held_in(
    tests: Tests, variable: str, begin: float, step: int, trips: float,
    values: Mapping[str, int | Fraction],
) -> TrueIterations | None:  # fmt: skip
    """Where the tests hold in a loop of `trips` iterations. None if it is unknown.

    Found at sample positions. A condition that holds at none of them holds in one iteration.
    """
    known = values.keys() | {variable}
    if not trips >= 1.0 or not all(test.names <= known for test, _ in tests):
        return None
    if not any(variable in test.names for test, _ in tests):
        return None
    together = all(_is_ordered(test, variable) for test, _ in tests)
    count = int((PROFILE_SAMPLES if together else SCATTERED_SAMPLES).value)
    hits = 0
    for sample in range(count):
        part = (sample + 0.5) / count if together else (sample * GOLDEN_RATIO.value) % 1.0
        held = _hold(tests, {**values, variable: round(begin) + step * int(part * trips)})
        if held is None:
            return None
        hits += held
    if not hits:
        return TrueIterations(tests, variable, values, 1.0 / trips, together=False)
    return TrueIterations(tests, variable, values, hits / count, together)


def _hold(tests: Tests, values: Mapping[str, int | Fraction]) -> bool | None:
    """Whether all tests have their required value. None if one has no value."""
    for test, wanted in tests:
        value = evaluated(test, values)
        if value is None:
            return None
        if bool(value) is not wanted:
            return False
    return True


def _is_ordered(test: Expr, variable: str) -> bool:
    """Whether the variable is only compared by size."""
    return all(
        atom.kind in _ORDERED and all(_is_ordered(arg, variable) for arg in atom.args)
        for atom in _atoms_of(test)
        if variable in atom.names
    )


def _atoms_of(expression: Expr) -> Sequence[Atom]:
    return [
        factor for monomial in expression.terms for factor, _ in monomial
        if not isinstance(factor, str)
    ]  # fmt: skip
