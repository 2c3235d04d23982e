"""Loops whose begin the loops around them move, counted from there.

    for (i..) for (k = 100 * i; k < 100 * i + 100; k++) s += val[k];
    for (i..) for (k = 0; k < 100; k++) s += val[100 * i + k];             the same

Then the rows of a block, or of a table whose rows are of one length, are steps of a lattice, and
iterations that are dealt out in turn leave gaps in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from regionpredict.workload.loop_nest import (
    Affine,
    Form,
    LoopHeader,
    NestLoop,
    ReferenceGroup,
    with_contents,
)


def counted_from_begins(loop: NestLoop) -> NestLoop:
    """The loop and all in it, each counted from its begin where that is moved and its length is
    not. Where an address moves with both (`b[k][i]`, `k` from `i` on), the loop stays as it is:
    its lines are those of a matrix, not of a sheared one.
    """
    children = tuple(map(counted_from_begins, loop.children))
    loop = with_contents(loop, children, loop.groups, loop.statements)
    first, limit = loop.first, loop.limit
    if not isinstance(first, Affine) or not isinstance(limit, Affine):
        return loop
    if not first.slopes or first.slopes != limit.slopes or not _can_be(loop, first.slopes):
        return loop
    return _Counted(loop, first.slopes).nest_loop(loop)


def _can_be(loop: NestLoop, moved: Mapping[str, float]) -> bool:
    """Whether all that hangs on the loop's variable is affine, and on nothing that moves it."""
    for group in loop.groups_below:
        if any(form is not None and loop.variable in form.names for form in group.exact):
            return False
        if group.slopes.get(loop.variable) and any(map(group.slopes.get, moved)):
            return False
    inside = [inner for group in loop.groups_below for inner in group.loops]
    bounds = [form for inner in inside for form in (inner.first, inner.limit) if form is not None]
    return all(isinstance(form, Affine) for form in bounds if loop.variable in form.names)


class _Counted:
    """One loop as it is counted from its begin, with what is in it."""

    def __init__(self, loop: NestLoop, moved: Mapping[str, float]) -> None:
        self.loop = loop
        self.moved = moved

    def nest_loop(self, loop: NestLoop) -> NestLoop:
        return with_contents(
            self._header(loop), tuple(map(self.nest_loop, loop.children)),
            tuple(map(self._group, loop.groups)), loop.statements,
        )  # fmt: skip

    def _header(self, loop: LoopHeader) -> LoopHeader:
        if loop.index == self.loop.index:
            first, limit = _at_rest(loop.first), _at_rest(loop.limit)
        else:
            first, limit = self._form(loop.first), self._form(loop.limit)
        names = [form.names for form in (first, limit) if form is not None]
        return LoopHeader(
            loop.index, loop.variable, first, limit, loop.step, loop.parallel,
            frozenset[str]().union(*names), loop.line, loop.counted, loop.conditional,
            loop.unordered,
        )  # fmt: skip

    def _form(self, form: Form | None) -> Form | None:
        if not isinstance(form, Affine) or self.loop.variable not in form.slopes:
            return form
        return Affine(form.constant, self._slopes(form.slopes))

    def _slopes(self, slopes: Mapping[str, float]) -> dict[str, float]:
        slope = slopes.get(self.loop.variable, 0.0)
        counted = dict(slopes)
        for name, each in self.moved.items() if slope else ():
            counted[name] = counted.get(name, 0.0) + slope * each
        return {name: each for name, each in counted.items() if each}

    def _group(self, group: ReferenceGroup) -> ReferenceGroup:
        return replace(
            group, slopes=self._slopes(group.slopes), loops=tuple(map(self._header, group.loops))
        )


def _at_rest(form: Form | None) -> Form | None:
    return Affine(form.constant, {}) if isinstance(form, Affine) else form
