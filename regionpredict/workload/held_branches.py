"""Computes in which parallel iterations a condition on the parallel loop's variable is true.

For example, `if (i < n / 10)` is true in the first tenth of the iterations, which then have all the
work of the branch.
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
"""The conditions around a node, each with its required value."""
_ORDERED = frozenset(("lt", "le", "and", "or", "not", "floordiv"))
"""The operators of conditions that are true in a few contiguous ranges of a loop."""


class TrueIterations(NamedTuple):
    """The iterations of the loop over `variable` in which all `tests` hold: a `share` (0 to 1) of
    all iterations.

    `values` are the values of the other names. `together` says that these iterations form a few
    contiguous ranges, so that some threads have more of them than others.
    """

    tests: Tests
    variable: str
    values: Mapping[str, int | Fraction]
    share: float
    together: bool

    def at(self, env: Mapping[str, float]) -> float:
        """Returns the frequency of the conditions at one iteration, relative to the mean over all
        iterations.
        """
        place = env.get(self.variable)
        if place is None or not self.together:
            return 1.0
        held = _all_hold(self.tests, {**self.values, self.variable: round(place)})
        return 1.0 / self.share if held else 0.0


def iterations_where_true(
    tests: Tests, variable: str, begin: float, step: int, trips: float,
    values: Mapping[str, int | Fraction],
) -> TrueIterations | None:  # fmt: skip
    """Returns the iterations of a loop in which all tests hold. None if this is unknown.

    The tests are evaluated at samples of the `trips` iterations. Tests that hold at no sample are
    assumed to hold in one iteration.
    """
    known = values.keys() | {variable}
    if not trips >= 1.0 or not all(test.names <= known for test, _ in tests):
        return None
    if not any(variable in test.names for test, _ in tests):
        return None
    together = all(_is_only_compared(test, variable) for test, _ in tests)
    count = int((PROFILE_SAMPLES if together else SCATTERED_SAMPLES).value)
    hits = 0
    for sample in range(count):
        part = (sample + 0.5) / count if together else (sample * GOLDEN_RATIO.value) % 1.0
        held = _all_hold(tests, {**values, variable: round(begin) + step * int(part * trips)})
        if held is None:
            return None
        hits += held
    if not hits:
        return TrueIterations(tests, variable, values, 1.0 / trips, together=False)
    return TrueIterations(tests, variable, values, hits / count, together)


def _all_hold(tests: Tests, values: Mapping[str, int | Fraction]) -> bool | None:
    """Whether all tests have their required value. None if a test has no value."""
    for test, wanted in tests:
        value = evaluated(test, values)
        if value is None:
            return None
        if bool(value) is not wanted:
            return False
    return True


def _is_only_compared(test: Expr, variable: str) -> bool:
    """Whether the variable occurs only in comparisons by less or less-or-equal."""
    return all(
        atom.kind in _ORDERED and all(_is_only_compared(arg, variable) for arg in atom.args)
        for atom in _atoms_of(test)
        if variable in atom.names
    )


def _atoms_of(expression: Expr) -> Sequence[Atom]:
    return [
        factor for monomial in expression.terms for factor, _ in monomial
        if not isinstance(factor, str)
    ]  # fmt: skip
