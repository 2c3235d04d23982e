"""Replaces subscripts that differ from an affine function by at most a few elements."""

from __future__ import annotations

from collections.abc import Set
from fractions import Fraction

from regionpredict.ir import Expr
from regionpredict.ir.expr import Atom

_LARGEST_FACTOR = 1 << 16
"""Maximum factor of a variable in a subscript. An expression with a larger factor is a hash value,
whose integer type matters.
"""


def near_affine(subscript: Expr, variables: Set[str], near: int) -> Expr:
    """Removes divisions, remainders and type conversions from a subscript where possible. A
    division becomes an exact quotient. A remainder of at most `near` values becomes its mean. For
    example, `i / 2` becomes `(2*i - 1)/4`.

    >>> i, j = Expr.name("i"), Expr.name("j")
    >>> str(near_affine(Expr.atom("floordiv", i, Expr.const(2)), {"i"}, 8))
    '(2*i - 1)/4'
    >>> str(near_affine(Expr.atom("mod", i * 2 + j, Expr.const(3)) + i, {"i", "j"}, 8))
    'i + 1'
    """
    if subscript.kinds.isdisjoint(("floordiv", "wrap", "mod")):
        return subscript
    result = Expr.const(0)
    for monomial, number in subscript.terms.items():
        term = Expr.const(number)
        for factor, power in monomial:
            base = Expr({((factor, 1),): 1})
            if isinstance(factor, Atom) and factor.names & variables:
                base = _affine_approximation(factor, variables, near) or base
            term = term * base**power
        result = result + term
    return result


def _affine_approximation(atom: Atom, variables: Set[str], near: int) -> Expr | None:
    if atom.kind == "wrap":
        inside = near_affine(atom.args[0], variables, near)
        return inside if _is_affine_place(inside, variables) else None
    if atom.kind in ("select", "min", "max"):
        sides = [near_affine(side, variables, near) for side in atom.args]
        return Expr.atom(atom.kind, *sides)
    if atom.kind not in ("floordiv", "mod"):
        return None
    period = atom.args[1].constant
    if period is None or period < 1 or period != int(period):
        return None
    if atom.kind == "mod":
        return Expr.const(Fraction(int(period) - 1, 2)) if period <= near else None
    place = near_affine(atom.args[0], variables, near)
    if not _is_affine_place(place, variables):
        return None
    numbers = [n for monomial, n in place.terms.items() if monomial]
    if all(n % int(period) == 0 for n in numbers):
        rest = place.terms.get((), 0)
        return (place - rest).over(int(period)) + Expr.const(rest // int(period))
    return place.over(int(period)) - Fraction(int(period) - 1, 2 * int(period))


def _is_affine_place(place: Expr, variables: Set[str]) -> bool:
    """Whether an expression is affine in the loop variables, and not a hash of them."""
    return all(
        -_LARGEST_FACTOR <= number <= _LARGEST_FACTOR
        for monomial, number in place.terms.items()
        if any(isinstance(factor, str) and factor in variables for factor, _ in monomial)
    )
