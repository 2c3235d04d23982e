"""Finds where a function sets a variable, and the value."""

from __future__ import annotations

from regionpredict.frontend.syntax import (
    Assign,
    Decl,
    DeclStmt,
    Expression,
    For,
    Function,
    Name,
    RangeFor,
    Stmt,
    While,
    every_statement,
    inner_statements,
    own_parts,
    set_place,
)

REPEATS = (For, While, RangeFor)


def is_outside(expression: Expression, function: Function, around: tuple[type[Stmt], ...]) -> bool:
    """Whether an expression is in a function, outside such statements."""
    waiting: list[Stmt] = [function.body]
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, around):
            continue
        if any(inner is expression for inner in own_parts(statement)):
            return True
        waiting.extend(inner_statements(statement))
    return False


def values_of(decl: Decl, function: Function) -> list[tuple[Expression, Expression | None]] | None:
    """The value of a variable in a function, with its assignment. None if other code may set it."""
    values: list[tuple[Expression, Expression | None]] = []
    for statement in every_statement(function.body):
        if isinstance(statement, DeclStmt):
            values += [(d.init, None) for d in statement.decls if d is decl and d.init is not None]
        for inner in own_parts(statement):
            target = set_place(inner)
            if not isinstance(target, Name) or not _is_same(target.decl, decl):
                continue
            if not isinstance(inner, Assign) or inner.op != "=":
                return None
            values.append((inner.right, inner))
    return values


def _is_same(decl: Decl, other: Decl) -> bool:
    return decl is other or bool(decl.symbol and decl.symbol == other.symbol)
