"""Merges references that touch the same lines. They have equal addresses, or are in arrays with
equal references.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from regionpredict.workload.loop_nest import ReferenceGroup

Groups = Sequence[ReferenceGroup]
LoopBounds = dict[int, tuple[str, str]]
"""The first value and the limit of loops as text, if they are already computed. The key is the
loop's `index`.
"""
_index = attrgetter("index")


class AlikeArrays(NamedTuple):
    """Arrays with equal references, and therefore the same number of lines. Their `groups` are
    merged by address, and those of the first array represent all.
    """

    arrays: list[str]
    groups: list[ReferenceGroup]


def joined_groups(groups: Groups, bounds: LoopBounds) -> list[ReferenceGroup]:
    """Merges groups with the same addresses, such as `c[i][j]` before, in and after the loop over
    k, or in two loops over the same range.

    `bounds` caches the bounds of loops, since many groups have the same loops.
    """
    if len(groups) == 1:
        return list(groups)
    joined: dict[tuple[object, ...], list[ReferenceGroup]] = {}
    for group in groups:
        if group.irregular:
            joined[group.array, group.index] = [group]
            continue
        for loop in group.loops:
            if loop.index not in bounds:
                bounds[loop.index] = (repr(loop.first), repr(loop.limit))
        moving = tuple([
            (group.slopes.get(loop.variable, 0.0), depth, loop.step, *bounds[loop.index])
            for depth, loop in enumerate(group.loops)
            if loop.variable in group.slopes or loop.depends
        ])  # fmt: skip
        joined.setdefault((group.array, group.private, moving), []).append(group)
    return [_as_one(alike) for alike in joined.values()]


def _as_one(groups: list[ReferenceGroup]) -> ReferenceGroup:
    if len(groups) == 1:
        return groups[0]
    shortest = min(groups, key=lambda group: len(group.loops))
    return replace(
        shortest,
        offsets=tuple(sorted({offset for group in groups for offset in group.offsets})),
        written=tuple(sorted({offset for group in groups for offset in group.written})),
    )


def alike_arrays(groups: Groups, bounds: LoopBounds) -> list[AlikeArrays]:
    """Groups arrays whose addresses differ only in the start of the array.

    `bounds` has the same meaning as in `joined_groups`.
    """
    by_array: dict[str, list[ReferenceGroup]] = {}
    for group in joined_groups(groups, bounds):
        by_array.setdefault(group.array, []).append(group)
    if len(by_array) == 1:
        return [AlikeArrays([array], own) for array, own in by_array.items()]
    alike: dict[tuple[object, ...], AlikeArrays] = {}
    for array, own in by_array.items():
        key = tuple(
            (tuple(map(_index, group.loops)), tuple(group.slopes.items()), group.offsets,
             group.written, group.element, group.irregular, group.extent, group.private,
             group.drifts, group.still)
            for group in own
        )  # fmt: skip
        alike.setdefault(key, AlikeArrays([], own)).arrays.append(array)
    return list(alike.values())
