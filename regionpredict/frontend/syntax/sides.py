"""The branches of a statement: the two branches of an `if`, or the cases of a `switch`.

switch (op) { case 0: a(); case 1: b(); break; default: c(); }
                    a() where op == 0, b() where op == 0 || op == 1, c() where neither holds
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.frontend.syntax.jumps import ends_with, jump_kind, jumps_out
from regionpredict.frontend.syntax.nodes import (
    Assign,
    Binary,
    CallExpr,
    Compound,
    DeclStmt,
    Expression,
    ExprStmt,
    For,
    If,
    Name,
    RangeFor,
    Return,
    Stmt,
    Switch,
    Ternary,
    Unary,
    While,
)
from regionpredict.frontend.syntax.predicates import without_casts
from regionpredict.frontend.syntax.traversal import every_expression

_NUMBERS = frozenset(("int", "float"))


class Side(NamedTuple):
    """The statements of a branch, and the condition under which they run."""

    condition: Expression
    body: tuple[Stmt, ...]


Deciding = If | Switch | ExprStmt | DeclStmt | Return


def sides_of(statement: Deciding) -> list[Side]:
    """Returns the branches in source order.

    An `if` has two branches, even if one is empty. For any other statement, the branches are the
    calls that its value selects (`t % 10 ? go_on() : report();`, `loud && report();`,
    `s = c ? f() : g();`).
    """
    if isinstance(statement, If):
        other = () if statement.other is None else (statement.other,)
        return [
            Side(statement.condition, (statement.then,)),
            Side(Unary("!", statement.condition, statement.span), other),
        ]
    if isinstance(statement, Switch):
        return _cases(statement)
    chosen = _chosen_value(statement)
    if chosen is not None:
        test = chosen.condition
        return [
            Side(test, (_with_value(statement, chosen.then),)),
            Side(Unary("!", test, statement.span), (_with_value(statement, chosen.other),)),
        ]
    return _selected_operands(statement) if isinstance(statement, ExprStmt) else []


def _chosen_value(statement: ExprStmt | DeclStmt | Return) -> Ternary | None:
    """Returns the value `c ? f() : g()` that a statement assigns, declares or returns. None if it
    contains no calls, or if it is an address, as in `p = n > 0 ? malloc(n) : NULL;`.
    """
    value: Expression | None = None
    if isinstance(statement, Return):
        value = statement.value
    elif isinstance(statement, DeclStmt):
        decl = statement.decls[0] if len(statement.decls) == 1 else None
        value = decl.init if decl is not None and decl.kind == "local" else None
    elif isinstance(statement.expr, Assign):
        value = statement.expr.right
    value = without_casts(value) if value is not None else None
    if not isinstance(value, Ternary):
        return None
    calls = [
        inner for side in (value.then, value.other) for inner in every_expression(side)
        if isinstance(inner, CallExpr)
    ]  # fmt: skip
    numbers = all(call.decl is not None and call.decl.ctype.kind in _NUMBERS for call in calls)
    return value if calls and numbers else None


def _with_value(statement: ExprStmt | DeclStmt | Return, value: Expression) -> Stmt:
    """Returns the statement with one of the two values."""
    if isinstance(statement, Return):
        return statement._replace(value=value)
    if isinstance(statement, DeclStmt):
        name = Name(statement.decls[0], statement.span)
        return ExprStmt(Assign("=", name, value, statement.span), statement.span)
    whole = statement.expr
    made = whole._replace(right=value) if isinstance(whole, Assign) else value
    return statement._replace(expr=made)


def _selected_operands(statement: ExprStmt) -> list[Side]:
    whole = without_casts(statement.expr)
    if isinstance(whole, Ternary):
        parts = [(whole.condition, whole.then),
                 (Unary("!", whole.condition, statement.span), whole.other)]  # fmt: skip
    elif isinstance(whole, Binary) and whole.op == "&&":
        parts = [(whole.left, whole.right)]
    elif isinstance(whole, Binary) and whole.op == "||":
        parts = [(Unary("!", whole.left, statement.span), whole.right)]
    else:
        return []
    return [Side(test, (statement._replace(expr=value),)) for test, value in parts]


def condition_of(statement: Deciding) -> Expression | None:
    """Returns the expression that is always evaluated first. None if nothing is decided."""
    if isinstance(statement, (If, Switch)):
        return statement.condition
    chosen = _chosen_value(statement)
    if chosen is not None or not isinstance(statement, ExprStmt):
        return chosen.condition if chosen is not None else None
    whole = without_casts(statement.expr)
    if isinstance(whole, Ternary):
        return whole.condition
    return whole.left if isinstance(whole, Binary) else whole


def continues_early(statement: If) -> bool:
    """Whether the following statements run only if the condition is false: `if (c) continue;`."""
    return statement.other is None and ends_with(statement.then, "continue")


def returns_early(statement: If) -> bool:
    """Whether the following statements outside of loops run only if the condition is false:
    `if (c) return;`.
    """
    return statement.other is None and ends_with(statement.then, "return")


def left_early(loop: For | While | RangeFor) -> str:
    """Returns the location of a `break` that may end a loop early. "" if there is none."""
    breaks = (jump for jump in jumps_out(loop.body) if jump_kind(jump) == "break")
    return next((f"{jump.span.file}:{jump.span.line}" for jump in breaks), "")


def _cases(statement: Switch) -> list[Side]:
    body = statement.body
    items = body.items if isinstance(body, Compound) and not body.cases else (body,)
    groups: list[tuple[list[Expression | None], list[Stmt]]] = []
    for item in items:
        labels = case_labels(item)
        if labels or not groups:
            groups.append((labels, []))
        groups[-1][1].append(item)
    named = [label for labels, _ in groups for label in labels if label is not None]
    sides: list[Side] = []
    falls: list[Expression] = []  # conditions of falling through from the previous group
    for labels, group in groups:
        here = [*falls]
        here += [Binary("==", statement.condition, label) for label in labels if label is not None]
        if None in labels:
            here.append(_none_of(statement, named))
        condition = _any_of(here) if here else statement.condition
        sides.append(Side(condition, tuple(group)))
        falls = [] if ends_with(group[-1], "break", "continue", "return", "goto") else [condition]
    return sides


def case_labels(item: Stmt) -> list[Expression | None]:
    """Returns the labels before a statement of a `switch`. `default` is None."""
    labels: list[Expression | None] = []
    while isinstance(item, Compound) and item.cases:
        labels += item.cases
        if not item.items:
            break
        item = item.items[0]
    return labels


def _any_of(conditions: Sequence[Expression]) -> Expression:
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = Binary("||", whole, condition)
    return whole


def _none_of(statement: Switch, labels: Sequence[Expression]) -> Expression:
    value, span = statement.condition, statement.span
    if not labels:
        return Binary("==", value, value)
    return Unary("!", _any_of([Binary("==", value, label) for label in labels]), span)
