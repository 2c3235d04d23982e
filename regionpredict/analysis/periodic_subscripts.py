"""Simplifies subscripts that wrap around at the ends of a loop: `(i + 1) % n` becomes `i + 1`."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.ir import Expr, Loop
from regionpredict.ir.expr import Atom

_SHIFTS = (0, -1, 1)
_LARGE = 1 << 20
"""A large value of all names. It is used to test whether two positions are in the same period."""
_DECIDED_BY_DATA = frozenset(("ref", "call", "varying", "mod", "floordiv", "carried"))


def without_wrap_around(subscript: Expr, loops: Sequence[Loop]) -> Expr:
    """Returns the subscript without wrap-around: `(i + 1) % n` becomes `i + 1`, if i runs up to n.

    In a loop that is not longer than the period, each position occurs once. All iterations except
    one then access the neighboring position. For `i > 0 ? i - 1 : n - 1`, the result is the operand
    that changes with a loop.
    """
    if subscript.kinds.isdisjoint(("mod", "select")):
        return subscript
    variables = frozenset(loop.variable for loop in loops)
    result = Expr.const(0)
    for monomial, number in subscript.terms.items():
        term = Expr.const(number)
        for factor, power in monomial:
            base = Expr({((factor, 1),): 1})
            if isinstance(factor, Atom):
                base = _without_wrap(factor, loops, variables) or base
            term = term * base**power
        result = result + term
    return result


def _without_wrap(atom: Atom, loops: Sequence[Loop], variables: frozenset[str]) -> Expr | None:
    if atom.kind == "select":
        sides = [side for side in atom.args[1:] if side.names & variables]
        if len(sides) != 1 or _has_atom_with(sides[0], variables) or _depends_on_data(atom.args[0]):
            return None
        return sides[0]
    if atom.kind != "mod":
        return None
    place, period = atom.args
    if period.names & variables or _has_atom_with(place, variables):
        return None
    moving = [loop for loop in loops if loop.variable in place.names]
    if len(moving) != 1:
        return None
    (loop,) = moving
    step = place.coefficient(loop.variable)
    if loop.step is None or loop.step.constant not in (1, -1) or loop.trips is None:
        return None
    if step is None or step.constant not in (1, -1):
        return None
    beyond = (loop.trips - period).constant
    if beyond is None or beyond > 0:
        return None
    return min(
        (place + period * periods for periods in _SHIFTS),
        key=lambda candidate: _distance_to_middle(candidate, period, loop),
    )


def _has_atom_with(place: Expr, variables: frozenset[str]) -> bool:
    return any(atom.names & variables for atom in place.atoms())


def _depends_on_data(condition: Expr) -> bool:
    return any(
        atom.kind in _DECIDED_BY_DATA or any(map(_depends_on_data, atom.args))
        for atom in condition.atoms()
    )


def _distance_to_middle(place: Expr, period: Expr, loop: Loop) -> float:
    """Returns the distance between the middle of the loop's range and the middle of the array, in
    periods.
    """
    known = dict.fromkeys(place.names | period.names, _LARGE)
    ends = [end.evaluate(dict.fromkeys(end.names, _LARGE)) if end is not None else None
            for end in (loop.start, loop.bound)]  # fmt: skip
    if None in ends:
        return 0.0
    known[loop.variable] = int(sum(end for end in ends if end is not None) // 2)
    at, whole = place.evaluate(known), period.evaluate(known)
    return abs(float(at) / float(whole) - 0.5) if at is not None and whole else 0.0
