"""Removes loops that are nested more deeply than in any real program.

Lowering a loop visits every loop inside it, for each variable that they set. The time therefore
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
    """Replaces each loop that is nested in `MOST_NESTED` others by a placeholder. The directives
    inside that loop remain, without their statements.
    """
    return _limited(body, MOST_NESTED) if _depth(body) > MOST_NESTED else body


def _depth(body: Stmt) -> int:
    """The nesting depth of the innermost loop, which counts itself."""
    deepest = 0
    waiting = [(body, 0)]
    while waiting:
        statement, depth = waiting.pop()
        if isinstance(statement, LOOPS):
            depth += 1
            deepest = max(deepest, depth)
        waiting += [(inner, depth) for inner in inner_statements(statement)]
    return deepest


def _limited(statement: Stmt, left: int) -> Stmt:
    if isinstance(statement, LOOPS):
        if not left:
            return _left_out(statement)
        left -= 1
    if isinstance(statement, Compound):
        return statement._replace(items=tuple(_limited(item, left) for item in statement.items))
    if isinstance(statement, If):
        other = None if statement.other is None else _limited(statement.other, left)
        return statement._replace(then=_limited(statement.then, left), other=other)
    if isinstance(statement, (*LOOPS, Switch, Directive)) and statement.body is not None:
        return statement._replace(body=_limited(statement.body, left))
    return statement


def _left_out(loop: For | While | RangeFor) -> Compound:
    what = f"a loop inside {MOST_NESTED} other loops"
    directives = (
        inner._replace(body=None) for inner in every_statement(loop) if isinstance(inner, Directive)
    )
    return Compound((Unread(what, (), loop.span), *directives))
