"""Finds the range in bytes of addresses that are not affine, and the loops in which these addresses
are constant.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.ir import Access
from regionpredict.workload.loop_nest import Curved, Form, LoopHeader
from regionpredict.workload.value_ranges import Intervals, interval_of


def invariant_loops(accesses: Sequence[Access], chain: Sequence[LoopHeader]) -> frozenset[str]:
    """Returns the variables of the innermost loops in which the addresses are constant, such as j
    for `b[k[i]]`.

    The result is empty if a subscript contains a call, which may return another value each time.
    """
    subscripts = [subscript for access in accesses for subscript in access.subscripts]
    if any("call" in subscript.kinds for subscript in subscripts):
        return frozenset()
    moving = {name for subscript in subscripts for name in subscript.names}
    invariant: set[str] = set()
    for loop in reversed(chain):
        if loop.variable in moving or loop.parallel:
            break
        invariant.add(loop.variable)
    return frozenset(invariant)


def bytes_between(
    forms: Sequence[Form | None], accesses: Sequence[Access], intervals: Intervals
) -> float | None:
    """Returns the range of the addresses in bytes, such as 192 for `a[i % 24]` of doubles. None if
    the addresses depend on data.
    """
    lows, highs = [], []
    for form, access in zip(forms, accesses, strict=True):
        interval = interval_of(form.expr, intervals) if isinstance(form, Curved) else None
        if interval is None:
            return None
        lows.append(interval.low)
        highs.append(interval.high + access.bytes)
    return max(highs) - min(lows)
