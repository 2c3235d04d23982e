"""What stands under the branches of a loop body, and what vectors make of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from regionpredict.ir import Branch, Loop, Node, Statement, statements_in
from regionpredict.workload.constants import EULER_GAMMA
from regionpredict.workload.loop_nest import Conditional


def shares_of_sides(branch: Branch, even: float, trips: float) -> tuple[float, ...]:
    """In how many of the executions of a branch each of its sides runs: as the caller said, or all
    alike, `even`; an extreme as often as a loop of so many `trips` finds a new one.

    Of n values in any order, every order being as likely, 1 + 1/2 + ... + 1/n are greater than
    all before (Rényi 1962, "Théorie des éléments saillants d'une suite d'observations").
    """
    held = float(branch.share) if branch.share is not None else None
    if held is None and branch.extreme:
        held = min(1.0, (log(max(trips, 1.0)) + EULER_GAMMA.value) / max(trips, 1.0))
    if held is None:
        return (even,) * len(branch.sides)
    return (held, 1.0 - held)[: len(branch.sides)]


def under_branches(loop: Loop, *, reassociates: bool) -> Conditional:
    """What the branches directly in the loop's body hold, the worst of them.

    Variables of the loop are blended by a vector, elements that move with the loop masked; of
    loops, calls, synchronisation and writes in one place a compiler makes neither. A variable
    that the iteration before may have set is a least or greatest value: one is blended where
    operations may be reordered (`reassociates`), two (a value and its place) are not.
    """
    sides = [side for node in loop.body if isinstance(node, Branch) for side in node.sides]
    set_there = {
        name
        for side in sides
        for statement in statements_in(side)
        for name in statement.writes
        if statement.role != "declare"
    }
    anew = {name for node in loop.body if isinstance(node, Statement) for name in node.writes}
    if len(set_there - anew) > (1 if reassociates else 0):
        return "code"
    kinds = {_held(side, loop.variable) for side in sides}
    order: tuple[Conditional, ...] = ("code", "elements", "values")
    return next((kind for kind in order if kind in kinds), "")


def _held(side: Sequence[Node], variable: str) -> Conditional:
    held: Conditional = "values"
    for node in side:
        if isinstance(node, Statement):
            if node.calls or any(op.kind.startswith("call:") for op, _ in node.operations):
                return "code"
            for access in node.accesses:
                moves = any(variable in subscript.names for subscript in access.subscripts)
                if access.kind == "write" and not moves:
                    return "code"
                held = "elements"
        elif isinstance(node, Branch):
            for inner in node.sides:
                kind = _held(inner, variable)
                if kind == "code":
                    return kind
                held = "elements" if kind == "elements" else held
        else:
            return "code"
    return held
