"""Finds the possible targets of a call through a variable, a member or a table: all functions that
the program stores in it.

static double (*kernel)(double) = NULL;
int main(void) { kernel = square; ... }         kernel(x)  ->  square(x)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

from regionpredict.frontend.linking import (
    LinkedUnit,
    place_of,
    values_in,
)
from regionpredict.frontend.syntax import (
    Assign,
    CallExpr,
    Decl,
    Expression,
    Function,
    Index,
    Member,
    Name,
    Return,
    Stmt,
    every_expression,
    every_statement,
    expressions_in,
    initial_values,
    is_null,
    is_variable,
    member_named,
    named_function,
    set_place,
    show,
    tested_pointer,
)

_MAX_SOURCES = 2000  # maximum number of variables, members and functions that one search visits

Functions = tuple[Decl, ...]
_PossibleValues = tuple[list[tuple[Expression, Function | None]], bool]


class Targets(NamedTuple):
    """The functions to which a pointer may point according to the sources. `others` says that it
    may also point to functions outside the sources.
    """

    functions: Functions = ()
    others: bool = False


def pointed_functions(unit: LinkedUnit, pointer: Expression, function: Function) -> Targets:
    """Returns the functions to which an expression in `function` may point.

    The search follows assignments, arguments, returned values and copied members back to the names
    of functions. Null pointers are ignored.
    """
    found: list[Decl] = []
    others = False
    waiting: list[tuple[Expression, Function | None]] = [(pointer, function)]
    seen = set[Hashable]()
    while waiting:
        value, home = waiting.pop()
        for source in values_in(value):
            named = named_function(source)
            if named is not None:
                found.append(named)
                continue
            key = _storage_of(source, home)
            if is_null(source) or key in seen:
                continue
            if key is None or len(seen) == _MAX_SOURCES:
                others = True
                continue
            seen.add(key)
            more, unknown = _possible_values(unit, source, home)
            waiting += more
            others = others or unknown
    return Targets(_without_duplicates(found), others)


def called_functions(unit: LinkedUnit, call: CallExpr, function: Function) -> Functions:
    """Returns the possible targets of a call through a pointer in `function`. The result is empty
    for any other call.
    """
    if call.decl is not None or call.pointer is None:
        return ()
    return pointed_functions(unit, call.pointer, function).functions


def optional_call(
    condition: Expression, side: Stmt, targets: Callable[[CallExpr], Functions]
) -> CallExpr | None:
    """Returns the call in `if (hook) hook(p);`, if `targets` returns no function for it. Returns
    None for any other statement.

    A hook lets users of a library add a function. The library itself does not assign it.
    """
    pointer = tested_pointer(condition)
    if not isinstance(pointer, (Name, Member, Index)):
        return None
    calls = (inner for inner in expressions_in(side) if isinstance(inner, CallExpr)
             and inner.decl is None and inner.pointer is not None)  # fmt: skip
    return next((call for call in calls if call.pointer is not None
                 and show(call.pointer) == show(pointer) and not targets(call)), None)  # fmt: skip


def _storage_of(source: Expression, home: Function | None) -> Hashable:
    """Returns a key for the variable, member, table or call that supplies a value. Returns None for
    any other expression.
    """
    if isinstance(source, Name):
        return source.decl, source.decl.kind in ("local", "parameter") and home
    if isinstance(source, CallExpr):
        return source.decl
    return place_of(source)


def _possible_values(
    unit: LinkedUnit, source: Expression, home: Function | None
) -> _PossibleValues:
    """Returns the values that a variable, member or call can have, each with the function that
    contains it, and whether other values are possible.
    """
    if isinstance(source, Name):
        return _values_of_variable(unit, source.decl, home)
    if isinstance(source, CallExpr):
        return _returned_values(unit, source)
    stored = unit.functions_at(source)
    known = unit.some_functions_at(source) if stored is None else stored
    return [(store.value, store.function) for store in known], stored is None


def _values_of_variable(
    unit: LinkedUnit, pointer: Decl, function: Function | None
) -> _PossibleValues:
    setters = [function] if function is not None else []
    if pointer.kind in ("global", "static"):
        pointer = unit.variable_of(pointer)
        setters = unit.writers_of(pointer)
    values: list[tuple[Expression, Function | None]] = []
    unknown = False
    for home in setters:
        for write in unit.changes_in(home).setting(pointer):
            if isinstance(write, Assign) and write.op == "=":
                values.append((write.right, home))
            else:
                unknown = True
    if pointer.init is not None:
        values.append((pointer.init, function))
    if pointer.kind == "parameter":
        if function is None or pointer not in function.parameters:
            return values, True
        position = function.parameters.index(pointer)
        calls = unit.calls_of(function.decl)
        values += [(call.args[position], caller) for caller, call in calls
                   if position < len(call.args)]  # fmt: skip
        unknown = unknown or any(position >= len(call.args) for _, call in calls)
    return values, unknown or not values


def _returned_values(unit: LinkedUnit, call: CallExpr) -> _PossibleValues:
    body = unit.body_of(call.decl) if call.decl is not None else None
    if body is None:
        return [], True
    return [(statement.value, body) for statement in every_statement(body.body)
            if isinstance(statement, Return) and statement.value is not None], False  # fmt: skip


def member_functions(unit: LinkedUnit, function: Function, struct: Decl, member: str) -> Functions:
    """Returns the functions that `function` assigns to a member of its local struct. The result is
    empty if the member may have other values.

    F.function = integrand; struct rule F = {.function = integrand};
    """
    if struct.kind != "local" or struct.ctype.kind != "struct":
        return ()  # other functions may assign the member
    values: list[Expression] = []
    for inner in expressions_in(function.body):
        if isinstance(inner, Assign):
            left = inner.left
            if is_variable(left, struct):
                return ()  # the whole struct is assigned
            if (
                isinstance(left, Member)
                and left.field.name == member
                and is_variable(left.base, struct)
            ):
                values.append(inner.right)
        elif isinstance(inner, CallExpr) and _may_assign(unit, inner, struct, member):
            return ()
    if struct.init is not None:
        listed = initial_values(struct.init)
        if listed is None:
            return ()
        named = filter(None, map(member_named, listed))
        values += [value for name, value in named if name == member]
    named_functions = [decl for decl in map(named_function, values) if decl is not None]
    return _without_duplicates(named_functions) if len(named_functions) == len(values) else ()


def _may_assign(unit: LinkedUnit, call: CallExpr, struct: Decl, member: str) -> bool:
    """Returns whether a call that receives a struct may assign the member. A function without a
    visible body may assign it.

    Functions that the called function calls are ignored, because they rarely assign the member.
    """
    if not any(
        is_variable(inner, struct) for argument in call.args for inner in every_expression(argument)
    ):
        return False
    body = unit.body_of(call.decl) if call.decl is not None else None
    return body is None or any(
        isinstance(place := set_place(inner), Member) and place.field.name == member
        for inner in expressions_in(body.body)
    )


def _without_duplicates(found: Iterable[Decl]) -> Functions:
    functions: dict[tuple[str, object], Decl] = {}
    for decl in found:
        functions.setdefault((decl.name, decl.symbol or decl.span), decl)
    ordered = sorted(functions, key=lambda key: (key[0], str(key[1])))
    return tuple(functions[key] for key in ordered)
