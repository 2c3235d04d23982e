"""Which variables a piece of code sets, and by how much: asked often, so answered once.

Answers are kept by the identity of the syntax tree's nodes; an `Effects` lives as long as the
trees it was asked about.
"""

from __future__ import annotations

from regionpredict.frontend.syntax.nodes import (
    Assign,
    Decl,
    Expression,
    ExprStmt,
    For,
    IntLit,
    Name,
    Stmt,
    Unary,
)
from regionpredict.frontend.syntax.traversal import below, inner_statements, own_expressions

_STEPS = {"++": 1, "p++": 1, "--": -1, "p--": -1}


class Effects:
    """What expressions and statements do to plain integer and pointer variables."""

    def __init__(self) -> None:
        self._expressions: dict[int, dict[Decl, int | None]] = {}
        self._statements: dict[int, frozenset[Decl]] = {}
        self._kept: list[object] = []  # so that no identity is used twice

    def of(self, expression: Expression) -> dict[Decl, int | None]:
        """Variable -> the constant added to it, or None where it is set in any other way."""
        key = id(expression)
        found = self._expressions.get(key)
        if found is None:
            found = _effects(expression)
            self._expressions[key] = found
            self._kept.append(expression)
        return found

    def written_in(self, statement: Stmt) -> frozenset[Decl]:
        """The variables that the statement, or anything inside it, may set."""
        key = id(statement)
        found = self._statements.get(key)
        if found is None:
            written: set[Decl] = set()
            for expression in own_expressions(statement):
                written.update(self.of(expression))
            for inner in inner_statements(statement):
                written |= self.written_in(inner)
            if isinstance(statement, For) and isinstance(statement.init, ExprStmt):
                written.update(self.of(statement.init.expr))
            found = frozenset(written)
            self._statements[key] = found
            self._kept.append(statement)
        return found


def _effects(expression: Expression) -> dict[Decl, int | None]:
    found: dict[Decl, int | None] = {}
    waiting = [expression]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Assign) and isinstance(one.left, Name):
            _note(found, one.left.decl, _added(one))
            waiting.append(one.right)
            continue
        if isinstance(one, Unary) and isinstance(one.operand, Name):
            if one.op in _STEPS:
                _note(found, one.operand.decl, _STEPS[one.op])
            elif one.op == "&" and one.operand.decl.ctype.kind == "int":
                _note(found, one.operand.decl, None)
            continue
        waiting.extend(below(one))
    return found


def _added(assign: Assign) -> int | None:
    if assign.op in ("+=", "-=") and isinstance(assign.right, IntLit):
        return assign.right.value if assign.op == "+=" else -assign.right.value
    return None


def _note(found: dict[Decl, int | None], decl: Decl, amount: int | None) -> None:
    if decl.ctype.kind not in ("int", "pointer"):
        return
    before = found.get(decl, 0)
    found[decl] = None if amount is None or before is None else before + amount
