"""Early exits of loops."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.frontend.syntax import (
    Binary,
    Cast,
    Compound,
    For,
    IntLit,
    Jump,
    RangeFor,
    Return,
    Stmt,
    Switch,
    While,
    every_statement,
    inner_statements,
)


def exits(body: Stmt, *, own: bool = True) -> bool:
    """Whether a loop body can leave the loop early. `own`: not in an inner loop or switch."""
    return _leaves(body, labels_in(body), own=own)


def runs_once(loop: While) -> bool:
    """Whether the loop is `do { ... } while (0)`, and nothing leaves it before its end."""
    condition = loop.condition
    while isinstance(condition, Cast):
        condition = condition.operand
    never_again = isinstance(condition, IntLit) and condition.value == 0
    return loop.behind and never_again and not exits(loop.body)


def labels_in(body: Stmt) -> frozenset[str]:
    """The names of the labels in a statement."""
    return frozenset(
        inner.label for inner in every_statement(body)
        if isinstance(inner, Compound) and inner.label
    )  # fmt: skip


def _leaves(body: Stmt, labels: frozenset[str], *, own: bool) -> bool:
    if isinstance(body, Jump):
        if body.kind == "goto":
            return body.label not in labels
        return own and body.kind == "break"
    if isinstance(body, Return):
        return True
    inside = own and not isinstance(body, (For, While, RangeFor, Switch))
    return any(_leaves(inner, labels, own=inside) for inner in inner_statements(body))


def jumped_back(items: Sequence[Stmt], at: int) -> int | None:
    """The last statement of a block with a `goto` back to the statement at `at`."""
    own = labels_in(items[at])
    if not own or not isinstance(items[at], Compound):
        return None
    back = [
        number for number in range(at, len(items))
        if any(isinstance(inner, Jump) and inner.kind == "goto" and inner.label in own
               for inner in every_statement(items[number]))
    ]  # fmt: skip
    return back[-1] if back else None


def stops(loop: For) -> bool:
    """Whether a loop may end before its variable reaches the bound."""
    return tests_more(loop) or exits(loop.body)


def tests_more(loop: For) -> bool:
    """Whether a loop has a second condition."""
    return isinstance(loop.condition, Binary) and loop.condition.op == "&&"
