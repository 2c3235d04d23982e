"""Finds calls that only read the variable whose address they receive.

dgemm_("N", "N", &m, &n, &k, ...);     // Fortran passes all numbers by address
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from regionpredict.frontend.syntax import (
    CallExpr,
    Decl,
    Expression,
    Function,
    Index,
    Name,
    Unary,
    expressions_in,
    set_place,
    without_casts,
)
from regionpredict.library import blas_routine


class _PointerUsage(NamedTuple):
    """The uses of the pointers in a function.

    `all` counts all uses of a pointer, and `elements` the uses `*p` and `p[i]`. `arguments` are the
    calls that receive the pointer, with its position. `written` are the pointers to elements that
    the function writes or whose address it takes.
    """

    all: Counter[Decl]
    elements: Counter[Decl]
    arguments: dict[Decl, list[tuple[CallExpr, int]]]
    written: set[Decl]


class KeptArguments:
    """Finds parameters of visible functions through which nothing is written. Results are
    cached.
    """

    def __init__(self, body_of: Callable[[Decl], Function | None]) -> None:
        self._body_of = body_of
        self._kept: dict[Decl, bool] = {}
        self._uses: dict[Decl, _PointerUsage] = {}

    def leaves_integer_unchanged(self, call: CallExpr, position: int) -> bool:
        """Whether a call neither writes the integer to which this argument points nor stores its
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
            self._kept[parameter] = self._is_only_read(parameter, function)
        return self._kept[parameter]

    def _is_only_read(self, parameter: Decl, function: Function) -> bool:
        """Whether all uses of a parameter are `*p`, `p[i]`, or arguments of calls that only read
        `*p`.
        """
        if function.decl not in self._uses:
            self._uses[function.decl] = _uses_in(function)
        uses = self._uses[function.decl]
        if parameter in uses.written:
            return False
        passed = uses.arguments.get(parameter, ())
        return uses.all[parameter] == uses.elements[parameter] + len(passed) and all(
            self.leaves_integer_unchanged(call, position) for call, position in passed
        )


def _uses_in(function: Function) -> _PointerUsage:
    uses = _PointerUsage(Counter(), Counter(), {}, set())
    for inner in expressions_in(function.body):
        if isinstance(inner, Name):
            uses.all[inner.decl] += 1
        elif (pointer := _pointer_of(inner)) is not None:
            uses.elements[pointer] += 1
        elif isinstance(inner, CallExpr):
            for position, argument in enumerate(inner.args):
                if isinstance(argument, Name):
                    uses.arguments.setdefault(argument.decl, []).append((inner, position))
        target = set_place(inner)
        written = _pointer_of(without_casts(target)) if target is not None else None
        if written is not None:
            uses.written.add(written)
    return uses


def _pointer_of(expression: Expression) -> Decl | None:
    """Returns the variable `p` in `*p` or `p[i]`. None for any other expression."""
    pointer: Expression | None = None
    if isinstance(expression, Unary) and expression.op == "*":
        pointer = expression.operand
    elif isinstance(expression, Index):
        pointer = expression.base
    return pointer.decl if isinstance(pointer, Name) else None
