"""Finds the functions that subscripts select from a table of function pointers.

table[t % 2]()            a() if t % 2 == 0, b() if t % 2 == 1
suite.tests[i].run()      function number i of a list in a struct
grid[i][j]()              function number 2*i + j of a table with two columns
"""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.function_tables import (
    is_set_by_initializers,
    may_be_function_pointer,
)
from regionpredict.frontend.syntax import (
    Binary,
    CallExpr,
    Decl,
    Expression,
    Function,
    Index,
    IntLit,
    Member,
    Name,
    Opaque,
    Ternary,
    Unary,
    elements_listed,
    has_side_effects,
    initial_values,
    is_null,
    member_named,
    named_function,
    without_casts,
)
from regionpredict.frontend.syntax.integer_types import type_of

_MOST_ELEMENTS = 200
_MOST_STEPS = 8  # maximum number of members and subscripts from a variable to a function


class SelectedFunctions(NamedTuple):
    """The functions that an expression may select from a table, with "" for a null pointer.

    The value of `subscript` is the index of the selected function. `subscript` is None if there is
    only one function. `others` are the functions in the table that the expression cannot select.
    """

    subscript: Expression | None
    functions: tuple[str, ...]
    others: tuple[str, ...] = ()


def selecting_expression(call: CallExpr) -> Expression | None:
    """Returns the expression that selects the function that a call invokes, or that it passes as
    its only function argument.
    """
    if call.decl is None and call.pointer is not None:
        return call.pointer
    passed = [argument for argument in call.args if is_unknown_function_pointer(argument)]
    return passed[0] if len(passed) == 1 else None


def is_unknown_function_pointer(argument: Expression) -> bool:
    """Returns whether an argument may be a function pointer other than the name of a function."""
    argument = without_cast_or_dereference(argument)
    if named_function(argument) is not None or is_null(argument):
        return False
    if isinstance(argument, Name):
        return may_be_function_pointer(argument.decl.ctype)
    return isinstance(argument, (Index, Member, Ternary))


class _InitializerStep(NamedTuple):
    """A step into an initializer list: to a member, or to an element of an array with `extent`
    elements.
    """

    member: str = ""
    subscript: Expression | None = None
    extent: int = 0


def functions_from_table(
    unit: LinkedUnit, pointer: Expression, function: Function
) -> SelectedFunctions | None:
    """Returns the functions that the expression `pointer` of `function` may select from a table.
    Returns None if the table is unknown or may change.
    """
    pointer = without_cast_or_dereference(initial_value(unit, function, pointer))
    if not isinstance(pointer, (Index, Member)) or not is_set_by_initializers(unit, pointer):
        return None
    steps: list[_InitializerStep] = []
    root = _table_variable(unit, function, pointer, steps)
    if root is None:
        return None
    table = unit.variable_of(root) if root.kind in ("global", "static") else root
    if table.init is None or unit.is_set(table, function):
        return None
    functions = _functions_in(table.init, steps[::-1])
    if functions is None or len(functions) > _MOST_ELEMENTS:
        return None
    index = _linear_position(steps[::-1])
    if index is not None and has_side_effects(index):
        return None
    whole = _functions_in(table.init, [_any_element(step) for step in steps[::-1]]) or []
    others = {name for name in whole if name} - set(functions)
    return SelectedFunctions(index, tuple(functions), tuple(sorted(others)))


def _any_element(step: _InitializerStep) -> _InitializerStep:
    constant = isinstance(step.subscript, IntLit)
    return step._replace(subscript=_ANY) if constant else step


_ANY = Opaque("any")


def _table_variable(
    unit: LinkedUnit, function: Function, place: Expression, steps: list[_InitializerStep]
) -> Decl | None:
    """Returns the variable that contains the table of a selected element.

    The members and subscripts that lead to the element are added to `steps` in reverse order.
    """
    for _ in range(_MOST_STEPS):
        place = without_cast_or_dereference(initial_value(unit, function, place))
        if isinstance(place, Name):
            is_variable = place.decl.kind in ("global", "static", "local")
            return (
                place.decl if is_variable and place.decl.ctype.kind in ("array", "struct") else None
            )
        if isinstance(place, Index):
            extent = type_of(place.base).extent
            whole = (
                extent
                if isinstance(place.base, (Index, Member))
                else _extent_of_table(unit, place.base)
            )
            if type_of(place.base).kind != "array" or not isinstance(whole, IntLit):
                return None
            steps.append(_InitializerStep(subscript=place.index, extent=whole.value))
            place = place.base
        elif isinstance(place, Member) and (base := place.base) is not None:
            steps.append(_InitializerStep(member=place.field.name))
            if not place.arrow:
                place = base
                continue
            target = _target_of_table_pointer(initial_value(unit, function, base))
            if target is None:
                return None
            place = target
        else:
            return None
    return None


def _extent_of_table(unit: LinkedUnit, base: Expression) -> Expression | None:
    if not isinstance(base, Name):
        return None
    decl = unit.variable_of(base.decl) if base.decl.kind in ("global", "static") else base.decl
    return decl.ctype.extent


def _target_of_table_pointer(pointer: Expression) -> Expression | None:
    """Returns the target of a pointer into a table: `&table[i]`, `table + i`, `table`."""
    pointer = without_cast_or_dereference(pointer)
    if isinstance(pointer, Unary) and pointer.op == "&":
        return pointer.operand
    if isinstance(pointer, Binary) and pointer.op == "+" and isinstance(pointer.left, Name):
        return (
            Index(pointer.left, pointer.right, pointer.left.span)
            if _is_array(pointer.left)
            else None
        )
    if isinstance(pointer, Name) and _is_array(pointer):
        return Index(pointer, IntLit(0), pointer.span)
    return None


def _is_array(name: Name) -> bool:
    return name.decl.ctype.kind == "array" and name.decl.kind != "parameter"


def initial_value(unit: LinkedUnit, function: Function, value: Expression) -> Expression:
    """Replaces a local variable without other assignments by its initial value. Returns any other
    expression unchanged.
    """
    for _ in range(_MOST_STEPS):
        if not isinstance(value, Name) or value.decl.kind != "local" or value.decl.init is None:
            return value
        init = value.decl.init
        if initial_values(init) is not None or isinstance(init, CallExpr):
            return value
        if unit.is_set(value.decl, function):
            return value
        value = without_cast_or_dereference(init)
    return value


def _functions_in(value: Expression | None, steps: list[_InitializerStep]) -> list[str] | None:
    """Returns the names of the functions in the part of an initializer to which `steps` lead."""
    if not steps:
        if value is None or is_null(value):
            return [""]
        named = named_function(value)
        return None if named is None else [named.name]
    step, rest = steps[0], steps[1:]
    if step.member:
        return _functions_in(None if value is None else _member_value(value, step.member), rest)
    elements = {} if value is None else elements_listed(value)
    if elements is None or step.extent > _MOST_ELEMENTS:
        return None
    numbers = [step.subscript.value] if isinstance(step.subscript, IntLit) else range(step.extent)
    functions: list[str] = []
    for number in numbers:
        inside = _functions_in(elements.get(number), rest)
        if inside is None:
            return None
        functions += inside
    return functions


def _member_value(value: Expression, member: str) -> Expression | None:
    for listed in initial_values(value) or ():
        named_value = member_named(listed)
        if named_value is not None and named_value[0] == member:
            return named_value[1]
    return None


def _linear_position(steps: list[_InitializerStep]) -> Expression | None:
    """Returns the index of the selected function as an expression of the variable subscripts.
    Returns None if all subscripts are constants.
    """
    whole: Expression | None = None
    for step in steps:
        if step.subscript is None or isinstance(step.subscript, IntLit):
            continue
        if whole is None:
            whole = step.subscript
        else:
            whole = Binary("+", Binary("*", whole, IntLit(step.extent)), step.subscript)
    return whole


def without_cast_or_dereference(expression: Expression) -> Expression:
    """Returns `table[k]` for `(type)table[k]` and `*table[k]`, and other expressions without
    casts.
    """
    expression = without_casts(expression)
    if isinstance(expression, Unary) and expression.op == "*":
        inner = without_cast_or_dereference(expression.operand)
        if isinstance(inner, (Index, Member)):
            return inner
    return expression
