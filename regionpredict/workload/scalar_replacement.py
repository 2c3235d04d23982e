"""Decides which elements that are constant in an inner loop are kept in a register, and which are
stored in each iteration.

`y[i] += a[i][j] * x[j]` in a loop over j stores y[i] in each iteration if another reference of the
loop can be y[i]. It is loaded again if a store may have changed it. Compilers move the code of a
directive to a separate function, and pass the addresses of shared data. In this function they know
only types, despite `restrict`, local arrays or new memory (seen in GCC 12.2's assembly at -O2, -O3
and -Ofast). Global arrays with known lengths are distinct. The same holds for numbers of different
length, except bytes (C11, sec. 6.5, paragraph 7), and private data.
"""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.workload.constants import NUMBER_BYTES
from regionpredict.workload.loop_nest import NestLoop, ReferenceGroup

BYTE_LENGTH = 1
"""Character types, which may alias anything."""


class ConstantAccesses(NamedTuple):
    """The `loads` and `stores` of constant elements in each iteration."""

    loads: float
    stores: float


NONE_KEPT = ConstantAccesses(0.0, 0.0)


def kept_in_memory(loop: NestLoop) -> ConstantAccesses:
    """The loads and stores of constant elements in an iteration of an innermost loop."""
    loads = stores = 0.0
    for group in loop.groups:
        if stored_each_time(group, loop):
            stores += len(group.written)
            loads += len(group.written) if changed_between(group, loop) else 0.0
    return ConstantAccesses(loads, stores)


def stored_each_time(group: ReferenceGroup, loop: NestLoop) -> bool:
    """Whether a group that is constant in an innermost loop must be stored in each iteration."""
    return _is_constant_in(group, loop) and any(_may_alias(group, other) for other in loop.groups)


def changed_between(group: ReferenceGroup, loop: NestLoop) -> bool:
    """Whether another store in the loop's body may change the group, according to the rules of
    compilers.
    """
    return any(other.written and _may_alias(group, other) for other in loop.groups)


def _is_constant_in(group: ReferenceGroup, loop: NestLoop) -> bool:
    moves = group.irregular or group.slopes.get(loop.variable)
    return bool(group.written) and not moves and not loop.children


def _may_alias(group: ReferenceGroup, other: ReferenceGroup) -> bool:
    """Whether a reference of the other group may be one of this group, according to the rules of
    compilers.
    """
    if other is group or group.private or other.private:
        return False
    if group.aligned and other.aligned and group.array != other.array:
        return False
    own = {access.bytes for access in group.accesses}
    others = {access.bytes for access in other.accesses}
    struct = max(own | others) > NUMBER_BYTES.value  # a struct has numbers of any length
    return struct or bool(own & others) or BYTE_LENGTH in own | others
