"""Classifies loops by their early exits."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.frontend.syntax import (
    Binary,
    Compound,
    For,
    Jump,
    Stmt,
    While,
    every_statement,
    is_null,
    labels_in,
    leaves_loop,
)


def runs_once(loop: While) -> bool:
    """Returns whether a loop is `do { ... } while (0)` without an early exit."""
    return loop.behind and is_null(loop.condition) and not leaves_loop(loop.body)


def last_goto_back(items: Sequence[Stmt], at: int) -> int | None:
    """Returns the index of the last statement that contains a `goto` back to statement `at` of a
    block. Returns None without such a `goto`.
    """
    own = labels_in(items[at])
    if not own or not isinstance(items[at], Compound):
        return None
    back = [
        number for number in range(at, len(items))
        if any(isinstance(inner, Jump) and inner.kind == "goto" and inner.label in own
               for inner in every_statement(items[number]))
    ]  # fmt: skip
    return back[-1] if back else None


def may_end_early(loop: For) -> bool:
    """Returns whether a loop may end before its variable reaches the bound."""
    return has_second_condition(loop) or leaves_loop(loop.body)


def has_second_condition(loop: For) -> bool:
    """Returns whether the condition of a loop is a conjunction: `i < n && !done`."""
    return isinstance(loop.condition, Binary) and loop.condition.op == "&&"
