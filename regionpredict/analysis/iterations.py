"""How often: the trip count of the worksharing loop, and the executions of each statement."""

from __future__ import annotations

from regionpredict.analysis.summation import sum_over
from regionpredict.ir import Expr, Loop, Region
from regionpredict.ir.expr import ONE


def iterations(region: Region) -> Expr | None:
    """How many iterations the directive shares among the threads; None where not understood.

    The product of the collapsed loops' trips (their sum, where the inner depends on the outer).
    """
    return executions(shared_loops(region))


def shared_loops(region: Region) -> tuple[Loop, ...]:
    """The worksharing loop and the loops collapsed with it, outermost first."""
    loops: list[Loop] = []
    nest = region.nest
    while nest is not None and len(loops) < region.collapse:
        loops.append(nest)
        nest = next((node for node in nest.body if isinstance(node, Loop)), None)
    return tuple(loops)


def executions(loops: tuple[Loop, ...]) -> Expr | None:
    """How often a statement inside `loops` (outermost first) runs in one run of the region.

    Exact closed forms for rectangular and triangular nests; None where a loop is not counted.

    >>> from regionpredict.ir import Span
    >>> n, i, zero = Expr.name("n"), Expr.name("i"), Expr.const(0)
    >>> outer = Loop("i", zero, n, "<", ONE, (), Span("f.c", 1))
    >>> inner = Loop("j", zero, i, "<=", ONE, (), Span("f.c", 2))
    >>> str(executions((outer, inner)))
    '(n*n + n)/2'
    """
    total: Expr | None = ONE
    for position in range(len(loops) - 1, -1, -1):
        total = _sum_loop(loops[position], total, loops[:position])
        if total is None:
            return None
    return total


def _sum_loop(loop: Loop, body: Expr | None, outer: tuple[Loop, ...]) -> Expr | None:
    trips = loop.trips
    if trips is None or body is None or loop.start is None or loop.step is None:
        return None
    step = loop.step.constant
    if not isinstance(step, int):
        return None
    if loop.variable not in body.names:
        return body * trips
    return _sum_clipped(loop, body, trips, step)


def _sum_clipped(loop: Loop, body: Expr, trips: Expr, step: int) -> Expr | None:
    """The sum over the loop, leaving out iterations in which an inner trip count is below zero.

    For `j` in [i+2, n) inside `i` in [0, n) the last iteration of `i` has n-i-2 = -1 iterations
    of `j`: it counts 0. Decided where the inner count is linear in the variable, with slope 1 or
    -1, and the difference of the two bounds is a number.
    """
    assert loop.start is not None
    slope = body.coefficient(loop.variable)
    if slope is not None and slope.constant in (1, -1) and abs(step) == 1:
        first, last = loop.start, loop.start + (trips - 1) * step
        edge = last if slope.constant * step < 0 else first
        lowest = body.substitute({loop.variable: edge}).constant
        if isinstance(lowest, int) and lowest < 0:
            shift = -lowest
            if slope.constant * step < 0:
                return sum_over(body, loop.variable, first, trips - shift, step)
            return sum_over(body, loop.variable, first + shift * step, trips - shift, step)
    return sum_over(body, loop.variable, loop.start, trips, step)
