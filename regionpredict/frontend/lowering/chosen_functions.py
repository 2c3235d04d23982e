"""Finds the targets of calls through function pointers, to count the executions of each function.

    for (int k = 0; k < 3; k++) kernels[k]();       each function of the table once
    ops->step(grid);                                any function that the program assigns to `step`
    repeat(10, ops->step);                          passes any of these functions

`analysis/callbacks.py` resolves calls through a parameter from the callers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.function_pointers import pointed_functions
from regionpredict.frontend.lowering.function_table_arguments import (
    bound_parameter,
    table_parameter_targets,
)
from regionpredict.frontend.lowering.function_tables import (
    is_set_by_initializers,
    may_be_function_pointer,
    table_call,
    table_rows,
)
from regionpredict.frontend.lowering.loop_headers import (
    Header,
    has_constant_step,
    read_header,
    start_expression,
    start_value,
    steps_of,
)
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.lowering.table_elements import (
    functions_from_table,
    initial_value,
    is_unknown_function_pointer,
    selecting_expression,
    without_cast_or_dereference,
)
from regionpredict.frontend.syntax import (
    Around,
    Binary,
    CallExpr,
    Decl,
    Expression,
    For,
    Function,
    If,
    Index,
    Jump,
    Name,
    Return,
    Switch,
    Ternary,
    Unary,
    every_expression,
    every_statement,
    expressions_in,
    is_null,
    is_variable,
    nested,
    own_expressions,
    own_parts,
    show,
    tested_pointer,
)
from regionpredict.ir import Expr, Span
from regionpredict.ir.flow import CallThroughTableParameter, Choice

CallKey = tuple[Span, str]
"""The source position of a call, and the name of the function or the text of its pointer."""


class _CountedLoop(NamedTuple):
    """A loop around a call, with its counter. `header` is None if the loop ends at a null element
    of a table.
    """

    loop: For
    decl: Decl
    header: Header | None


def choices_of(unit: LinkedUnit) -> dict[CallKey, tuple[Choice, ...]]:
    """Returns the possible targets of all calls of a unit through function pointers."""
    choices: dict[CallKey, tuple[Choice, ...]] = {}
    for function in unit.bodies():
        calls = _Calls(unit, function)
        for call, enclosing in calls.calls_through_pointers():
            choices_found = calls.choices(call, enclosing)
            if choices_found:
                pointer = call.name if call.pointer is None or call.decl else show(call.pointer)
                choices[call.span, pointer] = choices_found
    return choices


class _Calls:
    """Finds the targets of the calls in one function."""

    def __init__(self, unit: LinkedUnit, function: Function) -> None:
        self._unit = unit
        self._function = function
        self._context = Context(unit)

    def calls_through_pointers(self) -> Iterator[tuple[CallExpr, Around]]:
        """Yields the calls through pointers and the calls with arguments, each with its enclosing
        statements.
        """
        for statement, enclosing in nested(self._function.body):
            for inner in own_parts(statement):
                if isinstance(inner, CallExpr) and (inner.pointer is not None or inner.args):
                    yield inner, (*enclosing, statement)

    def choices(self, call: CallExpr, enclosing: Around) -> tuple[Choice, ...]:
        """Returns the possible targets of a call, and the functions that it may pass as
        arguments.
        """
        choices_found = []
        if call.decl is None and call.pointer is not None:
            choices_found.append(
                self._choice_of_function(call.pointer, None, enclosing, alone=True)
            )
        called = self._unit.body_of(call.decl) if call.decl is not None else None
        for at, argument in enumerate(call.args):
            if called is None or at >= len(called.parameters):
                break
            if is_unknown_function_pointer(argument) and _calls_parameter(
                called, called.parameters[at]
            ):
                alone = selecting_expression(call) is argument
                choices_found.append(self._choice_of_function(argument, at, enclosing, alone=alone))
        return tuple(choice for choice in choices_found if choice is not None)

    def _choice_of_function(
        self, pointer: Expression, position: int | None, enclosing: Around, *, alone: bool
    ) -> Choice | None:
        pointer = without_cast_or_dereference(
            initial_value(self._unit, self._function, without_cast_or_dereference(pointer))
        )
        if self._depends_on_callers(pointer):
            return None
        by_loop = self._targets_by_loop(pointer, position, enclosing)
        if by_loop is not None:
            return by_loop
        picked = functions_from_table(self._unit, pointer, self._function) if alone else None
        if picked is not None:
            by_index = picked.subscript is not None
            return Choice(
                picked.functions, show(pointer), position, picked=by_index, others=picked.others
            )
        functions = pointed_functions(self._unit, pointer, self._function).functions
        if not functions:
            return None
        names = tuple(decl.name for decl in functions)
        choice = Choice(names, show(pointer), position, self._loop_through(pointer, enclosing))
        return choice._replace(handed=self._target_in_table_parameter(pointer, enclosing))

    def _target_in_table_parameter(
        self, pointer: Expression, enclosing: Around
    ) -> CallThroughTableParameter | None:
        """Returns the description of a call through an element of a table that the function
        receives as a parameter. Returns None for any other call.
        """
        element = table_call(pointer)
        if element is None:
            return None
        passed = table_parameter_targets(self._unit, self._function, pointer, element)
        if passed is None:
            return None
        for loop in reversed(enclosing):
            counted = self._counted_loop(loop) if isinstance(loop, For) else None
            if counted is None:
                continue
            if element.subscript is None:
                ends = _sentinel_member(counted.loop.condition, element.base.decl, counted.decl)
                is_pointer_loop = element.base.decl is counted.decl and counted.loop.init is None
                return passed._replace(ends=ends) if is_pointer_loop and ends else None
            linear = self._linear_index(element.subscript, counted.decl)
            if linear is None:
                continue
            passed = passed._replace(sign=linear[0], offset=linear[1])
            if counted.header is None:
                ends = _sentinel_member(counted.loop.condition, element.base.decl, counted.decl)
                starts_at_first = linear == (1, 0) and self._starts_at_first_element(counted)
                return passed._replace(ends=ends) if ends and starts_at_first else None
            first, step = counted.header.start, counted.header.step
            if first is None or step is None or (first.constant, step.constant) != (0, 1):
                return passed
            return passed._replace(
                length=bound_parameter(self._function, counted.loop, counted.decl)
            )
        is_constant = not self._unit.is_set(element.base.decl, self._function)
        is_first = element.subscript is None or is_null(element.subscript)
        return passed._replace(sign=0) if is_constant and is_first else None

    def _loop_through(self, pointer: Expression, enclosing: Around) -> Span | None:
        """Returns the loop whose counter indexes an unknown table, such as a parameter.

        The loop calls each function of the table once. Arrays of objects whose functions are
        assigned at run time are ignored.
        """
        element = table_call(pointer)
        if element is None or not is_set_by_initializers(self._unit, pointer):
            return None
        for loop in reversed(enclosing):
            counted = self._counted_loop(loop) if isinstance(loop, For) else None
            if counted is None:
                continue
            if element.subscript is None:
                if element.base.decl is counted.decl:
                    return counted.loop.span
            elif self._linear_index(element.subscript, counted.decl) is not None:
                return counted.loop.span
        return None

    def _depends_on_callers(self, pointer: Expression) -> bool:
        """Returns whether the pointer is an unchanged parameter, so that callers determine the
        target.
        """
        return (
            isinstance(pointer, Name)
            and pointer.decl in self._function.parameters
            and not self._unit.is_set(pointer.decl, self._function)
        )

    # -- targets selected by a loop counter -------------------------------------------------------

    def _targets_by_loop(
        self, pointer: Expression, position: int | None, enclosing: Around
    ) -> Choice | None:
        element = table_call(pointer)
        if element is None:
            return None
        for at in range(len(enclosing) - 1, -1, -1):
            loop = enclosing[at]
            counted = self._counted_loop(loop) if isinstance(loop, For) else None
            if counted is None:
                continue
            choice = self._targets_of_counter(pointer, position, counted)
            if choice is not None:
                return choice._replace(sure=_is_always_called(pointer, enclosing[at:]))
        return None

    def _counted_loop(self, loop: For) -> _CountedLoop | None:
        header = read_header(loop, self._context, Frame({}))
        if header is not None:
            steady = has_constant_step(loop, header, self._unit.effects)
            return _CountedLoop(loop, header.decl, header) if steady else None
        steps = steps_of(loop.increment)
        if len(steps) != 1 or steps[0][1] != 1:
            return None
        counter = steps[0][0]
        if counter in self._unit.effects.written_in(loop.body):
            return None
        return _CountedLoop(loop, counter, None)

    def _targets_of_counter(
        self, pointer: Expression, position: int | None, counted: _CountedLoop
    ) -> Choice | None:
        """Returns the functions that a loop's counter selects from a table."""
        element = table_call(pointer)
        if element is None:
            return None
        table, linear = element.base.decl, (1, 0)
        if element.subscript is None:
            start = _table_of_pointer_loop(counted)
            if table is not counted.decl or start is None:
                return None
            table = start
        else:
            linear_index = self._linear_index(element.subscript, counted.decl)
            if linear_index is None:
                return None
            linear = linear_index
        rows = table_rows(self._unit, table) if is_set_by_initializers(self._unit, pointer) else ()
        names = [row.get(element.member, "") for row in rows]
        if not rows or "=" in names:
            return None
        sign, offset = linear
        values = [sign * (at - offset) for at in range(len(names))]
        picked = dict(zip(values, names, strict=True))
        if counted.header is None:
            if linear != (1, 0) or not self._starts_at_first_element(counted):
                return None
            end = _sentinel_member(counted.loop.condition, table, counted.decl)
            if end is None:
                return None
            last = next((at for at, row in enumerate(rows) if not row.get(end)), None)
            if last is None:
                return None
            picked = {value: picked[value] for value in range(last)}
        return Choice(
            tuple(picked.values()), show(pointer), position, counted.loop.span, tuple(picked),
            whole=counted.header is None,
        )  # fmt: skip

    def _starts_at_first_element(self, counted: _CountedLoop) -> bool:
        """Returns whether a loop that stops at an element of the table starts at the first
        element.
        """
        if counted.decl.ctype.kind == "pointer":
            return True  # `_table_of_pointer_loop` has checked the start
        start = start_value(counted.loop.init, counted.decl, self._context, Frame({}))
        return isinstance(start, Expr) and start.constant == 0

    def _linear_index(self, index: Expression, counter: Decl) -> tuple[int, int] | None:
        """Returns (sign, offset) for an index of the form `sign * counter + offset`."""
        name = Expr.name(self._context.name_of(counter))
        value = self._context.value(index, Frame({counter: name}))
        for sign, offset in ((1, value - name), (-1, value + name)):
            if isinstance(offset.constant, int):
                return sign, offset.constant
        return None


def _table_of_pointer_loop(counted: _CountedLoop) -> Decl | None:
    """Returns the table that a loop traverses with a pointer from its first element. Returns None
    for other loops.
    """
    if counted.decl.ctype.kind != "pointer":
        return None
    start = start_expression(counted.loop.init, counted.decl) or counted.decl.init
    start = None if start is None else without_cast_or_dereference(start)
    if isinstance(start, Unary) and start.op == "&" and isinstance(start.operand, Index):
        start = start.operand.base if is_null(start.operand.index) else None
    if isinstance(start, Name) and start.decl.ctype.kind == "array":
        return start.decl
    return None


def _sentinel_member(condition: Expression | None, table: Decl, counter: Decl) -> str | None:
    """Returns the member whose null value ends a loop over a table: `run` in `tests[k].run !=
    NULL`. Returns "" for a table of pointers.
    """
    if condition is None:
        return None
    element = table_call(without_cast_or_dereference(tested_pointer(condition)))
    if element is None:
        return None
    if element.subscript is None:
        return element.member if element.base.decl is counter else None
    counts = is_variable(without_cast_or_dereference(element.subscript), counter)
    return element.member if element.base.decl is table and counts else None


def _is_always_called(pointer: Expression, enclosing: Around) -> bool:
    """Returns whether each iteration of the loop `around[0]` reaches the call. A test of the
    pointer for null is ignored.
    """
    if any(isinstance(s, (Jump, Return)) for s in every_statement(enclosing[0])):
        return False
    for statement in enclosing[1:]:
        if isinstance(statement, Switch):
            return False
        if isinstance(statement, If) and (
            show(without_cast_or_dereference(tested_pointer(statement.condition))) != show(pointer)
        ):
            return False
    last = enclosing[-1]
    return not any(
        isinstance(inner, Ternary) or (isinstance(inner, Binary) and inner.op in ("&&", "||"))
        for expression in own_expressions(last) for inner in every_expression(expression)
        if not isinstance(last, For)
    )  # fmt: skip


def _calls_parameter(function: Function, parameter: Decl) -> bool:
    """Returns whether a function calls a parameter, or passes it to another function."""
    return may_be_function_pointer(parameter.ctype) and any(
        is_variable(used, parameter)
        for call in expressions_in(function.body) if isinstance(call, CallExpr)
        for used in (call.pointer, *call.args)
    )  # fmt: skip
