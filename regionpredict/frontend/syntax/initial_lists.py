"""Handles initializer lists: `{3, .ny = 4}`, with values assigned to members by name.

The parsers know the struct and add names to positional values. In the tree, `{n, m}` is
`{.nx = n, .ny = m}`.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.frontend.syntax.nodes import (
    CallExpr,
    Decl,
    Expression,
    IntLit,
    Name,
    Opaque,
)


def unread_list() -> Expression:
    """Returns a placeholder for an initializer that is too long to read."""
    return Opaque("{...}")


def initial_values(expression: Expression) -> tuple[Expression, ...] | None:
    """Returns the values of `{3, .ny = 4}` or `(struct grid){3, 4}`. None for anything else."""
    literal = isinstance(expression, Opaque) and expression.text == ""  # it encloses the list
    if isinstance(expression, Opaque) and literal and len(expression.children) == 1:
        return initial_values(expression.children[0])
    return (
        expression.children if isinstance(expression, Opaque) and expression.text == "{}" else None
    )


def member_named(value: Expression) -> tuple[str, Expression] | None:
    """Returns the member and the value of `.ny = 4` in a list. None for any other value."""
    if isinstance(value, Opaque) and value.text.startswith(".") and value.children:
        return value.text[1:], value.children[-1]
    return None


def element_placed(value: Expression) -> tuple[int | None, Expression]:
    """Returns the number and the value of `[2] = f` in a list. The number is None for a value
    without a number, which initializes the next element.
    """
    if isinstance(value, Opaque) and value.text == "[]" and isinstance(value.children[0], IntLit):
        return value.children[0].value, value.children[1]
    return None, value


def elements_listed(expression: Expression | None) -> dict[int, Expression] | None:
    """Returns the values that a list assigns to the elements of an array, by index."""
    listed = initial_values(expression) if expression is not None else None
    if listed is None:
        return None
    elements: dict[int, Expression] = {}
    at = 0
    for value in listed:
        placed, declaration = element_placed(value)
        at = at if placed is None else placed
        elements[at] = declaration
        at += 1
    return elements


def with_members_named(
    elements: Sequence[Expression], members: Sequence[Decl]
) -> tuple[Expression, ...]:
    """Adds member names to the values of a struct's list, as far as the members are known.

    Values after a named value (`.ny = 4, 5`), and after a nested struct without braces, are
    unchanged, because their members are unknown.
    """
    named = list(elements)
    for number, (value, member) in enumerate(zip(elements, members, strict=False)):
        if member_named(value) is not None or not _is_whole(value, member):
            break
        named[number] = Opaque(f".{member.name}", (value,))
    return tuple(named)


def _is_whole(value: Expression, member: Decl) -> bool:
    """Whether the value initializes a whole member, and not only its first part."""
    kind = member.ctype.kind
    if kind not in ("struct", "array") or initial_values(value) is not None:
        return True
    if kind == "array":
        return isinstance(value, Opaque) and value.string is not None
    declaration = value.decl if isinstance(value, (Name, CallExpr)) else None
    return declaration is not None and declaration.ctype.kind == "struct"
