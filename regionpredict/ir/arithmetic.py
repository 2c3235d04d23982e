"""Expresses comparisons as arithmetic, so that counts consist only of sums, products, `min` and
`max`.
"""

from __future__ import annotations

from regionpredict.ir.expr import ONE, ZERO, Atom, Expr

_COMPARISONS = frozenset(("lt", "le", "eq", "ne"))


def arithmetic(expression: Expr) -> Expr:
    """Replaces comparisons of integers, and choices that depend on them, by sums, products, `min`
    and `max`.

    >>> t, n = Expr.name("t"), Expr.name("n")
    >>> str(arithmetic(Expr.atom("lt", t, n)))
    'min(1, max(0, n - t))'
    """
    return expression.replace_atoms(_arithmetic_atom)


def _arithmetic_atom(atom: Atom) -> Expr | None:
    if atom.kind in _COMPARISONS:
        first, second = (arithmetic(arg) for arg in atom.args)
        if atom.kind in ("lt", "le"):
            distance = second - first + (atom.kind == "le")
            return Expr.atom("min", ONE, Expr.atom("max", ZERO, distance))
        differs = Expr.atom("max", first - second, second - first)
        differs = Expr.atom("min", ONE, differs)
        return differs if atom.kind == "ne" else ONE - differs
    if atom.kind in ("and", "or"):
        return Expr.atom("min" if atom.kind == "and" else "max", *map(_truth, atom.args))
    if atom.kind == "not":
        return ONE - _truth(atom.args[0])
    if atom.kind == "select":
        then, other = map(arithmetic, atom.args[1:])
        return other + _truth(atom.args[0]) * (then - other)
    return None


def _truth(condition: Expr) -> Expr:
    """Returns 1 if a condition holds, otherwise 0, as arithmetic."""
    value = arithmetic(condition)
    compared = condition.only_atom
    if compared is not None and compared.kind in _COMPARISONS:
        return value
    return Expr.atom("min", ONE, Expr.atom("max", value, -value))
