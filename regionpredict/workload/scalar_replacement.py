"""Decides which loop-invariant elements compilers keep in a register, and which are stored in each
iteration of an innermost loop.

`y[i] += a[i][j] * x[j]` in a loop over j stores y[i] in each iteration if another reference may
alias y[i]. It is loaded again if a store may have changed it. Compilers outline the code of a
directive and pass the addresses of shared data. The outlined function knows only types, despite
`restrict`, local arrays or new memory (seen in GCC 12.2's assembly at -O2, -O3 and -Ofast). Global
arrays with known lengths, private data, and numbers of different length (C11, sec. 6.5, paragraph
7) do not alias. Bytes may alias anything.
"""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.workload.constants import NUMBER_BYTES
from regionpredict.workload.loop_nest import NestLoop, ReferenceGroup

BYTE_LENGTH = 1
"""The size of character types, which may alias anything."""


class ConstantAccesses(NamedTuple):
    """The loads and stores of loop-invariant elements per iteration."""

    loads: float
    stores: float


NONE_KEPT = ConstantAccesses(0.0, 0.0)


def kept_in_memory(loop: NestLoop) -> ConstantAccesses:
    """Counts the loads and stores of loop-invariant elements per iteration of an innermost loop."""
    loads = stores = 0.0
    for group in loop.groups:
        if stored_each_time(group, loop):
            stores += len(group.written)
            loads += len(group.written) if changed_between(group, loop) else 0.0
    return ConstantAccesses(loads, stores)


def stored_each_time(group: ReferenceGroup, loop: NestLoop) -> bool:
    """Whether a loop-invariant element must be stored in each iteration of an innermost loop."""
    return _is_constant_in(group, loop) and any(_may_alias(group, other) for other in loop.groups)


def changed_between(group: ReferenceGroup, loop: NestLoop) -> bool:
    """Whether another store in the loop body may alias the group, according to compilers."""
    return any(other.written and _may_alias(group, other) for other in loop.groups)


def _is_constant_in(group: ReferenceGroup, loop: NestLoop) -> bool:
    moves = group.irregular or group.slopes.get(loop.variable)
    return bool(group.written) and not moves and not loop.children


def _may_alias(group: ReferenceGroup, other: ReferenceGroup) -> bool:
    """Whether references of two groups may alias, according to compilers."""
    if other is group or group.private or other.private:
        return False
    if group.aligned and other.aligned and group.array != other.array:
        return False
    own = {access.bytes for access in group.accesses}
    others = {access.bytes for access in other.accesses}
    struct = max(own | others) > NUMBER_BYTES.value  # a struct has numbers of any length
    return struct or bool(own & others) or BYTE_LENGTH in own | others
