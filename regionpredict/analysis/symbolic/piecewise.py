"""Sums over loops whose bounds contain `min`, `max` and floor divisions: bands, tiles, strides.

A piecewise polynomial is summed piece by piece. If the two operands of a `min` cross inside the
loop, the loop is split at the crossing. In `sum(min(n, i + w) for i in [0, n))`, the minimum is
`i + w` up to `i = n - w`, and `n` afterwards. A floor division by a constant is split into the
residues of the loop variable (a quasi-polynomial: Clauss 1996; Verdoolaege et al. 2007, sec. 2).

There are two results. The exact result limits each splitting point to the range of the loop
(`min(max(cut, low), high)`), and is valid for all values. The readable result assumes that the
splitting points are inside the loop and that the loops run. It is a polynomial with the conditions
under which it is valid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from regionpredict.analysis.symbolic.summation import MAX_DEGREE, by_powers, power_sum_at
from regionpredict.ir import Expr
from regionpredict.ir.expr import ONE, ZERO, Atom
from regionpredict.ir.folding import TRUNCATES, Number

_T = "\0t"
_RUNS = "runs"  # the label of max(0, trips), since trips may be negative
_MAX_PIECES = 150
"""Maximum number of pieces of a sum. A nest of four loops with two operands in each minimum has
fewer pieces.
"""
_MAX_RESIDUES = 8
"""Maximum period of the residues of a floor division. It allows strides up to eight, as in unrolled
loops.
"""
_MAX_SIZE = 3000
"""Maximum number of terms of a sum. It limits the computation to a fraction of a second. Longer
forms are not readable.
"""
_MOST_GUARDS = 3
"""Maximum number of known conditions that are added to prove another one. Nested triangles need
two.
"""
_MOST_SUMS = 40
"""Maximum number of sums of conditions that are tried. Sums of three of a nest's few conditions are
not more.
"""


class Steps(NamedTuple):
    """One loop. Its `variable` has `trips` values: first, first + step, ... It has no values if
    `trips` is negative.
    """

    variable: str
    first: Expr
    trips: Expr
    step: Expr

    @property
    def names(self) -> frozenset[str]:
        """The names that the loop's bounds depend on."""
        return self.first.names | self.trips.names | self.step.names

    def bound_to(self, values: Mapping[str, Expr]) -> Steps:
        """Returns the loop with parameters replaced by values."""
        first, trips = self.first.substitute(values), self.trips.substitute(values)
        return Steps(self.variable, first, trips, self.step.substitute(values))


class Total(NamedTuple):
    """A sum that is valid if all expressions in `holds` are nonnegative."""

    expr: Expr
    holds: tuple[Expr, ...] = ()


class _WithheldError(Exception):
    """Raised if no closed form is known."""


def exact_total(loops: Sequence[Steps]) -> Expr | None:
    """Returns the number of executions of the body of the loops (outermost first), for all values
    of the parameters.

    None if no closed form is known.
    """
    try:
        return _NestSum(loops, assume=False).total().expr
    except _WithheldError:
        return None


def readable_total(loops: Sequence[Steps]) -> Total | None:
    """Returns the number of executions as a polynomial, with the conditions under which it is
    valid.

    >>> n, w, i = Expr.name("n"), Expr.name("w"), Expr.name("i")
    >>> low, high = Expr.atom("max", ZERO, i - w), Expr.atom("min", n, i + w + 1)
    >>> total = readable_total([Steps("i", ZERO, n, ONE), Steps("j", low, high - low, ONE)])
    >>> str(total.expr), [str(guard) for guard in total.holds]
    ('2*n*w - w*w + n - w', ['w', 'n - w - 1'])
    """
    try:
        return _NestSum(loops, assume=True).total()
    except _WithheldError:
        return None


@dataclass(slots=True)
class _NestSum:
    """The sum over one loop nest. `assume` requests the readable result."""

    loops: Sequence[Steps]
    assume: bool
    pieces: int = 0
    holds: dict[Expr, None] = field(default_factory=dict)
    around: Sequence[Steps] = ()

    def total(self) -> Total:
        total = ONE
        for depth in range(len(self.loops) - 1, -1, -1):
            loop = self.loops[depth]
            self.around = self.loops[:depth]
            total = self._sum_over_loop(total, loop)
            if total.size > _MAX_SIZE:
                raise _WithheldError
        return Total(total, self._remaining_conditions())

    def _sum_over_loop(self, body: Expr, loop: Steps) -> Expr:
        count = self._iteration_count(loop.trips)
        if loop.variable not in body.names:
            return body * count
        moved = body.substitute({loop.variable: loop.first + Expr.name(_T) * loop.step})
        return self._sum_over_range(moved, ZERO, count, loop.trips)

    def _iteration_count(self, trips: Expr) -> Expr:
        """Returns `max(0, trips)`. Loops that depend only on parameters are assumed to run."""
        value = trips.constant
        if value is not None:
            return Expr.const(max(0, value))
        if self.assume and not self._depends_on_outer_loops(trips):
            return trips
        return Expr.atom("max", ZERO, trips, label=_RUNS)

    def _depends_on_outer_loops(self, expression: Expr) -> bool:
        return any(loop.variable in expression.names for loop in self.around)

    # -- one loop -------------------------------------------------------------------------------

    def _sum_over_range(self, body: Expr, low: Expr, high: Expr, trips: Expr | None = None) -> Expr:
        """Returns the sum of `body` for t from `low` up to, but not including, `high`. `high` must
        not be less than `low`.
        """
        self.pieces += 1
        if self.pieces > _MAX_PIECES:
            raise _WithheldError
        if _T not in body.names:
            return body * (high - low)
        if not body.kinds.isdisjoint(("trips", "carried")):
            raise _WithheldError
        runs = self._assume_nonnegative(body, low, high, trips) if self.assume else body
        groups = _grouped_by_atoms(runs)
        if len(groups) > 1:
            total = ZERO
            for group in groups:
                total = total + self._sum_over_range(group, low, high, trips)
            return total
        body = groups[0]
        atom = _innermost_atom(body)
        if atom is None:
            return _sum_polynomial(body, low, high)
        if atom.label == TRUNCATES and not self._stays_positive(atom.args[0], low, high):
            raise _WithheldError  # truncation equals floor only for nonnegative values
        if atom.kind in ("min", "max"):
            return self._split_at_crossing(body, atom, low, high, trips)
        if atom.kind == "floordiv":
            return self._split_into_residues(body, atom, low, high)
        if atom.kind == "mod":
            a, c = atom.args
            return self._sum_over_range(
                _with_atom_replaced(body, atom, a - c * Expr.atom("floordiv", a, c)), low, high
            )
        raise _WithheldError

    def _stays_positive(self, numerator: Expr, low: Expr, high: Expr) -> bool:
        """Whether the expression is certainly nonnegative from `low` up to, but not including,
        `high`, for nonnegative sizes.
        """
        powers = by_powers(numerator, _T)
        if powers is None or any(power > 1 for power in powers):
            return False
        for end in (low, high - 1):
            lowest = self._minimum_over_outer_loops(numerator.substitute({_T: end}))
            if lowest is None or min(lowest.terms.values(), default=0) < 0:
                return False
        return True

    def _split_at_crossing(
        self, body: Expr, atom: Atom, low: Expr, high: Expr, trips: Expr | None
    ) -> Expr:
        """Splits the loop where the two operands of a minimum or maximum cross."""
        first, second = atom.args
        difference = _with_integer_coefficients(first - second)
        powers = by_powers(difference, _T)
        if powers is None or any(power > 1 for power in powers):
            raise _WithheldError
        slope, rest = powers.get(1, ZERO).constant, powers.get(0, ZERO)
        if not isinstance(slope, int):
            raise _WithheldError
        smallest = atom.kind == "min"
        if slope == 0:
            gap = Expr.atom(atom.kind, first - second, ZERO)
            return self._sum_over_range(
                _with_atom_replaced(body, atom, second + gap), low, high, trips
            )
        if slope < 0:
            first, second, slope, rest = second, first, -slope, -rest
        # first <= second holds up to t = floor(-rest / slope).
        cut = Expr.atom("floordiv", -rest, Expr.const(slope)) + 1
        cut = self._limited_cut(cut, low, high, trips)
        before = _with_atom_replaced(body, atom, first if smallest else second)
        behind = _with_atom_replaced(body, atom, second if smallest else first)
        return self._sum_over_range(before, low, cut) + self._sum_over_range(behind, cut, high)

    def _limited_cut(self, cut: Expr, low: Expr, high: Expr, trips: Expr | None) -> Expr:
        """Returns the splitting point, limited to the range of the loop."""
        # A point that does not exceed `trips` does not exceed the count max(0, trips) either.
        end = trips if self.assume and trips is not None else high
        for side, other, kind in ((cut - low, low, "max"), (end - cut, high, "min")):
            least, most = _bounds_of_expression(side)
            if most is not None and most < 0:
                return other
            if least is not None and least >= 0:
                continue
            if (
                self.assume
                and not self._depends_on_outer_loops(side)
                and not _has_iteration_count(side)
            ):
                self.holds[side] = None
            else:
                cut = Expr.atom(kind, cut, other)
        return cut

    def _assume_nonnegative(self, body: Expr, low: Expr, high: Expr, trips: Expr | None) -> Expr:
        """Assumes that inner loops run, if their trip count may be nonnegative at both ends."""
        last = (trips if trips is not None else high) - 1
        for atom in {a for a in body.atoms() if a.label == _RUNS and _T in a.args[1].names}:
            wanted: dict[Expr, None] = {}
            for side in _nonnegative_operands(atom.args[1]) or ():
                powers = by_powers(side, _T)
                if powers is None or any(power > 1 for power in powers):
                    break
                ends = [side.substitute({_T: end}) for end in (low, last)]
                lowest = [self._minimum_over_outer_loops(end) for end in ends]
                for value in lowest:
                    if value is not None:
                        wanted[value] = None
                if any(
                    value is None or (_bounds_of_expression(value)[1] or 0) < 0 for value in lowest
                ):
                    break
            else:
                if wanted:
                    self.holds.update(wanted)
                    body = _with_atom_replaced(body, atom, atom.args[1])
        return body

    def _minimum_over_outer_loops(self, expression: Expr) -> Expr | None:
        """Returns the smallest value over the outer loops. None if it cannot be determined."""
        for loop in reversed(self.around):
            if loop.variable not in expression.names:
                continue
            slope = expression.coefficient(loop.variable)
            rate = (slope * loop.step).constant if slope is not None else None
            if rate is None:
                return None
            last = loop.first + (loop.trips - 1) * loop.step
            rising = rate > 0
            expression = expression.substitute({loop.variable: loop.first if rising else last})
        return expression

    def _split_into_residues(self, body: Expr, atom: Atom, low: Expr, high: Expr) -> Expr:
        """Splits a floor division by a constant: t = c u + r for every residue r."""
        divisor, powers = _floor_divisor(atom), by_powers(atom.args[0], _T)
        if divisor is None or powers is None or any(power > 1 for power in powers):
            raise _WithheldError
        slope, rest = powers.get(1, ZERO).constant, powers.get(0, ZERO)
        if not isinstance(slope, int) or any(isinstance(c, Fraction) for c in rest.terms.values()):
            raise _WithheldError
        size = Expr.const(divisor)
        period = divisor // gcd(slope, divisor)
        if period > _MAX_RESIDUES:
            raise _WithheldError
        total = ZERO
        for residue in range(period):
            begin, end = (
                Expr.atom("floordiv", edge - residue + (period - 1), Expr.const(period))
                for edge in (low, high)
            )
            whole = Expr.name(_T) * (slope * period // divisor)
            value = whole + Expr.atom("floordiv", rest + slope * residue, size)
            marked = _with_atom_replaced(body, atom, Expr.name("\0v"))
            moved = marked.substitute({_T: Expr.name(_T) * period + residue})
            total = total + self._sum_over_range(moved.substitute({"\0v": value}), begin, end)
        return total

    # -- conditions -----------------------------------------------------------------------------

    def _remaining_conditions(self) -> tuple[Expr, ...]:
        """Returns the conditions of the result. Conditions that follow from others, or from the
        fact that loops run, are omitted.
        """
        own = {loop.variable for loop in self.loops}
        given = [
            _simplify_condition(loop.trips - 1) for loop in self.loops if not loop.trips.names & own
        ]
        plain = {
            _simplify_condition(guard): None for guard in self.holds if _may_be_negative(guard)
        }
        left = sorted(plain, key=lambda guard: (guard.size, str(guard)))
        for guard in list(left):
            others = [other for other in left if other != guard] + given
            if _follows_from(guard, others):
                left.remove(guard)
        return tuple(left)


def _bounds_of_expression(expression: Expr) -> tuple[Number | None, Number | None]:
    """Returns a lower and an upper bound of the expression. None if a bound is not a number.

    The bounds follow from `(a - c + 1)/c <= floor(a/c) <= a/c` for a whole number `a`.
    """
    low = high = expression
    for atom in set(expression.atoms()):
        size, number = _floor_divisor(atom), expression.terms.get(((atom, 1),))
        if size is None or number is None:
            continue
        most = atom.args[0] * Fraction(1, size)
        least = (atom.args[0] - (size - 1)) * Fraction(1, size)
        low = _with_atom_replaced(low, atom, least if number > 0 else most)
        high = _with_atom_replaced(high, atom, most if number > 0 else least)
    return low.constant, high.constant


def _floor_divisor(atom: Atom) -> int | None:
    """Returns the divisor of a floor division. None unless it is a positive number."""
    divisor = atom.args[1].constant if atom.kind == "floordiv" else None
    return divisor if isinstance(divisor, int) and divisor > 0 else None


def _may_be_negative(expression: Expr) -> bool:
    least, _ = _bounds_of_expression(expression)
    return least is None or least < 0


def _simplify_condition(condition: Expr) -> Expr:
    """Simplifies `floor(a/c) >= k` to `a >= c k`, and `2 n >= 3` to `n >= 2`. Other conditions are
    unchanged.
    """
    numbers = condition.terms.values()
    if condition.terms and all(isinstance(number, int) for number in numbers):
        common = gcd(*(int(c) for m, c in condition.terms.items() if m))
        if common > 1:
            return _simplify_condition(Expr({m: c // common for m, c in condition.terms.items()
                                if c // common}))  # fmt: skip
    rest = condition.terms.get((), 0)
    for atom in condition.atoms():
        size = _floor_divisor(atom)
        if size is not None and condition - rest == Expr({((atom, 1),): 1}):
            return _simplify_condition(atom.args[0] + rest * size)
    return condition


def _has_iteration_count(expression: Expr) -> bool:
    return any(atom.label == _RUNS for atom in expression.atoms())


def _follows_from(condition: Expr, known: Sequence[Expr]) -> bool:
    """Whether the condition follows from a sum of at most `_MOST_GUARDS` of `known`."""
    reached = {ZERO}
    for _ in range(_MOST_GUARDS):
        tried = sorted(reached, key=str)[:_MOST_SUMS]
        reached = {partial_sum + more for partial_sum in tried for more in (ZERO, *known)}
        for partial_sum in reached:
            gap = (condition - partial_sum).constant
            if gap is not None and gap >= 0:
                return True
    return False


def _nonnegative_operands(expression: Expr) -> list[Expr] | None:
    """Returns expressions that are all nonnegative if and only if `min(a, b) - max(c, d)` is."""
    for monomial, number in expression.terms.items():
        for factor, power in monomial:
            if isinstance(factor, Atom) and _T in factor.names:
                wanted = "min" if number > 0 else "max"
                if len(monomial) > 1 or power > 1 or factor.kind != wanted:
                    return None
                alternatives: list[Expr] = []
                for side in factor.args:
                    inner = _nonnegative_operands(_with_atom_replaced(expression, factor, side))
                    if inner is None:
                        return None
                    alternatives += inner
                return alternatives
    return [expression]


def _grouped_by_atoms(expression: Expr) -> list[Expr]:
    """Groups the terms of an expression by their atoms that contain t. Each group is split
    separately.
    """
    groups: dict[frozenset[Atom], Expr] = {}
    for monomial, number in expression.terms.items():
        term = Expr({monomial: number})
        atoms = frozenset(
            factor for factor, _ in monomial
            if isinstance(factor, Atom) and _T in factor.names
        )  # fmt: skip
        groups[atoms] = groups.get(atoms, ZERO) + term
    return list(groups.values())


def _innermost_atom(expression: Expr) -> Atom | None:
    """Returns an atom that depends on t and contains no other such atom."""
    moving = None
    for atom in expression.atoms():
        if _T in atom.names:
            if not any(_innermost_atom(arg) for arg in atom.args):
                return atom
            moving = atom
    return moving


def _with_atom_replaced(expression: Expr, atom: Atom, value: Expr) -> Expr:
    """Returns the expression with `value` instead of the atom, including inside other atoms."""
    total = ZERO
    for monomial, number in expression.terms.items():
        term = Expr.const(number)
        for factor, power in monomial:
            if factor == atom:
                base = value
            elif isinstance(factor, Atom):
                args = [_with_atom_replaced(arg, atom, value) for arg in factor.args]
                base = Expr.atom(factor.kind, *args, label=factor.label, over=factor.over)
            else:
                base = Expr.name(factor)
            term = term * base**power
        total = total + term
    return total


def _with_integer_coefficients(expression: Expr) -> Expr:
    """Returns a positive multiple of the expression with integer coefficients."""
    sizes = [Fraction(number).denominator for number in expression.terms.values()]
    return expression * lcm(*sizes) if sizes else expression


def _sum_polynomial(body: Expr, low: Expr, high: Expr) -> Expr:
    powers = by_powers(body, _T)
    if powers is None or max(powers) > MAX_DEGREE:
        raise _WithheldError
    total = ZERO
    for power, coefficient in powers.items():
        part = power_sum_at(power, high)
        if low != 0:
            part = part - power_sum_at(power, low)
        total = total + coefficient * part
    return total
