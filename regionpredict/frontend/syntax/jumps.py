"""Finds jumps out of statements: `return`, and `break`, `continue` and `goto` with outside
targets.
"""

from __future__ import annotations

from collections.abc import Iterator

from regionpredict.frontend.syntax.nodes import Compound, Jump, Return, Stmt, Switch
from regionpredict.frontend.syntax.traversal import LOOPS, every_statement, inner_statements

_OF_LOOP = frozenset(("break", "continue"))
_OF_SWITCH = frozenset(("break",))


def labels_in(body: Stmt) -> frozenset[str]:
    """Returns the names of the labels in a statement."""
    return frozenset(
        inner.label for inner in every_statement(body)
        if isinstance(inner, Compound) and inner.label
    )  # fmt: skip


def jumps_out(statement: Stmt) -> Iterator[Return | Jump]:
    """Yields the jumps from inside a statement to targets outside, in source order."""
    yield from _leaving_jumps(statement, labels_in(statement), frozenset())


def _leaving_jumps(
    statement: Stmt, labels: frozenset[str], handled: frozenset[str]
) -> Iterator[Return | Jump]:
    """Yields the jumps that leave a statement. `held` are the kinds that an enclosing statement
    handles.
    """
    if isinstance(statement, Return):
        yield statement
    elif isinstance(statement, Jump):
        stays = statement.label in labels if statement.kind == "goto" else statement.kind in handled
        if not stays:
            yield statement
    elif isinstance(statement, LOOPS):
        handled = _OF_LOOP
    elif isinstance(statement, Switch):
        handled = handled | _OF_SWITCH
    for inner in inner_statements(statement):
        yield from _leaving_jumps(inner, labels, handled)


def jump_kind(statement: Return | Jump) -> str:
    """Returns the kind of a jump: 'return', 'break', 'continue' or 'goto'."""
    return "return" if isinstance(statement, Return) else statement.kind


def leaves_loop(body: Stmt) -> bool:
    """Whether the body of a loop can leave the loop early."""
    return any(jump_kind(jump) != "continue" for jump in jumps_out(body))


def ends_with(statement: Stmt, *kinds: str) -> bool:
    """Whether the last statement of a block is a jump of one of these kinds."""
    while isinstance(statement, Compound) and statement.items:
        statement = statement.items[-1]
    return isinstance(statement, (Return, Jump)) and jump_kind(statement) in kinds
