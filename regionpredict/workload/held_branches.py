"""Computes in which parallel iterations a condition on the parallel loop's variable is true.

For example, `if (i < n / 10)` is true in the first tenth of the iterations, which then have all the
work of the branch. `if (i == 0)` is true in a single iteration, which one thread runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import NamedTuple

from regionpredict.ir import Expr
from regionpredict.ir.expr import Atom
from regionpredict.workload.constants import GOLDEN_RATIO, PROFILE_SAMPLES, SCATTERED_SAMPLES
from regionpredict.workload.derived_number import evaluated

Tests = tuple[tuple[Expr, bool], ...]
"""The conditions around a node, each with its required value."""
_COMPARED = frozenset(("lt", "le", "eq", "ne"))
_ORDERED = _COMPARED | {"and", "or", "not", "floordiv"}
"""The operators of conditions that are true in a few contiguous ranges of a loop."""


class TrueIterations(NamedTuple):
    """The iterations of the loop over `variable` in which all `tests` hold: a `share` (0 to 1) of
    all iterations.

    `values` are the values of the other names. `together` says that these iterations form a few
    contiguous ranges, so that some threads have more of them than others.
    If only one iteration is known to be true, `single` is its value of the variable.
    """

    tests: Tests
    variable: str
    values: Mapping[str, int | Fraction]
    share: float
    together: bool
    single: int | None = None

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

    The tests are evaluated in all iterations of a short loop, else at samples. Tests that hold at
    no sample are assumed to hold in one iteration, such as the first, the last, or `i` = 5 for
    `i == 5`.
    """
    known = values.keys() | {variable}
    if not trips >= 1.0 or not all(test.names <= known for test, _ in tests):
        return None
    if not any(variable in test.names for test, _ in tests):
        return None
    together = all(_is_only_compared(test, variable) for test, _ in tests)
    count = int((PROFILE_SAMPLES if together else SCATTERED_SAMPLES).value)
    every = trips <= count
    count, hits = int(trips) if every else count, 0
    single: int | None = None

    first = round(float(begin))  # a derived number cannot be the bound of a range

    def holds(number: int) -> bool | None:
        return _all_hold(tests, {**values, variable: first + step * number})

    for sample in range(count):
        part = (sample + 0.5) / count if together or every else (sample * GOLDEN_RATIO.value) % 1.0
        held = holds(int(part * trips))
        if held is None:
            return None
        if held and together and not every:  # a single iteration does not represent a range
            held = bool(holds(int(part * trips) - 1) or holds(int(part * trips) + 1))
        hits += held
        if held and every:
            single = first + step * sample if hits == 1 else None
    if not hits:
        iterations = range(first, first + step * int(trips), step)
        places = {iterations[0], iterations[-1]}.union(
            *(_turning_points(test, variable, values) for test, _ in tests)
        )
        single = next(
            (place for place in sorted(places) if place in iterations
             and _all_hold(tests, {**values, variable: place})), None,
        )  # fmt: skip
        return TrueIterations(
            tests, variable, values, 1.0 / trips, together=single is not None, single=single
        )
    return TrueIterations(tests, variable, values, hits / count, together, single)


def _all_hold(tests: Tests, values: Mapping[str, int | Fraction]) -> bool | None:
    """Whether all tests have their required value. None if a test has no value."""
    for test, wanted in tests:
        value = evaluated(test, values)
        if value is None:
            return None
        if bool(value) is not wanted:
            return False
    return True


def _turning_points(
    test: Expr, variable: str, values: Mapping[str, int | Fraction]
) -> Iterator[int]:
    """Yields the values of the variable at which comparisons in a test change their result."""
    for atom in _atoms_of(test):
        if variable not in atom.names:
            continue
        if atom.kind not in _COMPARED:
            for arg in atom.args:
                yield from _turning_points(arg, variable, values)
            continue
        distance = atom.args[0] - atom.args[1]
        at_0, at_1 = (evaluated(distance, {**values, variable: place}) for place in (0, 1))
        if at_0 is not None and at_1 is not None and at_0 != at_1:
            place = floor(float(at_0) / (float(at_0) - float(at_1)))
            yield from range(place - 1, place + 2)


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
