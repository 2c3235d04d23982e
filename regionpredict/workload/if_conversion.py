"""What stands under the branches of a loop body, and what vectors make of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from regionpredict.ir import Branch, Loop, Statement
from regionpredict.ir.region import Node
from regionpredict.workload.loop_nest import Conditional


def statements_in(nodes: Sequence[Node]) -> Iterator[Statement]:
    """All statements below the nodes, in source order."""
    for node in nodes:
        if isinstance(node, Statement):
            yield node
        elif isinstance(node, Branch):
            for side in node.sides:
                yield from statements_in(side)
        else:
            yield from statements_in(node.body)


def shares_of_sides(branch: Branch, even: float) -> tuple[float, ...]:
    """In how many of the executions of a branch each of its sides runs: as the caller said, or all
    alike, `even`."""
    if branch.share is None:
        return (even,) * len(branch.sides)
    held = float(branch.share)
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
