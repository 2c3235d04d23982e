"""Traverses the front ends' syntax tree: the contents of expressions and statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from regionpredict.frontend.syntax.nodes import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    Compound,
    Decl,
    DeclStmt,
    Directive,
    Expression,
    ExprStmt,
    For,
    Function,
    If,
    Index,
    Member,
    Opaque,
    RangeFor,
    Return,
    Stmt,
    Switch,
    Ternary,
    Unary,
    Unread,
    While,
)
from regionpredict.ir import Span

# `Any` is used because the type checker takes minutes for the recursive union.
_BELOW: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Binary: lambda e: (e.left, e.right),
    Assign: lambda e: (e.left, e.right),
    Index: lambda e: (e.base, e.index),
    Unary: lambda e: (e.operand,),
    Cast: lambda e: (e.operand,),
    Member: lambda e: (e.base,) if e.base is not None else (),
    CallExpr: lambda e: e.args,
    Ternary: lambda e: (e.condition, e.then, e.other),
    Opaque: lambda e: e.children,
}


def subexpressions(expression: Expression) -> tuple[Expression, ...]:
    """Returns the direct subexpressions."""
    inside = _BELOW.get(type(expression))
    return inside(expression) if inside is not None else ()


def ends_here(expression: Expression) -> bool:
    """Whether no later statement runs, because of an exception or a noreturn function."""
    if isinstance(expression, CallExpr):
        return expression.decl is not None and expression.decl.never_returns
    return isinstance(expression, Opaque) and expression.text == "throw"


def every_expression(expression: Expression) -> Iterator[Expression]:
    """Yields the expression and all its subexpressions, in source order."""
    waiting: list[Any] = [expression]
    while waiting:  # a loop is faster than recursion
        node = waiting.pop()
        yield node
        inside = _BELOW.get(type(node))
        if inside is not None:
            waiting.extend(reversed(inside(node)))


_INNER: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Compound: lambda s: s.items,
    For: lambda s: (s.init, s.body) if s.init else (s.body,),
    While: lambda s: (s.body,),
    Switch: lambda s: (s.body,),
    RangeFor: lambda s: (s.body,),
    If: lambda s: (s.then, s.other) if s.other else (s.then,),
    Directive: lambda s: (s.body,) if s.body else (),
}
_OWN: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    ExprStmt: lambda s: (s.expr,),
    DeclStmt: lambda s: tuple(d.init for d in s.decls if d.init is not None),
    For: lambda s: tuple(e for e in (s.condition, s.increment) if e is not None),
    While: lambda s: (s.condition,),
    If: lambda s: (s.condition,),
    Switch: lambda s: (s.condition,),
    Return: lambda s: (s.value,) if s.value is not None else (),
    RangeFor: lambda s: (s.range,) if s.range is not None else (),
    Unread: lambda s: s.children,
}


def own_parts(statement: Stmt) -> Iterator[Expression]:
    """Yields every expression of a statement itself, including its subexpressions."""
    for own in own_expressions(statement):
        yield from every_expression(own)


def inner_statements(statement: Stmt) -> tuple[Stmt, ...]:
    """Returns the direct inner statements."""
    inside = _INNER.get(type(statement))
    return inside(statement) if inside is not None else ()


def own_expressions(statement: Stmt) -> tuple[Expression, ...]:
    """Returns the expressions of a statement itself, without those of inner statements."""
    own = _OWN.get(type(statement))
    return own(statement) if own is not None else ()


def every_statement(statement: Stmt) -> Iterator[Stmt]:
    """Yields the statement and all inner statements, in source order."""
    waiting: list[Any] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        inside = _INNER.get(type(node))
        if inside is not None:
            waiting.extend(reversed(inside(node)))


LOOPS = (For, While, RangeFor)
Around = tuple[Stmt, ...]
"""The statements that enclose a statement, outermost first."""


def nested(statement: Stmt, enclosing: Around = ()) -> Iterator[tuple[Stmt, Around]]:
    """Yields the statement and all inner statements in source order, each with its enclosing
    statements.
    """
    yield statement, enclosing
    enclosing = (*enclosing, statement)
    for inner in inner_statements(statement):
        yield from nested(inner, enclosing)


def counted_loops(statements: Around) -> tuple[For, ...]:
    """Returns the `for` loops among some statements."""
    return tuple(statement for statement in statements if isinstance(statement, For))


def is_outside(
    expression: Expression, function: Function, statement_types: tuple[type[Stmt], ...] = LOOPS
) -> bool:
    """Whether an expression is in a function but outside of statements of the types
    `statement_types`.
    """
    waiting: list[Stmt] = [function.body]
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, statement_types):
            continue
        if any(inner is expression for inner in own_parts(statement)):
            return True
        waiting.extend(inner_statements(statement))
    return False


def first_span(statement: Stmt) -> Span | None:
    """Returns the location of a statement's first line. None for an empty block."""
    spans = (getattr(inner, "span", None) for inner in every_statement(statement))
    return next((span for span in spans if isinstance(span, Span)), None)


def expressions_in(statement: Stmt) -> Iterator[Expression]:
    """Yields every expression in a statement and its inner statements."""
    for inner in every_statement(statement):
        own = _OWN.get(type(inner))
        waiting: list[Any] = [] if own is None else list(reversed(own(inner)))
        while waiting:  # like `every_expression`, without a generator per expression
            node = waiting.pop()
            yield node
            inside = _BELOW.get(type(node))
            if inside is not None:
                waiting.extend(reversed(inside(node)))


def all_expressions(function: Function) -> Iterator[Expression]:
    """Returns all expressions of a function, including the initializers of a constructor."""
    return chain(*map(every_expression, function.initialisers), expressions_in(function.body))


def declared_in(statement: Stmt) -> set[Decl]:
    """Returns the variables that a statement declares, including its inner statements."""
    declared: set[Decl] = set()
    for inner in every_statement(statement):
        if isinstance(inner, DeclStmt):
            declared.update(inner.decls)
    return declared


def calls_in(statement: Stmt) -> dict[Decl, list[CallExpr]]:
    """Returns the calls of known functions in a statement, in source order, by function.
    Constructor calls are included.
    """
    calls: dict[Decl, list[CallExpr]] = {}
    for expression in expressions_in(statement):
        call: Expression | None = expression
        if type(expression) is Cast:
            call = expression.constructor
        if type(call) is CallExpr and call.decl is not None:
            calls.setdefault(call.decl, []).append(call)
    return calls
