"""Elements of constant function tables.

static void (*const kernels[])(void) = {copy, scale};                   kernels[1]() is scale()
static const struct test all[] = {{"copy", copy}, {"scale", scale}};    all[1].run() is scale()
"""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit, is_null, named_function
from regionpredict.frontend.syntax import (
    CType,
    Decl,
    Expression,
    Index,
    IntLit,
    Member,
    Name,
    elements_listed,
    initial_values,
    member_named,
)

_NOTHING = IntLit(0)


class TableCall(NamedTuple):
    """A call through an element of a table. `base` is the table or a pointer into it. `subscript`
    is None for the element that a pointer is at. `member` holds the function."""

    base: Name
    subscript: Expression | None
    member: str


def table_call(pointer: Expression) -> TableCall | None:
    """The table element that `kernels[k]`, `all[k].run` or `test->run` selects. None for other
    expressions."""
    member = ""
    if isinstance(pointer, Member):
        member = pointer.field.name
        if pointer.arrow and isinstance(pointer.base, Name):
            return TableCall(pointer.base, None, member)
        if pointer.arrow or pointer.base is None:
            return None
        pointer = pointer.base
    if isinstance(pointer, Index) and isinstance(pointer.base, Name):
        return TableCall(pointer.base, pointer.index, member)
    return None


def rows_of(unit: LinkedUnit, table: Decl, pointer: Expression) -> tuple[Expression, ...] | None:
    """The values of the table that `pointer` points into, one per element.

    None if they may change, or if some elements have no value.
    """
    if table.kind in ("global", "static"):
        table = unit.variable_of(table)
    ctype = table.ctype
    if ctype.kind != "array" or not ctype.holds_sizes or table.init is None:
        return None
    elements = elements_listed(table.init)
    if not elements or not is_listed(unit, pointer):
        return None
    return tuple(elements.get(at, _NOTHING) for at in range(max(elements) + 1))


def is_listed(unit: LinkedUnit, pointer: Expression) -> bool:
    """Whether only initializers set the function at a place."""
    held = unit.functions_at(pointer)
    return bool(held) and all(put.listed for put in held or ())


def function_in(row: Expression, member: str) -> str | None:
    """The function's name in an element, "" for a null pointer. None if unknown."""
    value = _cell(row, member)
    if value is None or is_null(value):
        return "" if value is not None or member else None
    named = named_function(value)
    return None if named is None else named.name


def is_last(row: Expression, member: str) -> bool:
    """Whether an element is null and so ends the table."""
    value = _cell(row, member)
    return value is None or is_null(value)


def is_pointer_to_function(ctype: CType) -> bool:
    """Whether a type may be a pointer to a function, so neither a number nor a struct."""
    return ctype.kind == "pointer" and (
        ctype.element is None or ctype.element.kind not in ("float", "struct", "pointer", "array")
    )


def _cell(row: Expression, member: str) -> Expression | None:
    """The value of an element's member. None if its initializer omits it."""
    if not member:
        return row
    for value in initial_values(row) or ():
        given = member_named(value)
        if given is not None and given[0] == member:
            return given[1]
    return None
