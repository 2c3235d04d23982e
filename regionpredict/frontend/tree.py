"""Walks over the front ends' syntax tree: what is inside an expression or a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from regionpredict.frontend.syntax import (
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


_BELOW: dict[type, Callable[[Any], tuple[Expression, ...]]] = {
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


def below(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside one."""
    inside = _BELOW.get(type(expression))
    return inside(expression) if inside is not None else ()


def every_expression(expression: Expression) -> Iterator[Expression]:
    """The expression and all inside it, in source order."""
    waiting = [expression]
    while waiting:  # a loop, not a recursion: this is asked for every expression of a file
        one = waiting.pop()
        yield one
        inside = _BELOW.get(type(one))
        if inside is not None:
            waiting.extend(reversed(inside(one)))


def inner_statements(statement: Stmt) -> tuple[Stmt, ...]:
    """The statements directly inside one."""
    if isinstance(statement, Compound):
        return statement.items
    if isinstance(statement, For):
        return (statement.init, statement.body) if statement.init else (statement.body,)
    if isinstance(statement, (While, Switch, RangeFor)):
        return (statement.body,)
    if isinstance(statement, If):
        return (statement.then, statement.other) if statement.other else (statement.then,)
    if isinstance(statement, Directive):
        return (statement.body,) if statement.body else ()
    return ()


def own_expressions(statement: Stmt) -> tuple[Expression, ...]:
    """The expressions of a statement itself, those of inner statements left out."""
    if isinstance(statement, ExprStmt):
        return (statement.expr,)
    if isinstance(statement, DeclStmt):
        return tuple(decl.init for decl in statement.decls if decl.init is not None)
    if isinstance(statement, For):
        return tuple(e for e in (statement.condition, statement.increment) if e is not None)
    if isinstance(statement, (While, If, Switch)):
        return (statement.condition,)
    if isinstance(statement, Return):
        return (statement.value,) if statement.value is not None else ()
    if isinstance(statement, RangeFor):
        return (statement.range,) if statement.range is not None else ()
    if isinstance(statement, Unread):
        return statement.children
    return ()


def every_statement(statement: Stmt) -> Iterator[Stmt]:
    """The statement and all inside it, in source order."""
    yield statement
    for inner in inner_statements(statement):
        yield from every_statement(inner)


def expressions_in(statement: Stmt) -> Iterator[Expression]:
    """Every expression anywhere in a statement."""
    for inner in every_statement(statement):
        for expression in own_expressions(inner):
            yield from every_expression(expression)


def calls_in(statement: Stmt, decl: Decl) -> list[CallExpr]:
    """The calls of one function anywhere in a statement."""
    return [
        expression
        for expression in expressions_in(statement)
        if isinstance(expression, CallExpr) and expression.decl is decl
    ]
