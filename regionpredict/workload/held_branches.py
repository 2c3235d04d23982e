"""For conditions on the parallel loop's variable, the share of iterations in which they hold, and
where these are.

`if (i < n / 10)` holds in the first tenth of the iterations. They then have all the work of the
loops in this branch.
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
"""The conditions around a node, each with the value that it must have."""
_ORDERED = frozenset(("lt", "le", "and", "or", "not", "floordiv"))
"""If a condition consists only of these operators, it holds in a few contiguous ranges of a
loop.
"""


class TrueIterations(NamedTuple):
    """The iterations of the loop over `variable` in which `tests` hold. They are a `share` (0 to 1)
    of all iterations.

    `values` are the values of the other names. `together` says that the tests hold in contiguous
    ranges. Some threads then have more such iterations than others.
    """

    tests: Tests
    variable: str
    values: Mapping[str, int | Fraction]
    share: float
    together: bool

    def at(self, env: Mapping[str, float]) -> float:
        """How often the conditions hold at a position, relative to the average."""
        place = env.get(self.variable)
        if place is None or not self.together:
            return 1.0
        held = _hold(self.tests, {**self.values, self.variable: round(place)})
        return 1.0 / self.share if held else 0.0


def iterations_where_true(
    tests: Tests, variable: str, begin: float, step: int, trips: float,
    values: Mapping[str, int | Fraction],
) -> TrueIterations | None:  # fmt: skip
    """The iterations of a loop with `trips` iterations in which the tests hold. None if unknown.

    The conditions are evaluated at sample positions. A condition that holds at none of them is
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
        held = _hold(tests, {**values, variable: round(begin) + step * int(part * trips)})
        if held is None:
            return None
        hits += held
    if not hits:
        return TrueIterations(tests, variable, values, 1.0 / trips, together=False)
    return TrueIterations(tests, variable, values, hits / count, together)


def _hold(tests: Tests, values: Mapping[str, int | Fraction]) -> bool | None:
    """Whether all tests have the value that they must have. None if one has no value."""
    for test, wanted in tests:
        value = evaluated(test, values)
        if value is None:
            return None
        if bool(value) is not wanted:
            return False
    return True


def _is_only_compared(test: Expr, variable: str) -> bool:
    """Whether the variable only occurs in comparisons of size."""
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
