"""Removes loops that are nested more deeply than in any real program.

Lowering a loop visits every inner loop for each variable that the loop sets. The time therefore
grows with the cube of the depth.
"""

from __future__ import annotations

from regionpredict.frontend.syntax.nodes import (
    Compound,
    Directive,
    For,
    If,
    RangeFor,
    Stmt,
    Switch,
    Unread,
    While,
)
from regionpredict.frontend.syntax.traversal import LOOPS, every_statement, inner_statements

MOST_NESTED = 50


def without_deep_loops(body: Stmt) -> Stmt:
    """Replaces each loop that is nested in `MOST_NESTED` other loops by a placeholder. The
    directives inside such a loop remain, without their statements.
    """
    return _with_limited_depth(body, MOST_NESTED) if _nesting_depth(body) > MOST_NESTED else body


def _nesting_depth(body: Stmt) -> int:
    """Returns the maximum number of nested loops in a statement."""
    deepest = 0
    waiting = [(body, 0)]
    while waiting:
        statement, depth = waiting.pop()
        if isinstance(statement, LOOPS):
            depth += 1
            deepest = max(deepest, depth)
        waiting += [(inner, depth) for inner in inner_statements(statement)]
    return deepest


def _with_limited_depth(statement: Stmt, left: int) -> Stmt:
    if isinstance(statement, LOOPS):
        if not left:
            return _placeholder(statement)
        left -= 1
    if isinstance(statement, Compound):
        return statement._replace(
            items=tuple(_with_limited_depth(item, left) for item in statement.items)
        )
    if isinstance(statement, If):
        other = None if statement.other is None else _with_limited_depth(statement.other, left)
        return statement._replace(then=_with_limited_depth(statement.then, left), other=other)
    if isinstance(statement, (*LOOPS, Switch, Directive)) and statement.body is not None:
        return statement._replace(body=_with_limited_depth(statement.body, left))
    return statement


def _placeholder(loop: For | While | RangeFor) -> Compound:
    what = f"a loop inside {MOST_NESTED} other loops"
    directives = (
        inner._replace(body=None) for inner in every_statement(loop) if isinstance(inner, Directive)
    )
    return Compound((Unread(what, (), loop.span), *directives))
