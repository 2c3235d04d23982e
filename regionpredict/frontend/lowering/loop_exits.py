"""How a loop may end before its header says so."""

from __future__ import annotations

from regionpredict.frontend.syntax import (
    Binary,
    For,
    Jump,
    RangeFor,
    Return,
    Stmt,
    Switch,
    While,
    inner_statements,
)


def exits(body: Stmt, *, own: bool = True) -> bool:
    """Whether a loop body can leave the loop early; `own`: not inside another loop or switch."""
    if isinstance(body, Jump):
        return body.kind == "goto" or (own and body.kind == "break")
    if isinstance(body, Return):
        return True
    inside = own and not isinstance(body, (For, While, RangeFor, Switch))
    return any(exits(inner, own=inside) for inner in inner_statements(body))


def skips(body: Stmt) -> bool:
    """Whether a loop body has a `continue` of its own."""
    if isinstance(body, Jump):
        return body.kind == "continue"
    if isinstance(body, (For, While, RangeFor)):
        return False
    return any(skips(inner) for inner in inner_statements(body))


def stops(loop: For) -> bool:
    """Whether a loop may end before its variable reaches the bound."""
    return tests_more(loop) or exits(loop.body)


def tests_more(loop: For) -> bool:
    """Whether a loop has a second condition."""
    return isinstance(loop.condition, Binary) and loop.condition.op == "&&"
