"""Builds expressions from other expressions: dereferences, addresses, substitutions.

Addresses are simplified when built, so C++ references and methods look like plain C: `(&d)->x` is
`d.x`, `*&a[i]` is `a[i]`.
"""

from __future__ import annotations

from collections.abc import Mapping

from regionpredict.frontend.syntax.initial_lists import member_named
from regionpredict.frontend.syntax.nodes import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    Decl,
    Expression,
    Index,
    Member,
    Name,
    Opaque,
    Ternary,
    Unary,
)
from regionpredict.frontend.syntax.predicates import is_place, without_casts
from regionpredict.ir import Span


def place_of_function(called: Expression | None) -> Name | Member | Index | CallExpr | None:
    """Returns the pointer through which a function is called: `f` for `(*f)(x)`, `p->f` for
    `((type)p->f)(x)`.
    """
    while isinstance(called, Cast) or (isinstance(called, Unary) and called.op == "*"):
        called = called.operand
    return called if isinstance(called, (Name, Member, Index, CallExpr)) else None


def variable_of(place: Expression | None) -> Decl | None:
    """Returns the variable that contains an lvalue. None if the lvalue is accessed through a
    pointer.
    """
    while isinstance(place, (Member, Index)):
        if isinstance(place, Member) and place.arrow:
            return None
        place = place.base
    return place.decl if isinstance(place, Name) else None


def address_of(place: Expression, span: Span) -> Expression:
    """Returns the expression `&place`. A value without an address is returned unchanged."""
    if isinstance(place, Unary) and place.op == "*":
        return place.operand
    return Unary("&", place, span) if is_place(place) else place


def dereferenced(address: Expression, span: Span) -> Expression:
    """Returns the expression `*address`."""
    if isinstance(address, Unary) and address.op == "&":
        return address.operand
    return Unary("*", address, span)


def member_of(base: Expression, field: Decl, span: Span, *, arrow: bool) -> Expression:
    """Returns the expression `base.field`, or `base->field` with `arrow`. For a temporary, as in
    `row{p + i}.p`, it is the value of the member in the list.
    """
    made = _value_in_list(field, base)
    if made is not None:
        return made
    if arrow and isinstance(base, Unary) and base.op == "&":
        return Member(base.operand, field, False, span)
    if not arrow and isinstance(base, Unary) and base.op == "*":
        return Member(base.operand, field, True, span)
    return Member(base, field, arrow, span)


def _value_in_list(field: Decl, initializer: Expression) -> Expression | None:
    initializer = without_casts(initializer)
    if not isinstance(initializer, Opaque) or initializer.text != "{}":
        return None
    given = (member_named(value) for value in initializer.children)
    return next((pair[1] for pair in given if pair is not None and pair[0] == field.name), None)


def substituted(expression: Expression, replacements: Mapping[Decl, Expression]) -> Expression:
    """Returns the expression with names replaced by values."""
    e = expression
    if isinstance(e, Name):
        return replacements.get(e.decl, e)
    if isinstance(e, Unary):
        operand = substituted(e.operand, replacements)
        return dereferenced(operand, e.span) if e.op == "*" else Unary(e.op, operand, e.span)
    if isinstance(e, Index):
        return Index(substituted(e.base, replacements), substituted(e.index, replacements), e.span)
    if isinstance(e, Member):
        if e.base is None:
            return e
        return member_of(substituted(e.base, replacements), e.field, e.span, arrow=e.arrow)
    if isinstance(e, Binary):
        return Binary(e.op, substituted(e.left, replacements), substituted(e.right, replacements))
    if isinstance(e, Cast):
        made = e.constructor
        if made is not None:
            made = made._replace(
                args=tuple(substituted(argument, replacements) for argument in made.args)
            )
        return Cast(e.ctype, substituted(e.operand, replacements), made)
    if isinstance(e, Ternary):
        condition, then = substituted(e.condition, replacements), substituted(e.then, replacements)
        return Ternary(condition, then, substituted(e.other, replacements))
    if isinstance(e, CallExpr):
        return e._replace(args=tuple(substituted(argument, replacements) for argument in e.args))
    if isinstance(e, Assign):
        return Assign(
            e.op, substituted(e.left, replacements), substituted(e.right, replacements), e.span
        )
    if isinstance(e, Opaque):
        return Opaque(e.text, tuple(substituted(child, replacements) for child in e.children))
    return e
