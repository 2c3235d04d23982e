"""Merges reference groups with equal addresses, and arrays with equal reference groups, so that
their lines are counted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from regionpredict.workload.loop_nest import ReferenceGroup

Groups = Sequence[ReferenceGroup]
LoopBounds = dict[int, tuple[str, str]]
"""A cache of the first value and the limit of loops, as text. The key is the loop's `index`."""
_index = attrgetter("index")


class EqualArrays(NamedTuple):
    """Arrays with equal references, and therefore equal numbers of lines. `groups` are the merged
    reference groups of the first array.
    """

    arrays: list[str]
    groups: list[ReferenceGroup]


def merge_groups(groups: Groups, bounds: LoopBounds) -> list[ReferenceGroup]:
    """Merges reference groups with equal addresses, such as `c[i][j]` before, in and after the loop
    over k, or in two loops over the same range.

    `bounds` is a cache of loop bounds, because many groups are in the same loops.
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
    return [_merged_group(alike) for alike in joined.values()]


def _merged_group(groups: list[ReferenceGroup]) -> ReferenceGroup:
    if len(groups) == 1:
        return groups[0]
    shortest = min(groups, key=lambda group: len(group.loops))
    return replace(
        shortest,
        offsets=tuple(sorted({offset for group in groups for offset in group.offsets})),
        written=tuple(sorted({offset for group in groups for offset in group.written})),
    )


def group_equal_arrays(groups: Groups, bounds: LoopBounds) -> list[EqualArrays]:
    """Collects arrays with equal references, whose addresses differ only in the start of the array.

    `bounds` is a cache of loop bounds, as for `merge_groups`.
    """
    by_array: dict[str, list[ReferenceGroup]] = {}
    for group in merge_groups(groups, bounds):
        by_array.setdefault(group.array, []).append(group)
    if len(by_array) == 1:
        return [EqualArrays([array], own) for array, own in by_array.items()]
    alike: dict[tuple[object, ...], EqualArrays] = {}
    for array, own in by_array.items():
        key = tuple(
            (tuple(map(_index, group.loops)), tuple(group.slopes.items()), group.offsets,
             group.written, group.element, group.irregular, group.extent, group.private,
             group.drifts, group.still)
            for group in own
        )  # fmt: skip
        alike.setdefault(key, EqualArrays([], own)).arrays.append(array)
    return list(alike.values())
