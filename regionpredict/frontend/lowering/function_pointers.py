"""Which function a call through a variable means, where one function alone is ever put there.

static double (*kernel)(double) = NULL;
int main(void) { kernel = square; ... }         kernel(x)  ->  square(x)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.definitions import writes_in
from regionpredict.frontend.syntax import (
    Cast,
    Decl,
    Expression,
    Function,
    IntLit,
    Name,
    Unary,
)

_MAX_HANDED = 4  # variables from which a pointer was taken


def named_function(value: Expression | None) -> Decl | None:
    """The function that an expression names: `f`, `&f`, `*f`, `(type)f`."""
    while True:
        if isinstance(value, Cast) or (isinstance(value, Unary) and value.op in ("&", "*")):
            value = value.operand
        elif isinstance(value, Name) and value.decl.kind == "function":
            return value.decl
        else:
            return None


def pointed_function(
    unit: LinkedUnit, pointer: Decl, function: Function, depth: int = 0
) -> Decl | None:
    """The one function that a variable, seen from `function`, can hold; None where nothing tells.

    A null pointer calls nothing, so it is no second value.
    """
    if depth > _MAX_HANDED:
        return None
    setting = [function]
    if pointer.kind in ("global", "static"):
        pointer = unit.variable_of(pointer)
        setting = unit.writers_of(pointer)
    held = [_meant(unit, value, home, depth) for value, home in _written(unit, pointer, setting)
            if not _is_null(value)]  # fmt: skip
    if pointer.kind == "parameter":
        if held or pointer not in function.parameters:
            return None
        return _handed(unit, function, function.parameters.index(pointer), depth)
    if pointer.init is not None and not _is_null(pointer.init):
        held.append(_meant(unit, pointer.init, function, depth))
    return _agreed(held)


def _meant(
    unit: LinkedUnit, value: Expression | None, function: Function, depth: int
) -> Decl | None:
    """The function that a value names, or that the variable which it is can hold."""
    own = named_function(value)
    if own is None and isinstance(value, Name):
        return pointed_function(unit, value.decl, function, depth + 1)
    return own


def _handed(unit: LinkedUnit, function: Function, position: int, depth: int) -> Decl | None:
    """The function that all calls of a function hand over at a position."""
    declarations: list[Decl | None] = []
    for caller, call in unit.calls_of(function.decl):
        if position >= len(call.args):
            return None
        declarations.append(_meant(unit, call.args[position], caller, depth))
    return _agreed(declarations)


def _agreed(declarations: list[Decl | None]) -> Decl | None:
    first = declarations[0] if declarations else None
    if first is None:
        return None
    same = all(
        declaration is first
        or (
            declaration is not None
            and bool(declaration.symbol)
            and declaration.symbol == first.symbol
        )
        for declaration in declarations
    )
    return first if same else None


def _is_null(value: Expression | None) -> bool:
    while isinstance(value, Cast):
        value = value.operand
    return isinstance(value, IntLit) and value.value == 0


def _written(
    unit: LinkedUnit, pointer: Decl, functions: Iterable[Function]
) -> Iterator[tuple[Expression | None, Function]]:
    """All that functions assign to a variable; None for what sets it in another way."""
    for function in functions:
        for target, writes in writes_in(unit, function).items():
            if target is pointer or (target.symbol and target.symbol == pointer.symbol):
                yield from ((value, function) for value, _ in writes)
