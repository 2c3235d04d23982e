"""Early exits of loops."""

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
    """Returns whether the loop is `do { ... } while (0)`, and nothing leaves it before its end."""
    return loop.behind and is_null(loop.condition) and not leaves_loop(loop.body)


def jumped_back(items: Sequence[Stmt], at: int) -> int | None:
    """Returns the last statement of a block, if it is a `goto` back to the statement at `at`."""
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
    """Returns whether a loop has a second condition."""
    return isinstance(loop.condition, Binary) and loop.condition.op == "&&"
