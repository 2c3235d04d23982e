"""Reads the elements of constant tables of functions.

static void (*const kernels[])(void) = {copy, scale};                   kernels[1]() is scale()
static const struct test all[] = {{"copy", copy}, {"scale", scale}};    all[1].run() is scale()
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
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
    is_null,
    member_named,
    named_function,
)

_MOST_ROWS = 200


class TableCall(NamedTuple):
    """A call through an element of a table of functions.

    `base` is the table or a pointer into it. `subscript` is None if the pointer points to the
    element itself. `member` is the struct member that contains the function, or "".
    """

    base: Name
    subscript: Expression | None
    member: str


def table_call(pointer: Expression) -> TableCall | None:
    """Returns the parts of a table access such as `kernels[k]`, `all[k].run` or `test->run`.
    Returns None for other expressions.
    """
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


Rows = tuple[Mapping[str, str], ...]
"""The function names in each element of a table, by struct member. The name "=" marks a value that
is not a function.
"""


def table_rows(unit: LinkedUnit, table: Decl) -> Rows:
    """Returns the functions in a table's initializer, element by element. The result is empty for
    any other variable.
    """
    table = unit.variable_of(table)
    elements = elements_listed(table.init) or {}
    extent = table.ctype.extent
    if table.ctype.kind != "array" or table.kind == "parameter" or not elements:
        return ()
    if not isinstance(extent, IntLit) or extent.value > _MOST_ROWS:
        return ()
    return tuple(_functions_in(elements.get(at)) for at in range(extent.value))


def _functions_in(element: Expression | None) -> Mapping[str, str]:
    if element is None:
        return {}
    listed = initial_values(element)
    given = [("", element)] if listed is None else filter(None, map(member_named, listed))
    named = ((member, value, named_function(value)) for member, value in given)
    return {
        member: "=" if function is None else function.name
        for member, value, function in named if not is_null(value)
    }  # fmt: skip


def is_set_by_initializers(unit: LinkedUnit, pointer: Expression) -> bool:
    """Returns whether only initializers set the function pointer of a table or member."""
    held = unit.functions_at(pointer)
    return bool(held) and all(put.listed for put in held or ())


def may_be_function_pointer(ctype: CType) -> bool:
    """Returns whether a type may be a function pointer, as opposed to a pointer to data."""
    return ctype.kind == "pointer" and (
        ctype.element is None or ctype.element.kind not in ("float", "struct", "pointer", "array")
    )
