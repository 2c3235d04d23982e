"""Counts the iterations of the worksharing loop, and the executions of each statement."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import NamedTuple

from regionpredict.analysis.bindings import Bindings
from regionpredict.analysis.loop_enumeration import count_executions
from regionpredict.analysis.symbolic.domain import steps_of
from regionpredict.analysis.symbolic.piecewise import Steps, exact_total, readable_total
from regionpredict.ir import Expr, Loop, Region
from regionpredict.ir.folding import Number

_MAX_SHOWN = 120  # maximum size of a readable expression


class Executions(NamedTuple):
    """A number of executions.

    `expr` is a polynomial, or None if there is no readable form. It is valid if all expressions in
    `holds` are nonnegative and the `loops` run. `at_most` says that a loop may end early, so that
    the number is an upper bound. `source` are the original loops.
    """

    expr: Expr | None
    holds: tuple[Expr, ...]
    at_most: bool
    loops: tuple[Steps, ...] | None
    source: tuple[Loop, ...] = ()

    def value(self, bindings: Bindings) -> int | None:
        """Returns the number for these values, whether or not the conditions in `holds` are
        true.
        """
        if self.loops is None:
            return None
        carried = count_executions(self.source, bindings.values)
        if carried is not None:
            return carried
        variables = {loop.variable for loop in self.loops}
        outer = [loop.trips - 1 for loop in self.loops if not loop.trips.names & variables]
        signs = [bindings.number(guard) for guard in (*outer, *self.holds)]
        if any(sign is not None and sign < 0 for sign in signs[: len(outer)]):
            return 0
        if self.expr is not None and all(sign is not None and sign >= 0 for sign in signs):
            return bindings.whole(self.expr)
        open_names = {name for loop in self.loops for name in loop.names} - variables
        if not open_names <= bindings.values.keys():
            return None
        known = {name: Expr.const(number) for name, number in bindings.values.items()}
        total = exact_total([loop.bound_to(known) for loop in self.loops])
        return bindings.whole(total)

    @property
    def depends_on(self) -> frozenset[str]:
        """All names that the number depends on, as in `Bindings.values`."""
        ends = [end for loop in self.source for end in (loop.start, loop.bound, loop.step)
                if end is not None]  # fmt: skip
        labels = (atom.label for end in ends for atom in end.atoms())
        return frozenset().union(*(end.names for end in ends), labels)


UNKNOWN = Executions(None, (), at_most=False, loops=None)


def iterations_of(region: Region) -> Executions:
    """Returns the number of iterations that the directive distributes over the threads.

    It is the product of the trip counts of the collapsed loops, or their sum if the inner loop
    depends on the outer one.
    """
    loops = shared_loops(region)
    return executions_in_loops(loops) if loops else UNKNOWN


def shared_loops(region: Region) -> tuple[Loop, ...]:
    """Returns the worksharing loop and the loops collapsed with it, outermost first."""
    loops: list[Loop] = []
    nest = region.nest
    while nest is not None and len(loops) < region.collapse:
        loops.append(nest)
        nest = next((node for node in nest.body if isinstance(node, Loop)), None)
    return tuple(loops)


def executions_in_loops(loops: tuple[Loop, ...]) -> Executions:
    """Returns the executions of a statement in `loops` (outermost first) per execution of the
    region.

    There are closed forms for rectangles, triangles, bands with `min` and `max`, tiles, and
    strides. The number is unknown if a loop has no trip count, and for any other form.

    >>> from regionpredict.ir import Span
    >>> n, i, zero = Expr.name("n"), Expr.name("i"), Expr.const(0)
    >>> outer = Loop("i", zero, n, "<", Expr.const(1), (), Span("f.c", 1))
    >>> inner = Loop("j", zero, i, "<=", Expr.const(1), (), Span("f.c", 2))
    >>> str(executions_in_loops((outer, inner)).expr)
    '(n*n + n)/2'
    """
    steps = steps_of(loops)
    if steps is None:
        return UNKNOWN
    most = any(loop.exits for loop in loops)
    total = readable_total(steps)
    if total is None or total.expr.size > _MAX_SHOWN:
        return Executions(None, (), most, tuple(steps), loops)
    return Executions(total.expr, total.holds, most, tuple(steps), loops)


def executed_statements(region: Region, values: Mapping[str, Number]) -> float:
    """Returns the number of executed statements. Loops with an unknown trip count are counted
    once.
    """
    trips = {id(loop): _trips_of_loop(loop, values) for loop in region.loops()}
    return sum(prod(trips[id(loop)] for loop in loops) for _, loops in region.statements())


def _trips_of_loop(loop: Loop, values: Mapping[str, Number]) -> float:
    known = loop.trips.evaluate(values) if loop.trips is not None else None
    return 1.0 if known is None else max(0.0, float(known))
