"""Finds statements that end the program, such as calls of `exit`. Normal runs do not execute them.

if (p == NULL) {
    fprintf(stderr, "row %d is missing", i);     only the condition is lowered
    exit(1);
}
"""

from __future__ import annotations

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.syntax import (
    CallExpr,
    Compound,
    Directive,
    Expression,
    ExprStmt,
    For,
    If,
    Jump,
    Return,
    Stmt,
    ends_here,
    every_statement,
    inner_statements,
)
from regionpredict.library import ends_run

_MAX_CALLS = 4  # maximum nesting, as in `die()`, which calls `fail()`, which calls `exit()`


def ends_program(unit: LinkedUnit, statement: Stmt | None, depth: int = 0) -> bool:
    """Returns whether every path through a statement ends the program.

    Statements after such a call, as in `exit(1); return NULL;`, are ignored. The result is False
    for a statement to which a `goto` or `switch` can jump.
    """
    if statement is None:
        return False
    if isinstance(statement, Compound):
        for number, item in enumerate(statement.items):
            if _may_be_jumped_to(item):
                return False
            if ends_program(unit, item, depth):
                return not any(map(_may_be_jumped_to, statement.items[number + 1 :]))
            if any(isinstance(inner, (Return, Jump)) for inner in every_statement(item)):
                return False
        return False
    if isinstance(statement, If):
        return ends_program(unit, statement.then, depth) and ends_program(
            unit, statement.other, depth
        )
    if isinstance(statement, For):
        return _ends_endless_loop(unit, statement, depth)
    if isinstance(statement, Directive):
        return any(ends_program(unit, inner, depth) for inner in inner_statements(statement))
    if not isinstance(statement, ExprStmt):
        return False
    return _ends_in_expression(unit, statement.expr, depth)


def _ends_endless_loop(unit: LinkedUnit, loop: For, depth: int) -> bool:
    """Returns whether a loop without a condition always ends the program: `for (;; exit(1))
    *reason = code;`, as some macros generate.
    """
    if loop.condition is not None or _may_be_jumped_to(loop.body):
        return False
    if ends_program(unit, loop.body, depth):
        return True
    if any(isinstance(inner, (Return, Jump)) for inner in every_statement(loop.body)):
        return False
    return loop.increment is not None and _ends_in_expression(unit, loop.increment, depth)


def _ends_in_expression(unit: LinkedUnit, expression: Expression, depth: int) -> bool:
    if ends_here(expression):
        return True
    return isinstance(expression, CallExpr) and _ends_in_call(unit, expression, depth)


def _ends_in_call(unit: LinkedUnit, call: CallExpr, depth: int) -> bool:
    function = unit.body_of(call.decl) if call.decl is not None else None
    if function is not None:
        return depth < _MAX_CALLS and ends_program(unit, function.body, depth + 1)
    return call.pointer is None and ends_run(call.name)


def _may_be_jumped_to(statement: Stmt) -> bool:
    return any(
        isinstance(inner, Compound) and (inner.label or inner.cases)
        for inner in every_statement(statement)
    )
