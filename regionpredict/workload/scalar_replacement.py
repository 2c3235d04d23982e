"""Elements that stand still in an inner loop: kept in a register, or stored on each iteration.

`y[i] += a[i][j] * x[j]` in a loop over j stores y[i] each time unless no reference of the loop can
be y[i], and loads it again where a store may have changed it. Compilers make a function of what a
directive stands in front of, and hand it the addresses of what is shared; of these they know no
more than their types, whatever they knew of pointers with `restrict`, arrays on the stack or memory
just allocated (seen in GCC 12.2's assembly at -O2, -O3 and -Ofast). Arrays that are declared
outside of functions, with their extents, are apart from each other; so are numbers of different
length, but for bytes (C11, sec. 6.5, paragraph 7), and what each thread has for itself.
"""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.workload.constants import NUMBER_BYTES
from regionpredict.workload.loop_nest import NestLoop, ReferenceGroup

BYTE_LENGTH = 1
"""Of characters, which may be a part of anything."""


class Kept(NamedTuple):
    """What an iteration does for elements that stand still: `loads` and `stores` of them."""

    loads: float
    stores: float


NONE_KEPT = Kept(0.0, 0.0)


def kept_in_memory(loop: NestLoop) -> Kept:
    """The loads and stores of an innermost loop's iteration for elements that stand still."""
    loads = stores = 0.0
    for group in loop.groups:
        if stored_each_time(group, loop):
            stores += len(group.written)
            loads += len(group.written) if changed_between(group, loop) else 0.0
    return Kept(loads, stores)


def stored_each_time(group: ReferenceGroup, loop: NestLoop) -> bool:
    """Whether a group that stands still in an innermost loop is stored on each iteration."""
    return _stands_still(group, loop) and any(_may_be(group, other) for other in loop.groups)


def changed_between(group: ReferenceGroup, loop: NestLoop) -> bool:
    """Whether a compiler must take it that another store of the loop's body changes the group."""
    return any(other.written and _may_be(group, other) for other in loop.groups)


def _stands_still(group: ReferenceGroup, loop: NestLoop) -> bool:
    moves = group.irregular or group.slopes.get(loop.variable)
    return bool(group.written) and not moves and not loop.children


def _may_be(group: ReferenceGroup, other: ReferenceGroup) -> bool:
    """Whether a compiler must take a reference of the other group for one of this."""
    if other is group or group.private or other.private:
        return False
    if group.aligned and other.aligned and group.array != other.array:
        return False
    own = {access.bytes for access in group.accesses}
    others = {access.bytes for access in other.accesses}
    struct = max(own | others) > NUMBER_BYTES.value  # has numbers of any length
    return struct or bool(own & others) or BYTE_LENGTH in own | others
