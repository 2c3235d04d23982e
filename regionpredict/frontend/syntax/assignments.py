"""Finds the variables that code assigns, and the constants that it adds to them. Results are
cached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from regionpredict.frontend.syntax.nodes import (
    Assign,
    Binary,
    CallExpr,
    Decl,
    DeclStmt,
    Expression,
    ExprStmt,
    For,
    IntLit,
    Member,
    Name,
    Stmt,
    Unary,
)
from regionpredict.frontend.syntax.predicates import (
    INCREMENT_OPERATORS,
    address_taken,
    is_variable,
    set_place,
)
from regionpredict.frontend.syntax.traversal import (
    ends_here,
    every_statement,
    expressions_in,
    inner_statements,
    own_expressions,
    subexpressions,
)

AssignedValue = tuple[Expression, Assign | None]
"""A value of a variable, and the assignment of this value, or None for the initial value."""


class Changes(NamedTuple):
    """The variables and members that a statement may change.

    `declared` are the variables declared in the statement. `sets` maps the name of a variable or
    member to the expressions that set it or take its address. Calls that receive this address are
    included.
    """

    declared: frozenset[Decl]
    sets: Mapping[str, Sequence[Expression]]

    def setting(self, decl: Decl) -> list[Expression]:
        """Returns the expressions that set a variable or take its address."""
        return [e for e in self.sets.get(decl.name, ()) if is_variable(set_place(e), decl)]

    def values_of(self, decl: Decl) -> list[AssignedValue] | None:
        """Returns the values of a variable, with their assignments. None if other code may set the
        variable.
        """
        own = decl.kind == "local" and decl.init is not None and decl in self.declared
        values: list[AssignedValue] = [(decl.init, None)] if decl.init and own else []
        for expression in self.setting(decl):
            if not isinstance(expression, Assign) or expression.op != "=":
                return None
            values.append((expression.right, expression))
        return values


def changes_in(statement: Stmt) -> Changes:
    """Returns the changes in a statement and all inner statements, in source order."""
    declared = (
        decl for inner in every_statement(statement) if isinstance(inner, DeclStmt)
        for decl in inner.decls
    )  # fmt: skip
    sets: dict[str, list[Expression]] = {}
    for inner in expressions_in(statement):
        places = [set_place(inner)]
        if isinstance(inner, CallExpr):
            places = [address_taken(argument) for argument in inner.args]
        for place in places:
            if isinstance(place, (Name, Member)):
                decl = place.decl if isinstance(place, Name) else place.field
                sets.setdefault(decl.name, []).append(inner)
    return Changes(frozenset(declared), sets)


class Effects:
    """The assignments of plain integer and pointer variables in expressions and statements.

    `keeps(call, position)` says whether a call leaves an integer unchanged whose address is the
    argument at this position.
    """

    def __init__(
        self, keeps: Callable[[CallExpr, int], bool] = lambda call, position: False
    ) -> None:
        self._keeps = keeps
        self._expressions: dict[Expression, dict[Decl, int | None]] = {}
        self._statements: dict[Stmt, frozenset[Decl]] = {}

    def of(self, expression: Expression) -> dict[Decl, int | None]:
        """Maps each variable to the constant that the expression adds to it. Any other assignment
        gives None.
        """
        effects = self._expressions.get(expression)
        if effects is None:
            effects = self._find_effects_of(expression)
            self._expressions[expression] = effects
        return effects

    def written_in(self, statement: Stmt) -> frozenset[Decl]:
        """Returns the variables that a statement and its inner statements may set."""
        known = self._statements.get(statement)
        if known is None:
            written: set[Decl] = set()
            for expression in own_expressions(statement):
                written.update(self.of(expression))
            for inner in inner_statements(statement):
                written |= self.written_in(inner)
            if isinstance(statement, For) and isinstance(statement.init, ExprStmt):
                written.update(self.of(statement.init.expr))
            known = frozenset(written)
            self._statements[statement] = known
        return known

    def _find_effects_of(self, expression: Expression) -> dict[Decl, int | None]:
        effects: dict[Decl, int | None] = {}
        waiting = [expression]
        while waiting:
            inner = waiting.pop()
            if ends_here(inner):  # later code is unreachable
                continue
            if isinstance(inner, Assign) and isinstance(inner.left, Name):
                _add_effect(effects, inner.left.decl, _added_constant(inner))
                waiting.append(inner.right)
                continue
            if isinstance(inner, Unary) and isinstance(inner.operand, Name):
                if inner.op in INCREMENT_OPERATORS:
                    _add_effect(effects, inner.operand.decl, INCREMENT_OPERATORS[inner.op])
                elif inner.op == "&" and inner.operand.decl.ctype.kind == "int":
                    _add_effect(effects, inner.operand.decl, None)
                continue
            waiting.extend(self._relevant_parts(inner))
        return effects

    def exposed(self, expression: Expression) -> Iterator[Decl]:
        """Yields the integers whose address an expression takes. Arguments of calls that only read
        them are excluded.
        """
        waiting = [expression]
        while waiting:
            inner = waiting.pop()
            place = address_taken(inner)
            if isinstance(place, Name) and place.decl.ctype.kind == "int":
                yield place.decl
            waiting.extend(self._relevant_parts(inner))

    def _relevant_parts(self, expression: Expression) -> Sequence[Expression]:
        """Returns the subexpressions, without addresses of integers that a call only reads."""
        inside = subexpressions(expression)
        if not isinstance(expression, CallExpr):
            return inside
        return [
            argument for position, argument in enumerate(inside)
            if address_taken(argument) is None or not self._keeps(expression, position)
        ]  # fmt: skip


def _added_constant(assign: Assign) -> int | None:
    """Returns the constant that `n += 5` or `n = n + 5` adds."""
    op, amount = assign.op.removesuffix("="), assign.right
    if not op and isinstance(amount, Binary):
        op, own, amount = amount.op, amount.left, amount.right
        if op == "+" and isinstance(own, IntLit):
            own, amount = amount, own
        if not isinstance(own, Name) or not isinstance(assign.left, Name):
            return None
        if own.decl is not assign.left.decl:
            return None
    if op not in ("+", "-") or not isinstance(amount, IntLit):
        return None
    return amount.value if op == "+" else -amount.value


def _add_effect(effects: dict[Decl, int | None], decl: Decl, amount: int | None) -> None:
    if decl.ctype.kind not in ("int", "pointer"):
        return
    before = effects.get(decl, 0)
    effects[decl] = None if amount is None or before is None else before + amount
