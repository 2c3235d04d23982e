"""Finds the ranges of arguments that are loop counters: `sweep(wave)` in a loop over `wave`.

Such an argument has no single value, but the loop's header gives its range.
"""

from __future__ import annotations

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.loop_headers import (
    has_constant_step,
    read_header,
    with_type_arithmetic,
)
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    CallExpr,
    Decl,
    For,
    Function,
    counted_loops,
    nested,
    own_parts,
)
from regionpredict.ir import Expr
from regionpredict.ir.once_a_region import once_a_region

Range = tuple[Expr, Expr]
"""The smallest and the largest value of a loop counter."""


def range_at_call(
    decl: Decl, call: CallExpr, caller: Function, unit: LinkedUnit, context: Context
) -> Range | None:
    """Returns the range of the variable `decl` at a call, if it is the counter of a loop around the
    call. Returns None for other variables.
    """
    for loop in _loops_of_calls(caller).get(id(call), ()):
        header = read_header(loop, context, Frame({}))
        if header is None or header.decl is not decl:
            continue
        if not has_constant_step(loop, header, unit.effects):
            return None
        counted = with_type_arithmetic(loop, header, context, Frame({}))
        if counted is None or counted.start is None or counted.bound is None or counted.pointer:
            return None
        step = counted.step.constant if counted.step is not None else None
        if not step:
            return None
        onward = 1 if step > 0 else -1
        beyond = counted.comparison not in ("<=", ">=")
        last = counted.bound - onward if beyond else counted.bound
        return (counted.start, last) if onward > 0 else (last, counted.start)
    return None


@once_a_region
def _loops_of_calls(function: Function) -> dict[int, tuple[For, ...]]:
    """Returns the loops around each call in a function, innermost first. The key is the `id` of the
    call.
    """
    return {
        id(part): counted_loops(around)[::-1]
        for statement, around in nested(function.body)
        for part in own_parts(statement) if type(part) is CallExpr
    }  # fmt: skip
