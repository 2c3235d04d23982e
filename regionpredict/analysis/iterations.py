"""How often: the trip count of the worksharing loop, and the executions of each statement."""

from __future__ import annotations

from regionpredict.analysis.domain import domain_of
from regionpredict.analysis.summation import sum_over
from regionpredict.ir import Expr, Loop, Region
from regionpredict.ir.expr import ONE


def iterations(region: Region) -> Expr | None:
    """How many iterations the directive shares among the threads; None where not understood.

    The product of the collapsed loops' trips (their sum, where the inner depends on the outer).
    """
    loops = shared_loops(region)
    return executions(loops) if loops else None


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

    Exact closed forms for rectangular, triangular and banded nests whose bounds can be compared;
    None where a loop is not counted or the form is not known. Holds where the guards of the
    domain are at least one.

    >>> from regionpredict.ir import Span
    >>> n, i, zero = Expr.name("n"), Expr.name("i"), Expr.const(0)
    >>> outer = Loop("i", zero, n, "<", ONE, (), Span("f.c", 1))
    >>> inner = Loop("j", zero, i, "<=", ONE, (), Span("f.c", 2))
    >>> str(executions((outer, inner)))
    '(n*n + n)/2'
    """
    ranges = domain_of(loops).ranges
    if ranges is None:
        return None
    total: Expr | None = ONE
    for one in reversed(ranges):
        if total is None:
            return None
        total = sum_over(total, one.variable, one.first, one.trips, one.step)
    return total
