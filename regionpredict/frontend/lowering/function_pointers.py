"""The possible targets of a call through a variable, a member or a table: all functions that the
program stores there.

static double (*kernel)(double) = NULL;
int main(void) { kernel = square; ... }         kernel(x)  ->  square(x)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from regionpredict.frontend.linking import (
    LinkedUnit,
    is_null,
    named_function,
    place_of,
    values_in,
)
from regionpredict.frontend.lowering.definitions import writes_in
from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Decl,
    Expression,
    Function,
    Index,
    Member,
    Name,
    Stmt,
    every_expression,
    expressions_in,
    initial_values,
    member_named,
    set_place,
    show,
)

_MAX_HANDED = 4  # maximum length of a chain of pointer variables

Functions = tuple[Decl, ...]


def pointed_functions(
    unit: LinkedUnit, pointer: Expression, function: Function, depth: int = 0
) -> Functions | None:
    """The possible functions of an expression in `function`. None if unknown.

    A null pointer is ignored, because it cannot be called.
    """
    answers: list[Functions | None] = []
    for value in values_in(pointer):
        named = named_function(value)
        if named is not None:
            answers.append((named,))
        elif isinstance(value, Name):
            answers.append(_held(unit, value.decl, function, depth))
        elif isinstance(value, (Member, Index)):
            answers.append(_stored(unit, value, depth))
        elif not is_null(value):
            answers.append(None)
    return together(answers)


def optional_call(
    condition: Expression, side: Stmt, targets: Callable[[CallExpr], Functions | None]
) -> CallExpr | None:
    """The call in `if (hook) hook(p);`, if `targets` knows no function of it. Otherwise None.

    Hooks are for users of a library. The sources of the library itself leave them empty.
    """
    pointer = condition
    if isinstance(pointer, Binary) and pointer.op == "!=" and is_null(pointer.right):
        pointer = pointer.left
    if not isinstance(pointer, (Name, Member, Index)):
        return None
    calls = (inner for inner in expressions_in(side) if isinstance(inner, CallExpr)
             and inner.decl is None and inner.pointer is not None)  # fmt: skip
    return next((call for call in calls if call.pointer is not None
                 and show(call.pointer) == show(pointer) and not targets(call)), None)  # fmt: skip


def _held(unit: LinkedUnit, pointer: Decl, function: Function, depth: int) -> Functions | None:
    """The functions that a variable of `function` can hold."""
    if depth > _MAX_HANDED:
        return None
    setting = [function]
    if pointer.kind in ("global", "static"):
        pointer = unit.variable_of(pointer)
        setting = unit.writers_of(pointer)
    held = [_meant(unit, value, home, depth) for value, home in _written(unit, pointer, setting)
            if not is_null(value)]  # fmt: skip
    if pointer.kind == "parameter":
        if held or pointer not in function.parameters:
            return None
        return _passed_functions(unit, function, function.parameters.index(pointer), depth)
    if pointer.init is not None and not is_null(pointer.init):
        held.append(_meant(unit, pointer.init, function, depth))
    return together(held)


def _meant(
    unit: LinkedUnit, value: Expression | None, function: Function, depth: int
) -> Functions | None:
    return None if value is None else pointed_functions(unit, value, function, depth + 1)


def may_hold_others(unit: LinkedUnit, place: Member | Index) -> bool:
    """Whether a member or an element of a table may hold a function that the sources do not
    show.
    """
    return unit.functions_at(place) is None or None in _answers(unit, place, 0)


def _stored(unit: LinkedUnit, place: Member | Index, depth: int) -> Functions | None:
    """The functions that a member or an element of a table can hold, as far as the sources show
    them.
    """
    return None if depth > _MAX_HANDED else together(filter(None, _answers(unit, place, depth)))


def _answers(unit: LinkedUnit, place: Member | Index, depth: int) -> list[Functions | None]:
    """The functions of each value that the program stores there, or in a member from which it is
    copied. None for other values, if the program stores them there itself.
    """
    answers: list[Functions | None] = []
    waiting, seen = [place], {place_of(place)}
    while waiting:  # a table of functions may be copied between many structs
        source = waiting.pop()
        stored = unit.functions_at(source)
        for value, home, _ in unit.some_functions_at(source) if stored is None else stored:
            named = named_function(value)
            if named is not None:
                answers.append((named,))
            elif isinstance(value, (Member, Index)) and place_of(value) is not None:
                if place_of(value) not in seen:
                    seen.add(place_of(value))
                    waiting.append(value)
            else:
                held = pointed_functions(unit, value, home, depth + 1) if home is not None else None
                if held is not None or source is place:
                    answers.append(held)
    return answers


def _passed_functions(
    unit: LinkedUnit, function: Function, position: int, depth: int
) -> Functions | None:
    """The functions that all calls of a function pass at a position."""
    answers: list[Functions | None] = []
    for caller, call in unit.calls_of(function.decl):
        if position >= len(call.args):
            return None
        if not is_null(call.args[position]):
            answers.append(_meant(unit, call.args[position], caller, depth))
    return together(answers)


def member_functions(
    unit: LinkedUnit, function: Function, struct: Decl, member: str
) -> Functions | None:
    """The functions that a function assigns to a member of its local struct. None if another value
    is possible, or if there is none.

    F.function = integrand;        struct rule F = {.function = integrand};
    """
    if struct.kind != "local" or struct.ctype.kind != "struct":
        return None  # others may assign it
    values: list[Expression] = []
    for inner in expressions_in(function.body):
        if isinstance(inner, Assign):
            left = inner.left
            if _is(left, struct):
                return None  # as a whole
            if isinstance(left, Member) and left.field.name == member and _is(left.base, struct):
                values.append(inner.right)
        elif isinstance(inner, CallExpr) and _may_assign(unit, inner, struct, member):
            return None
    if struct.init is not None:
        listed = initial_values(struct.init)
        if listed is None:
            return None
        named = filter(None, map(member_named, listed))
        values += [value for name, value in named if name == member]
    return together(None if decl is None else (decl,) for decl in map(named_function, values))


def _is(expression: Expression | None, decl: Decl) -> bool:
    return isinstance(expression, Name) and expression.decl is decl


def _may_assign(unit: LinkedUnit, call: CallExpr, struct: Decl, member: str) -> bool:
    """Whether a call that receives the address of a struct assigns its member, or passes it to an
    unknown function.

    Functions that it calls are not followed. They rarely set what they are given to use.
    """
    if not any(_is(inner, struct) for given in call.args for inner in every_expression(given)):
        return False
    body = unit.body_of(call.decl) if call.decl is not None else None
    return body is None or any(
        isinstance(place := set_place(inner), Member) and place.field.name == member
        for inner in expressions_in(body.body)
    )


def together(answers: Iterable[Functions | None]) -> Functions | None:
    """The union of several answers, without duplicates.

    None if it is empty, or if one answer is unknown.
    """
    functions: dict[tuple[str, object], Decl] = {}
    for some in answers:
        if some is None:
            return None
        for decl in some:
            functions.setdefault((decl.name, decl.symbol or decl.span), decl)
    ordered = sorted(functions, key=lambda key: (key[0], str(key[1])))
    return tuple(functions[key] for key in ordered) or None


def _written(
    unit: LinkedUnit, pointer: Decl, functions: Iterable[Function]
) -> Iterator[tuple[Expression | None, Function]]:
    """All values that functions assign to a variable. None if it is set in another way."""
    for function in functions:
        for target, writes in writes_in(unit, function).items():
            if target is pointer or (target.symbol and target.symbol == pointer.symbol):
                yield from ((value, function) for value, _ in writes)
