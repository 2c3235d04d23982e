"""Converts negative starts of loops with unsigned variables: `for (unsigned i = s; ...)`.

C converts the start to the type of the variable (C17, 6.3.1.3): -5 becomes 4294967291, and the loop
does not run. Almost all starts are positive, so only known negative values are converted.
"""

from __future__ import annotations

from dataclasses import replace

from regionpredict.analysis.bindings import Bindings
from regionpredict.ir import Branch, Expr, Loop, Node, Region, Statement


def with_unsigned_starts(region: Region, bindings: Bindings) -> Region:
    """Returns the region with negative starts converted to the unsigned type of the loop variable.
    If there is none, the same region is returned.
    """
    if region.nest is None or not any(
        _has_negative_start(loop, bindings) for loop in (*region.enclosing, *region.loops())
    ):
        return region
    return replace(
        region,
        nest=_converted_loop(region.nest, bindings),
        enclosing=tuple(_converted_loop(loop, bindings) for loop in region.enclosing),
    )


def _has_negative_start(loop: Loop, bindings: Bindings) -> bool:
    if not loop.unsigned_bits:
        return False
    value = bindings.number(loop.start)
    return value is not None and value < 0


def _converted_loop(loop: Loop, bindings: Bindings) -> Loop:
    body = tuple(_converted_node(node, bindings) for node in loop.body)
    value = bindings.whole(loop.start)
    if value is None or not _has_negative_start(loop, bindings):
        return replace(loop, body=body)
    return replace(loop, body=body, start=Expr.const(value % (1 << loop.unsigned_bits)))


def _converted_node(node: Node, bindings: Bindings) -> Node:
    if isinstance(node, Statement):
        return node
    if isinstance(node, Loop):
        return _converted_loop(node, bindings)
    if isinstance(node, Branch):
        sides = tuple(
            tuple(_converted_node(part, bindings) for part in side) for side in node.sides
        )
        return replace(node, sides=sides)
    return replace(node, body=tuple(_converted_node(part, bindings) for part in node.body))
