"""Finds variables that depend on the thread number, through assignments and conditions.

int t = omp_get_thread_num();           t
int first = t * n / p;                  first
if (t == 0) rest = n % p;               rest
"""

from __future__ import annotations

from collections.abc import Collection

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.syntax import (
    CallExpr,
    Decl,
    DeclStmt,
    Expression,
    ExprStmt,
    For,
    Function,
    If,
    Name,
    Stmt,
    every_expression,
    expressions_in,
    inner_statements,
    own_expressions,
    set_place,
)


class ThreadNumbers:
    """Finds the expressions of a unit that use the thread number, also in called functions."""

    def __init__(self, unit: LinkedUnit) -> None:
        self._unit = unit
        self._known: dict[Function, bool] = {}

    def calls_thread_number(self, statement: Stmt) -> bool:
        """Returns whether a statement calls `omp_get_thread_num`, also through other functions."""
        return any(map(self.is_thread_number, expressions_in(statement)))

    def is_thread_number(self, expression: Expression) -> bool:
        """Returns whether an expression calls `omp_get_thread_num`, also through a function."""
        if not isinstance(expression, CallExpr):
            return False
        if expression.name == "omp_get_thread_num":
            return True
        function = self._unit.body_of(expression.decl) if expression.decl is not None else None
        if function is None:
            return False
        if function not in self._known:
            self._known[function] = False  # for recursion
            self._known[function] = self.calls_thread_number(function.body)
        return self._known[function]

    def may_depend(self, expression: Expression, dependent: Collection[Decl]) -> bool:
        """Returns whether an expression may depend on the thread number, directly or through the
        variables in `dependent`.
        """
        return any(
            self.is_thread_number(inner) or (isinstance(inner, Name) and inner.decl in dependent)
            for inner in every_expression(expression)
        )

    def header_depends(self, loop: For, dependent: Collection[Decl]) -> bool:
        """Returns whether a loop's header depends on the thread number."""
        first = own_expressions(loop.init) if loop.init is not None else ()
        return any(self.may_depend(part, dependent) for part in (*first, *own_expressions(loop)))

    def dependent_variables(self, body: Stmt, parameters: Collection[Decl] = ()) -> set[Decl]:
        """Returns the variables assigned in `body` that may depend on the thread number. The
        `parameters` do depend on it.
        """
        dependent = set(parameters)
        before = -1
        while len(dependent) > before:
            before = len(dependent)
            self._add_dependent_variables(body, dependent, under_dependent_condition=False)
        return dependent

    def _add_dependent_variables(
        self, statement: Stmt, dependent: set[Decl], *, under_dependent_condition: bool
    ) -> None:
        if isinstance(statement, DeclStmt):
            dependent |= {
                decl
                for decl in statement.decls
                if decl.init is not None
                and (under_dependent_condition or self.may_depend(decl.init, dependent))
            }
        for own in own_expressions(statement):
            if isinstance(statement, ExprStmt) and (
                under_dependent_condition or self.may_depend(own, dependent)
            ):
                targets = [set_place(inner) for inner in every_expression(own)]
                dependent |= {target.decl for target in targets if isinstance(target, Name)}
        if isinstance(statement, If):
            under_dependent_condition = under_dependent_condition or self.may_depend(
                statement.condition, dependent
            )
        for inner in inner_statements(statement):
            self._add_dependent_variables(
                inner, dependent, under_dependent_condition=under_dependent_condition
            )
