"""Converts early exits to branches: the statements after a possible exit become an `else` branch.

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


def with_exits_as_branches(
    items: Sequence[Stmt], *, in_loop: bool
) -> tuple[tuple[Stmt, ...], Compound | None]:
    """Moves the statements of a block after a possible exit into a branch of its `if`. Returns
    them separately if no branch can contain them.

    `in_loop` says that the block is in a loop of its function. A `return` then ends that loop like
    a `break`, and only `continue` and `goto` skip the rest of the iteration. The cases of a
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
    """Returns whether a branch of an `if` contains a `return` or `break` out of the enclosing loop.

    `breaks` says that a `break` leaves this loop, not a `switch`.
    """
    if isinstance(side, Compound):
        return any(ends_loop(item, breaks=breaks) for item in side.items)
    return isinstance(side, Return) or (breaks and isinstance(side, Jump) and side.kind == "break")


def _may_skip_rest(statement: Stmt, *, in_loop: bool) -> bool:
    """Returns whether a statement may jump over the statements after it in its block."""
    kinds = {jump_kind(jump) for jump in jumps_out(statement)}
    return bool(kinds & ({"continue", "goto"} if in_loop else {"return", "continue", "goto"}))


def _always_jumps(statement: Stmt) -> bool:
    """Returns whether a statement always ends with a jump out of its block."""
    return ends_with(statement, "return", "continue", "goto")
