"""Converts early exits to conditions: statements after a possible exit run only without it.

if (r > cut)                 if (r > cut)
    return;           is         return;
f[i] += g(r);                else
                                 f[i] += g(r);
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.frontend.syntax import (
    Compound,
    If,
    Jump,
    Return,
    Stmt,
    ends_with,
    jump_kind,
    jumps_out,
    labels_in,
)


def with_separate_rest(
    items: Sequence[Stmt], *, in_loop: bool
) -> tuple[tuple[Stmt, ...], Compound | None]:
    """Returns the statements of a block. The last statement is separate if no `if` has a branch
    that contains it.

    `in_loop` says that the block is in a loop of its function. There, a `return` ends that loop
    like a `break`, and only `continue` and `goto` skip the rest of the iteration. The cases of a
    `switch` are unchanged.
    """
    if any(isinstance(item, Compound) and item.cases for item in items):
        return tuple(items), None
    for position, item in enumerate(items[:-1]):
        if not _may_skip_rest(item, in_loop=in_loop):
            continue
        before, rest = tuple(items[:position]), Compound(tuple(items[position + 1 :]))
        if isinstance(item, If) and not any(labels_in(statement) for statement in rest.items):
            if _always_jumps(item.then):
                other = rest if item.other is None else Compound((item.other, *rest.items))
                return (*before, item._replace(other=other)), None
            if item.other is not None and _always_jumps(item.other):
                return (*before, item._replace(then=Compound((item.then, *rest.items)))), None
        return (*before, item), rest
    return tuple(items), None


def ends_loop(side: Stmt, *, breaks: bool) -> bool:
    """Returns whether a branch of an `if` ends the enclosing loop.

    `breaks` says whether a `break` belongs to this loop.
    """
    if isinstance(side, Compound):
        return any(ends_loop(item, breaks=breaks) for item in side.items)
    return isinstance(side, Return) or (breaks and isinstance(side, Jump) and side.kind == "break")


def _may_skip_rest(statement: Stmt, *, in_loop: bool) -> bool:
    """Returns whether the statement may skip the statements after it in its block."""
    kinds = {jump_kind(jump) for jump in jumps_out(statement)}
    return bool(kinds & ({"continue", "goto"} if in_loop else {"return", "continue", "goto"}))


def _always_jumps(statement: Stmt) -> bool:
    """Returns whether the statement always leaves the block, so that no later statement runs."""
    return ends_with(statement, "return", "continue", "goto")
