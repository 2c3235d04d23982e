"""Estimates the shares of branches in loop bodies, and decides whether branches can be
vectorized.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from regionpredict.ir import Branch, Loop, Node, Statement, statements_in
from regionpredict.library import RARE_UNDER_A_CONDITION
from regionpredict.workload.constants import EULER_GAMMA, RARE_SIDE
from regionpredict.workload.loop_nest import Conditional


def shares_of_sides(branch: Branch, even: float, trips: float) -> tuple[float, ...]:
    """Returns the share of executions in which each side of a branch is taken: as given by the
    user, or `even` for equally frequent sides.

    A side with a message or an allocation is rare (`RARE_SIDE`). A side that leaves a loop of
    `trips` iterations is taken once. An update of a running extreme has the frequency of random
    data: of n values, 1 + 1/2 + ... + 1/n exceed all previous values. See Rényi 1962, "Théorie des
    éléments saillants d'une suite d'observations".
    """
    held = float(branch.share) if branch.share is not None else None
    if held is None and branch.extreme:
        held = min(1.0, (log(max(trips, 1.0)) + EULER_GAMMA.value) / max(trips, 1.0))
    if held is None and len(branch.ending) == 1:
        once = min(even, 1.0 / max(trips, 1.0))
        held = once if branch.ending == (0,) else 1.0 - once
    if held is None:
        rare = [_is_rare(side) for side in branch.sides]
        number, others = sum(rare), len(rare) - sum(rare)
        if not number or (not others and number > 1):
            return (even,) * len(rare)
        often = (1 - number * RARE_SIDE.value) / max(1, others)
        return tuple(RARE_SIDE.value if own else often for own in rare)
    return (held, 1.0 - held)[: len(branch.sides)]


def _is_rare(side: Sequence[Node]) -> bool:
    """Whether a side of a branch contains a message or an allocation."""
    return any(call.name in RARE_UNDER_A_CONDITION for statement in statements_in(side)
               for call in statement.calls)  # fmt: skip


def under_branches(loop: Loop, *, reassociates: bool) -> Conditional:
    """Returns the kind of branches directly in a loop body that is most difficult to vectorize.

    Vector code blends scalars, and masks accesses to elements that move with the loop. Loops,
    calls, synchronization and writes to a constant element prevent vectorization. A conditional
    scalar from the previous iteration is a running extreme. A single extreme is vectorized if
    operations may be reordered (`reassociates`), but not together with its index.
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
    kinds = {_content_kind(side, loop.variable) for side in sides}
    order: tuple[Conditional, ...] = ("code", "elements", "values")
    return next((kind for kind in order if kind in kinds), "")


def _content_kind(side: Sequence[Node], variable: str) -> Conditional:
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
                kind = _content_kind(inner, variable)
                if kind == "code":
                    return kind
                held = "elements" if kind == "elements" else held
        else:
            return "code"
    return held
