"""Reuse: hit or miss, by the fastest-changing indices (Chatzopoulos 2012, 4.2.2 "Reuse Distance").

A reference misses if its indices change fastest: they are the variables of the innermost loops, as
many as the array has effective dimensions. In listing 4.3 (loops i, j, k), `matrixC[i][j]` and
`matrixA[i][k]` hit, and `matrixB[j][k]` misses.
"""

from __future__ import annotations

from regionpredict.analysis.dimensions import used_variables
from regionpredict.ir import Access, Loop


def reuse(access: Access, loops: tuple[Loop, ...], dimensions: int) -> str:
    """'miss' or 'hit' for a reference of a counted array, with the loops of its statement."""
    depth = min(dimensions, len(loops))
    if depth == 0:
        return "hit"
    fastest = {loop.variable for loop in loops[-depth:]}
    return "miss" if used_variables(access, loops) == fastest else "hit"
