"""The conditions around calls and parallel regions, for counting executions across functions.

for (t = 0; t < nt; t++) { step(); if (t % 10 == 0) report(); }     report() where !(t % 10)
"""

from __future__ import annotations

from collections.abc import Collection

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.definitions import definitions_of
from regionpredict.frontend.lowering.float_conditions import FloatConditions
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.loop_headers import has_constant_step, outer_loop, read_header
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.lowering.table_elements import picked_from_table, picking_in
from regionpredict.frontend.syntax import (
    CallExpr,
    Deciding,
    Decl,
    DeclStmt,
    Expression,
    ExprStmt,
    For,
    Function,
    If,
    Index,
    Member,
    Return,
    Stmt,
    Switch,
    condition_of,
    every_statement,
    inner_statements,
    own_parts,
    show,
    sides_of,
    tested_pointer,
)
from regionpredict.ir import Expr, SerialBranch, Span
from regionpredict.ir.flow import FIRST_ELEMENT

_Counters = dict[str, Span]
_DECIDING = (If, Switch, ExprStmt, DeclStmt, Return)


def serial_branches_of(unit: LinkedUnit, spans: Collection[Span]) -> list[SerialBranch]:
    """Returns the branches of the conditions at `spans`, each with the definitions of its names."""
    branches: list[SerialBranch] = []
    for function in unit.bodies() if spans else ():
        if not _has_place_at(function.body, spans):
            continue
        conditions = _Conditions(unit, function, spans)
        branches += conditions.all()
    return branches


def _has_place_at(body: Stmt, spans: Collection[Span]) -> bool:
    """Returns whether a condition or a call in a function is at one of these places."""
    return any(
        (isinstance(inner, _DECIDING) and inner.span in spans)
        or any(type(part) is CallExpr and part.span in spans for part in own_parts(inner))
        for inner in every_statement(body)
    )


class _Conditions:
    """Lowers the conditions of one function."""

    def __init__(self, unit: LinkedUnit, function: Function, spans: Collection[Span]) -> None:
        self._unit = unit
        self._function = function
        self._spans = spans
        self._context = Context(unit)
        self._floats = FloatConditions(self._context, self._is_set)
        self._known: dict[tuple[Span, int], SerialBranch] = {}

    def all(self) -> list[SerialBranch]:
        self._in(self._function.body, Frame({}), {})
        branches = self._known.values()
        if all(len(branch.condition.names) == len(branch.counters) for branch in branches):
            return list(branches)  # there are no definitions
        definitions = definitions_of(self._unit, self._function, self._context)
        return [branch._replace(definitions=definitions) for branch in branches]

    def _is_set(self, decl: Decl) -> bool:
        return self._unit.is_set(decl, self._function)

    def _in(self, statement: Stmt, frame: Frame, counters: _Counters) -> None:
        if isinstance(statement, For):
            frame = Frame(dict(frame.env))
            counters = self._with_counter(statement, frame, counters)
        elif isinstance(statement, DeclStmt):
            self._initial_value(statement, frame)
        if (
            isinstance(statement, _DECIDING)
            and statement.span in self._spans
            and not self._tests_function_pointer(condition_of(statement))
        ):
            self._sides(statement, frame, counters)
        for inner in own_parts(statement):
            if isinstance(inner, CallExpr) and inner.span in self._spans:
                self._elements(inner, frame, counters)
        for below in inner_statements(statement):
            self._in(below, frame, counters)

    def _tests_function_pointer(self, test: Expression | None) -> bool:
        """Returns whether the test is `table[k] != NULL`. The called target shows whether this
        holds.
        """
        pointer = tested_pointer(test) if test is not None else None
        return isinstance(pointer, (Index, Member)) and bool(self._unit.functions_at(pointer))

    def _with_counter(self, loop: For, frame: Frame, counters: _Counters) -> _Counters:
        header = read_header(loop, self._context, frame)
        name = outer_loop(loop, self._context, frame).variable
        if header is None:
            return counters
        if not has_constant_step(loop, header, self._unit.effects):
            frame.env[header.decl] = self._context.varying(name)
            return counters
        return {**counters, name: loop.span}

    def _initial_value(self, statement: DeclStmt, frame: Frame) -> None:
        """The initial value of a variable without other assignments, as in
        `const int odd = t % 2;`.
        """
        for decl in statement.decls:
            number = decl.ctype.kind in ("int", "float") and decl.kind == "local"
            if not number or decl.init is None or self._is_set(decl):
                continue
            if decl.ctype.kind == "float":
                self._floats.record_initial_value(decl)
                continue
            value = self._context.value(decl.init, frame)
            if not value.has_unreadable_part:  # otherwise, a user can set its name
                frame.env[decl] = value

    def _sides(self, statement: Deciding, frame: Frame, counters: _Counters) -> None:
        for number, side in enumerate(sides_of(statement)):
            value = self._floats.value(side.condition, frame)
            self._add(statement.span, number, value, show(side.condition), counters)

    def _elements(self, call: CallExpr, frame: Frame, counters: _Counters) -> None:
        """The subscripts that select the called function from a table."""
        pointer = picking_in(call)
        picked = (
            picked_from_table(self._unit, pointer, self._function) if pointer is not None else None
        )
        if picked is None or picked.subscript is None:
            return
        index, text = self._context.value(picked.subscript, frame), show(picked.subscript)
        for number in range(len(picked.functions)):
            value = Expr.atom("eq", index, Expr.const(number))
            self._add(call.span, FIRST_ELEMENT + number, value, f"{text} == {number}", counters)

    def _add(self, span: Span, side: int, value: Expr, text: str, counters: _Counters) -> None:
        own = tuple((name, counters[name]) for name in sorted(value.names & counters.keys()))
        handed = self._parameters(value.names)
        branch = SerialBranch(span, side, value, text, own, (), handed)
        known = self._known.setdefault((span, side), branch)
        if (known.condition, known.text) != (value, text):  # two branches from one macro
            unknown = Expr.atom("varying", label=text)
            self._known[span, side] = branch._replace(condition=unknown)

    def _parameters(self, names: Collection[str]) -> tuple[tuple[str, int], ...]:
        """Returns the parameters that the function does not change."""
        own = ((name, self._context.invariants.get(name)) for name in sorted(names))
        return tuple(
            (name, self._function.parameters.index(decl)) for name, decl in own
            if decl is not None and decl in self._function.parameters and not self._is_set(decl)
        )  # fmt: skip
