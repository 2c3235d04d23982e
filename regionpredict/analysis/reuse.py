"""Classifies references as hit or miss by the indices that change fastest (Chatzopoulos 2012, 4.2.2
"Reuse Distance").

A reference misses if its indices change fastest. For an array with d effective dimensions, the
variables of the d innermost loops change fastest. In listing 4.3 (loops i, j, k), `matrixC[i][j]`
and `matrixA[i][k]` hit, and `matrixB[j][k]` misses.
"""

from __future__ import annotations

from regionpredict.analysis.dimensions import used_variables
from regionpredict.ir import Access, Loop


def reuse_of_access(access: Access, loops: tuple[Loop, ...], dimensions: int) -> str:
    """Returns 'miss' or 'hit' for a reference of a counted array in `loops`."""
    depth = min(dimensions, len(loops))
    if depth == 0:
        return "hit"
    fastest = {loop.variable for loop in loops[-depth:]}
    return "miss" if used_variables(access, loops) == fastest else "hit"
