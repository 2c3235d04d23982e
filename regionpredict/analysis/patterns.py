"""Classifies the access patterns of references: streaming, latency-bound or irregular (Chatzopoulos
2012, listings 4.5 and 4.6).

The innermost loop that changes the address determines the pattern. If its steps are shorter than a
cache line, the reference is streaming. With longer steps, each step waits for a cache line. A
non-affine address is irregular.
"""

from __future__ import annotations

from regionpredict.analysis.dimensions import without_clamps
from regionpredict.analysis.periodic_subscripts import without_wrap_around
from regionpredict.ir import Access, Array, Expr, Loop

LINE_BYTES = 64
"""The cache line size in bytes that is assumed for facts, which do not depend on a machine. Most
machines have this size.
"""
_IRREGULAR = frozenset(("ref", "call", "varying", "mod", "floordiv", "select", "carried"))


def access_pattern(
    access: Access, array: Array, loops: tuple[Loop, ...], line_bytes: int = LINE_BYTES
) -> str:
    """Returns 'streaming', 'latency' or 'irregular' for a reference in `loops`, outermost first.

    If the step is shorter than `line_bytes`, the reference stays in a cache line or continues with
    the next one.
    """
    variables = frozenset(loop.variable for loop in loops)
    moved = [
        without_wrap_around(without_clamps(subscript), loops) for subscript in access.subscripts
    ]
    if any(_is_irregular(subscript, variables) for subscript in moved):
        return "irregular"
    for loop in reversed(loops):
        if not any(loop.variable in subscript.names for subscript in moved):
            continue
        return _pattern_along(loop, moved, array, line_bytes)
    return "streaming"


def _pattern_along(loop: Loop, subscripts: list[Expr], array: Array, line_bytes: int) -> str:
    if any(loop.variable in subscript.names for subscript in subscripts[:-1]):
        short = _has_short_rows(loop, subscripts, array, line_bytes)
        return "streaming" if short else "latency"
    coefficient = subscripts[-1].coefficient(loop.variable)
    if coefficient is None:
        return "irregular"
    step, stride = _constant_value(loop.step), _constant_value(coefficient)
    if stride is None or step is None:
        return "latency"
    short = abs(stride * step) * array.element_bytes < line_bytes
    return "streaming" if short else "latency"


def _has_short_rows(loop: Loop, subscripts: list[Expr], array: Array, line_bytes: int) -> bool:
    """Whether rows are shorter than a cache line, as in `u[j][i][m]` along i with five values of m.
    A sequence of such rows forms a stream.
    """
    if len(array.dims) != len(subscripts):
        return False
    size: int | None = array.element_bytes  # per step of the current subscript
    moved = 0
    for position in range(len(subscripts) - 1, -1, -1):
        if loop.variable in subscripts[position].names:
            number = _constant_value(subscripts[position].coefficient(loop.variable))
            if number is None or size is None:
                return False
            moved += abs(number) * size
        length = _constant_value(array.dims[position])
        size = size * length if size is not None and length is not None else None
    step = _constant_value(loop.step)
    return step is not None and moved * abs(step) < line_bytes


def _constant_value(expression: Expr | None) -> int | None:
    value = expression.constant if expression is not None else None
    return value if isinstance(value, int) else None


def _is_irregular(subscript: Expr, variables: frozenset[str]) -> bool:
    return any(
        atom.kind in _IRREGULAR and not atom.names.isdisjoint(variables)
        for atom in subscript.atoms()
    )
