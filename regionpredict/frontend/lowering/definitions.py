"""What the source itself says of the names in a region: `int ni = 4000;`, `kernel(ni, ...)`.

A name is defined where its one value can be seen: an initialiser or a single assignment that
nothing overrides, or, for a parameter, the argument that every call in the unit agrees on.
"""

from __future__ import annotations

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.symbolic_values import Context, Frame
from regionpredict.frontend.syntax import (
    Assign,
    Decl,
    Expression,
    ExprStmt,
    For,
    Function,
    Name,
    Stmt,
    While,
    Writes,
    every_expression,
    inner_statements,
    own_expressions,
    set_place,
)
from regionpredict.ir import Definition, Expr

_MAX_STEPS = 200


def definitions_of(
    unit: LinkedUnit, function: Function, context: Context
) -> tuple[Definition, ...]:
    """Definitions of the region's free names, and of the names in those definitions in turn."""
    finder = _Finder(unit, context)
    homes: dict[str, Function] = dict.fromkeys(context.invariants, function)
    definitions: dict[str, Definition] = {}
    for name, field in list(context.members.items()):
        if field in unit.lengths:  # of a container: `domain.m_x[]`
            length = unit.lengths[field]
            value = context.value(length.value, Frame({}))
            homes.update((other, length.function) for other in value.names if other not in homes)
            definitions[f"{name}[]"] = Definition(f"{name}[]", value, length.function.span)
    waiting = sorted(context.invariants)
    steps = 0
    while waiting and steps < _MAX_STEPS:
        steps += 1
        name = waiting.pop()
        decl = context.invariants.get(name)
        if decl is None or name in definitions:
            continue
        result = finder.value_of(decl, homes.get(name, function))
        if result is None:
            continue
        value, home = result
        if name in value.names:
            continue
        definitions[name] = Definition(name, value, decl.span)
        for other in value.names:
            homes.setdefault(other, home)
            waiting.append(other)
    return tuple(definitions[name] for name in sorted(definitions))


class _Finder:
    def __init__(self, unit: LinkedUnit, context: Context) -> None:
        self.unit = unit
        self.context = context

    def value_of(self, decl: Decl, function: Function) -> tuple[Expr, Function] | None:
        """The defining value and the function whose names it speaks of, or None."""
        if decl.ctype.kind != "int":
            return None
        if decl.kind in ("global", "static"):
            decl = self.unit.variable_of(decl)
            writers = self.unit.writers_of(decl)
            if decl.init is not None and not writers:
                return self.context.value(decl.init, Frame({})), function
            return self._only_write(decl, writers) if decl.init is None else None
        if decl.kind == "parameter" and decl not in function.parameters:
            return None
        writes = self._writes_in(function).get(decl, [])
        if decl.kind == "parameter":
            return self._argument(decl, function) if not writes else None
        if decl.init is not None and not writes:
            return self.context.value(decl.init, Frame({})), function
        if decl.init is None and len(writes) == 1 and writes[0][0] is not None and not writes[0][1]:
            return self.context.value(writes[0][0], Frame({})), function
        return None

    def _only_write(self, decl: Decl, writers: list[Function]) -> tuple[Expr, Function] | None:
        """The value of the program's one assignment to a global (`lastrow = NA;` in main)."""
        if len(writers) != 1:
            return None
        (function,) = writers
        writes = [
            write
            for target, found in self._writes_in(function).items()
            if target is decl or (target.symbol and target.symbol == decl.symbol)
            for write in found
        ]
        if len(writes) != 1:
            return None
        ((value, looped),) = writes
        if value is None or looped:
            return None
        return self.context.value(value, Frame({})), function

    def _argument(self, decl: Decl, function: Function) -> tuple[Expr, Function] | None:
        position = function.parameters.index(decl)
        values: list[tuple[Expr, Function]] = []
        for caller, call in self.unit.calls_of(function.decl):
            if caller.decl is function.decl:
                continue
            if position >= len(call.args):
                return None
            values.append((self.context.value(call.args[position], Frame({})), caller))
        if values and all(value == values[0][0] for value, _ in values):
            return values[0]
        return None

    def _writes_in(self, function: Function) -> Writes:
        return writes_in(self.unit, function)


def writes_in(unit: LinkedUnit, function: Function) -> Writes:
    """What is written to the variables that a function names, looked for once."""
    if function not in unit.writes:
        writes: Writes = {}
        _collect_writes(function.body, writes, looped=False)
        unit.writes[function] = writes
    return unit.writes[function]


def _collect_writes(
    statement: Stmt, writes: dict[Decl, list[tuple[Expression | None, bool]]], *, looped: bool
) -> None:
    """Every write of a plain variable: the value where it is `=`, and whether a loop repeats it."""
    if isinstance(statement, ExprStmt):
        plain = statement.expr
        if isinstance(plain, Assign) and plain.op == "=" and isinstance(plain.left, Name):
            writes.setdefault(plain.left.decl, []).append((plain.right, looped))
            _collect_from(plain.right, writes)
            return
    for expression in own_expressions(statement):
        _collect_from(expression, writes)
    inside = looped or isinstance(statement, (For, While))
    for inner in inner_statements(statement):
        _collect_writes(inner, writes, looped=inside)


def _collect_from(
    expression: Expression, writes: dict[Decl, list[tuple[Expression | None, bool]]]
) -> None:
    for inner in every_expression(expression):
        target = set_place(inner)
        if isinstance(target, Name):
            writes.setdefault(target.decl, []).append((None, True))
