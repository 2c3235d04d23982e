"""Counts loops from zero if their start depends on outer loops.

    for (i..) for (k = 100 * i; k < 100 * i + 100; k++) s += val[k];
    for (i..) for (k = 0; k < 100; k++) s += val[100 * i + k];             the same

Rows of a block, or of a table with equally long rows, are then steps of a lattice. Cyclic
iterations leave gaps in the lattice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from regionpredict.workload.loop_nest import (
    Affine,
    Curved,
    Form,
    Less,
    LoopHeader,
    NestLoop,
    ReferenceGroup,
    with_contents,
)


def counted_from_begins(loop: NestLoop) -> NestLoop:
    """The loop and its contents. Each loop counts from its start if the start moves and the length
    is constant. If an address moves with both variables (`b[k][i]`, `k` from `i`), the loop is
    unchanged. Its lines are then those of a matrix, and not those of a sheared one.
    """
    children = tuple(map(counted_from_begins, loop.children))
    loop = with_contents(loop, children, loop.groups, loop.statements)
    first, limit = loop.first, loop.limit
    if not isinstance(first, Affine) or not first.slopes or limit is None:
        return loop
    alike = (
        limit.slopes == first.slopes
        if isinstance(limit, Affine)
        else _has_constant_length(first, limit)
    )
    if not alike or not _can_be_moved(loop, first.slopes):
        return loop
    return _Counted(loop, first.slopes).nest_loop(loop)


def _has_constant_length(first: Affine, limit: Form) -> bool:
    """Whether a length is constant, perhaps limited by a constant end: from i up to
    `min(i + 8, n)`.
    """
    terms = limit.expr.terms if isinstance(limit, Curved) else {}
    varying = [term for term in terms.items() if term[0]]
    if not isinstance(limit, Curved) or len(varying) != 1:
        return False
    ((factors, number),) = varying
    if number != 1 or len(factors) != 1:
        return False
    atom, power = factors[0]
    if isinstance(atom, str) or atom.kind != "min" or power != 1:
        return False
    moving = [side for side in atom.args if side.names & limit.names]
    if len(moving) != 1 or any(moving[0].atoms()):
        return False
    factor = {name: moving[0].coefficient(name) for name in moving[0].names & limit.names}
    return first.slopes == {name: None if each is None else each.constant
                            for name, each in factor.items()}  # fmt: skip


def _can_be_moved(loop: NestLoop, moved: Mapping[str, float]) -> bool:
    """Whether everything that depends on the loop's variable is affine, and is independent of the
    quantities that shift the variable.
    """
    for group in loop.groups_below:
        if any(form is not None and loop.variable in form.names for form in group.exact):
            return False
        if group.slopes.get(loop.variable) and any(map(group.slopes.get, moved)):
            return False
    inside = [inner for group in loop.groups_below for inner in group.loops]
    bounds = [form for inner in inside for form in (inner.first, inner.limit) if form is not None]
    return all(isinstance(form, Affine) for form in bounds if loop.variable in form.names)


class _Counted:
    """A loop that counts from its start, with its contents."""

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
            first, limit = _at_rest(loop.first), self._cut(loop.limit)
        else:
            first, limit = self._form(loop.first), self._form(loop.limit)
        names = [form.names for form in (first, limit) if form is not None]
        return LoopHeader(
            loop.index, loop.variable, first, limit, loop.step, loop.parallel,
            frozenset[str]().union(*names), loop.line, loop.counted, loop.conditional,
            loop.unordered, share=loop.share, held=loop.held,
        )  # fmt: skip

    def _cut(self, limit: Form | None) -> Form | None:
        if limit is None or isinstance(limit, Affine):
            return _at_rest(limit)
        return Less(limit, Affine(0.0, dict(self.moved)))

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
