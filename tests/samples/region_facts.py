"""Effective dimensions, reuse and pattern of a reference, by evaluation; for the tests alone.

The rules are those of Chatzopoulos 2012, ch. 4, as `docs/samples.md` states them. Whether a loop
variable moves a subscript, and by how much, is found by evaluating the subscript at two
neighbouring values, not by reading coefficients off it.
"""

from __future__ import annotations

from region_reader import Reference, Region
from region_runner import Environment, UnknownValue, evaluate


def counted(region: Region, dims: dict[str, int]) -> dict[str, bool]:
    """Which arrays have the region's largest number of effective dimensions."""
    largest = max((d for name, d in dims.items() if name not in region.private), default=0)
    return {name: name not in region.private and d == largest for name, d in dims.items()}


def reuse(region: Region, ref: Reference) -> str:
    """`miss` or `hit` of one reference."""
    dims = region.arrays()
    if not counted(region, dims)[ref.array]:
        return "hit"
    depth = min(dims[ref.array], len(ref.loops))
    innermost = set(ref.loops[len(ref.loops) - depth :])
    return "miss" if ref.used == innermost else "hit"


def pattern(ref: Reference, env: Environment) -> str:
    """`streaming`, `latency` or `irregular` of one reference.

    `env` gives the integers known outside of the region.
    """
    here = dict(env) | {name: 10 + 3 * n for n, name in enumerate(ref.loops)}
    try:
        for subscript in ref.subscripts:
            evaluate(subscript, here)
    except UnknownValue:
        return "irregular"
    used = [name for name in ref.loops if name in ref.used]
    if not used:
        return "streaming"
    there = here | {used[-1]: here[used[-1]] + 1}
    strides = [evaluate(s, there) - evaluate(s, here) for s in ref.subscripts]
    contiguous = strides[-1] in {1, -1} and not any(strides[:-1])
    return "streaming" if contiguous else "latency"
