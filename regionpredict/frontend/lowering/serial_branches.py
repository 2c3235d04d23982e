"""Lowers the conditions around calls and parallel regions, to count executions across functions.

for (t = 0; t < nt; t++) { step(); if (t % 10 == 0) report(); }     report() if !(t % 10)
"""

from __future__ import annotations

from collections.abc import Collection

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.definitions import definitions_of
from regionpredict.frontend.lowering.float_conditions import FloatConditions
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.loop_headers import has_constant_step, outer_loop, read_header
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.lowering.table_elements import (
    functions_from_table,
    selecting_expression,
)
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
        if not _has_condition_at(function.body, spans):
            continue
        conditions = _ConditionLowering(unit, function, spans)
        branches += conditions.lower_all()
    return branches


def _has_condition_at(body: Stmt, spans: Collection[Span]) -> bool:
    """Returns whether a condition or a call in a function body is at one of these positions."""
    return any(
        (isinstance(inner, _DECIDING) and inner.span in spans)
        or any(type(part) is CallExpr and part.span in spans for part in own_parts(inner))
        for inner in every_statement(body)
    )


class _ConditionLowering:
    """Lowers the conditions of one function."""

    def __init__(self, unit: LinkedUnit, function: Function, spans: Collection[Span]) -> None:
        self._unit = unit
        self._function = function
        self._spans = spans
        self._context = Context(unit)
        self._floats = FloatConditions(self._context, self._is_set)
        self._known: dict[tuple[Span, int], SerialBranch] = {}

    def lower_all(self) -> list[SerialBranch]:
        self._lower_statement(self._function.body, Frame({}), {})
        branches = self._known.values()
        if all(len(branch.condition.names) == len(branch.counters) for branch in branches):
            return list(branches)  # only loop counters occur, which need no definitions
        definitions = definitions_of(self._unit, self._function, self._context)
        return [branch._replace(definitions=definitions) for branch in branches]

    def _is_set(self, decl: Decl) -> bool:
        return self._unit.is_set(decl, self._function)

    def _lower_statement(self, statement: Stmt, frame: Frame, counters: _Counters) -> None:
        if isinstance(statement, For):
            frame = Frame(dict(frame.env))
            counters = self._with_counter(statement, frame, counters)
        elif isinstance(statement, DeclStmt):
            self._record_initial_values(statement, frame)
        if (
            isinstance(statement, _DECIDING)
            and statement.span in self._spans
            and not self._tests_function_pointer(condition_of(statement))
        ):
            self._add_branches(statement, frame, counters)
        for inner in own_parts(statement):
            if isinstance(inner, CallExpr) and inner.span in self._spans:
                self._add_table_elements(inner, frame, counters)
        for below in inner_statements(statement):
            self._lower_statement(below, frame, counters)

    def _tests_function_pointer(self, test: Expression | None) -> bool:
        """Returns whether the test is `table[k] != NULL`. The called target shows whether this
        initial_values.
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

    def _record_initial_values(self, statement: DeclStmt, frame: Frame) -> None:
        """Records the initial values of variables without other assignments, as in `const int odd =
        t % 2;`.
        """
        for decl in statement.decls:
            number = decl.ctype.kind in ("int", "float") and decl.kind == "local"
            if not number or decl.init is None or self._is_set(decl):
                continue
            if decl.ctype.kind == "float":
                self._floats.record_initial_value(decl)
                continue
            value = self._context.value(decl.init, frame)
            if not value.has_unreadable_part:  # otherwise, users can set the variable by name
                frame.env[decl] = value

    def _add_branches(self, statement: Deciding, frame: Frame, counters: _Counters) -> None:
        for number, side in enumerate(sides_of(statement)):
            value = self._floats.value(side.condition, frame)
            self._add(statement.span, number, value, show(side.condition), counters)

    def _add_table_elements(self, call: CallExpr, frame: Frame, counters: _Counters) -> None:
        """Adds a branch per function that the subscripts of a call may select from a table."""
        pointer = selecting_expression(call)
        selected = (
            functions_from_table(self._unit, pointer, self._function)
            if pointer is not None
            else None
        )
        if selected is None or selected.subscript is None:
            return
        index, text = self._context.value(selected.subscript, frame), show(selected.subscript)
        for number in range(len(selected.functions)):
            value = Expr.atom("eq", index, Expr.const(number))
            self._add(call.span, FIRST_ELEMENT + number, value, f"{text} == {number}", counters)

    def _add(self, span: Span, side: int, value: Expr, text: str, counters: _Counters) -> None:
        own = tuple((name, counters[name]) for name in sorted(value.names & counters.keys()))
        parameters = self._unchanged_parameters(value.names)
        branch = SerialBranch(span, side, value, text, own, (), parameters)
        known = self._known.setdefault((span, side), branch)
        if (known.condition, known.text) != (value, text):  # a macro expands to two conditions
            unknown = Expr.atom("varying", label=text)
            self._known[span, side] = branch._replace(condition=unknown)

    def _unchanged_parameters(self, names: Collection[str]) -> tuple[tuple[str, int], ...]:
        """Returns the names that are unchanged parameters of the function, with their positions."""
        own = ((name, self._context.invariants.get(name)) for name in sorted(names))
        return tuple(
            (name, self._function.parameters.index(decl)) for name, decl in own
            if decl is not None and decl in self._function.parameters and not self._is_set(decl)
        )  # fmt: skip
