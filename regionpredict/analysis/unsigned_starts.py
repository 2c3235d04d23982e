"""Handles loops of unsigned variables that start at a negative number: `for (unsigned i = s; ...)`.

C converts the start to the type of the variable (C17, 6.3.1.3): -5 becomes 4294967291, and the loop
does not run. Almost all starts are positive, so the start is unchanged until its value is known.
"""

from __future__ import annotations

from dataclasses import replace

from regionpredict.analysis.bindings import Bindings
from regionpredict.ir import Branch, Expr, Loop, Node, Region, Statement


def with_unsigned_starts(region: Region, bindings: Bindings) -> Region:
    """The region in which each such start is converted to the type of its variable. If there is
    none, the same region.
    """
    if region.nest is None or not any(_is_negative(loop, bindings) for loop in _loops(region)):
        return region
    return replace(
        region,
        nest=_loop(region.nest, bindings),
        enclosing=tuple(_loop(loop, bindings) for loop in region.enclosing),
    )


def _loops(region: Region) -> tuple[Loop, ...]:
    return (*region.enclosing, *region.loops())


def _is_negative(loop: Loop, bindings: Bindings) -> bool:
    if not loop.unsigned_bits:
        return False
    value = bindings.number(loop.start)
    return value is not None and value < 0


def _loop(loop: Loop, bindings: Bindings) -> Loop:
    body = tuple(_node(node, bindings) for node in loop.body)
    value = bindings.whole(loop.start)
    if value is None or not _is_negative(loop, bindings):
        return replace(loop, body=body)
    return replace(loop, body=body, start=Expr.const(value % (1 << loop.unsigned_bits)))


def _node(node: Node, bindings: Bindings) -> Node:
    if isinstance(node, Statement):
        return node
    if isinstance(node, Loop):
        return _loop(node, bindings)
    if isinstance(node, Branch):
        sides = tuple(tuple(_node(part, bindings) for part in side) for side in node.sides)
        return replace(node, sides=sides)
    return replace(node, body=tuple(_node(part, bindings) for part in node.body))
