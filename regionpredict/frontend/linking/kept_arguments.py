"""Finds calls that only read the variable whose address they receive.

dgemm_("N", "N", &m, &n, &k, ...);     // Fortran passes all numbers by address
"""

from __future__ import annotations

from collections.abc import Callable

from regionpredict.frontend.syntax import (
    CallExpr,
    Decl,
    Expression,
    Function,
    Index,
    Unary,
    expressions_in,
    is_variable,
    set_place,
    without_casts,
)
from regionpredict.library import blas_routine


class KeptArguments:
    """The parameters of visible functions through which nothing is written. Results are cached."""

    def __init__(self, body_of: Callable[[Decl], Function | None]) -> None:
        self._body_of = body_of
        self._kept: dict[Decl, bool] = {}

    def keeps(self, call: CallExpr, position: int) -> bool:
        """Whether a call neither writes the integer that this argument points to nor stores its
        address.
        """
        function = self._body_of(call.decl) if call.decl is not None else None
        if function is None:
            return blas_routine(call.name) is not None
        if position >= len(function.parameters):
            return False
        parameter = function.parameters[position]
        if parameter not in self._kept:
            self._kept[parameter] = False  # for a recursive call
            self._kept[parameter] = self._only_read(parameter, function)
        return self._kept[parameter]

    def _only_read(self, parameter: Decl, function: Function) -> bool:
        """Whether all uses of a parameter are `*p`, `p[i]`, or arguments of calls that only read
        it.
        """
        uses = reads = 0
        for inner in expressions_in(function.body):
            target = set_place(inner)
            if target is not None and _is_target(without_casts(target), parameter):
                return False
            if isinstance(inner, CallExpr):
                reads += sum(
                    is_variable(argument, parameter) and self.keeps(inner, position)
                    for position, argument in enumerate(inner.args)
                )
            uses += is_variable(inner, parameter)
            reads += _is_target(inner, parameter)
        return uses == reads


def _is_target(expression: Expression, pointer: Decl) -> bool:
    """Whether the expression is `*p` or `p[i]`."""
    if isinstance(expression, Unary) and expression.op == "*":
        return is_variable(expression.operand, pointer)
    return isinstance(expression, Index) and is_variable(expression.base, pointer)
