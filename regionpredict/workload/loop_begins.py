"""Normalizes inner loops whose start depends on outer loops, so that they start at a constant.

    for (i..) for (k = 100 * i; k < 100 * i + 100; k++) s += val[k];
    for (i..) for (k = 0; k < 100; k++) s += val[100 * i + k];             the same

The addresses of blocks and of rows of equal length then form a lattice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from regionpredict.workload.loop_nest import (
    Affine,
    Curved,
    Difference,
    Form,
    LoopHeader,
    NestLoop,
    ReferenceGroup,
    with_contents,
)


def normalized_loops(loop: NestLoop) -> NestLoop:
    """Normalizes a loop and all inner loops with a variable start and a constant length.

    A loop remains unchanged if an address depends on both variables, such as `b[k][i]` with k from
    i. Its addresses already form a lattice.
    """
    children = tuple(map(normalized_loops, loop.children))
    loop = with_contents(loop, children, loop.groups, loop.statements)
    first, limit = loop.first, loop.limit
    if not isinstance(first, Affine) or not first.slopes or limit is None:
        return loop
    alike = (
        limit.slopes == first.slopes
        if isinstance(limit, Affine)
        else _has_constant_length(first, limit)
    )
    if not alike or not _can_be_normalized(loop, first.slopes):
        return loop
    return _Normalization(loop, first.slopes).nest_loop(loop)


def _has_constant_length(first: Affine, limit: Form) -> bool:
    """Whether a loop from `first` to `limit` has a constant length, except for a constant end, such
    as from i to `min(i + 8, n)`.
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


def _can_be_normalized(loop: NestLoop, moved: Mapping[str, float]) -> bool:
    """Whether all addresses and bounds that depend on the loop's variable are affine, and no
    address also depends on the variables in `moved`.
    """
    for group in loop.groups_below:
        if any(form is not None and loop.variable in form.names for form in group.exact):
            return False
        if group.slopes.get(loop.variable) and any(map(group.slopes.get, moved)):
            return False
    inside = [inner for group in loop.groups_below for inner in group.loops]
    bounds = [form for inner in inside for form in (inner.first, inner.limit) if form is not None]
    return all(isinstance(form, Affine) for form in bounds if loop.variable in form.names)


class _Normalization:
    """Rewrites a loop and its contents so that the loop starts at a constant."""

    def __init__(self, loop: NestLoop, moved: Mapping[str, float]) -> None:
        self.loop = loop
        self.moved = moved

    def nest_loop(self, loop: NestLoop) -> NestLoop:
        return with_contents(
            self._normalized_header(loop), tuple(map(self.nest_loop, loop.children)),
            tuple(map(self._normalized_group, loop.groups)), loop.statements,
        )  # fmt: skip

    def _normalized_header(self, loop: LoopHeader) -> LoopHeader:
        if loop.index == self.loop.index:
            first, limit = _constant_part(loop.first), self._normalized_limit(loop.limit)
        else:
            first, limit = self._normalized_form(loop.first), self._normalized_form(loop.limit)
        names = [form.names for form in (first, limit) if form is not None]
        return LoopHeader(
            loop.index, loop.variable, first, limit, loop.step, loop.parallel,
            frozenset[str]().union(*names), loop.line, loop.counted, loop.conditional,
            loop.unordered, share=loop.share, held=loop.held, work=loop.work,
        )  # fmt: skip

    def _normalized_limit(self, limit: Form | None) -> Form | None:
        if limit is None or isinstance(limit, Affine):
            return _constant_part(limit)
        return Difference(limit, Affine(0.0, dict(self.moved)))

    def _normalized_form(self, form: Form | None) -> Form | None:
        if not isinstance(form, Affine) or self.loop.variable not in form.slopes:
            return form
        return Affine(form.constant, self._normalized_slopes(form.slopes))

    def _normalized_slopes(self, slopes: Mapping[str, float]) -> dict[str, float]:
        slope = slopes.get(self.loop.variable, 0.0)
        counted = dict(slopes)
        for name, each in self.moved.items() if slope else ():
            counted[name] = counted.get(name, 0.0) + slope * each
        return {name: each for name, each in counted.items() if each}

    def _normalized_group(self, group: ReferenceGroup) -> ReferenceGroup:
        return replace(
            group,
            slopes=self._normalized_slopes(group.slopes),
            loops=tuple(map(self._normalized_header, group.loops)),
        )


def _constant_part(form: Form | None) -> Form | None:
    return Affine(form.constant, {}) if isinstance(form, Affine) else form
