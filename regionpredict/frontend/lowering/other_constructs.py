"""Constructs that share work without a worksharing loop. Each gets a row without a hint.

`task`, `taskloop` and `sections` distribute work, but their concurrency is unknown. `target`
without a loop is for a device. A loop under `target` is predicted for this host, which executes it
if there is no device.
"""

from __future__ import annotations

from collections.abc import Iterator

from regionpredict.frontend.syntax import Directive, Pragma, Stmt, inner_statements
from regionpredict.ir import Diagnostic, Span

_TASKS = "explicit tasks, not predicted; use regionpredict tasks record, then tasks show"
_SECTIONS = "sections, not predicted: at most one thread per section can work"
_DEVICE = "for a device (target), not predicted"
_HOST = (
    "target: predicted as a loop on the host; the time on a device and the copies to it are "
    "not predicted"
)


def other_constructs(body: Stmt) -> Iterator[tuple[Directive, str, str]]:
    """Yields the constructs of a function's body, each with its rule and message. Outer constructs
    come first.

    Everything inside `target` runs on the device. Only the outermost construct is listed, and
    loops.
    """
    yield from _find(body, in_target=False)


def _find(statement: Stmt, *, in_target: bool) -> Iterator[tuple[Directive, str, str]]:
    if isinstance(statement, Directive):
        pragma = statement.pragma
        if is_target(pragma) and not in_target:
            in_target = True
            if not pragma.is_loop and not _holds_loop(statement.body):
                yield statement, "RP118", _DEVICE
        elif pragma.is_task and not in_target:
            yield statement, "RP119", _TASKS
        elif "sections" in pragma.kind.split() and not in_target:
            yield statement, "RP119", _SECTIONS
        if statement.body is not None:
            yield from _find(statement.body, in_target=in_target)
        return
    for inner in inner_statements(statement):
        yield from _find(inner, in_target=in_target)


def is_target(pragma: Pragma) -> bool:
    """Returns whether a directive runs its statement on a device. `target data` and similar
    directives do not.
    """
    directive_tokens = pragma.kind.split()
    return directive_tokens[0] == "target" and not {"data", "enter", "exit", "update"} & set(
        directive_tokens
    )


def _holds_loop(statement: Stmt | None) -> bool:
    if statement is None:
        return False
    if isinstance(statement, Directive) and statement.pragma.is_loop:
        return True
    below = [statement.body] if isinstance(statement, Directive) else inner_statements(statement)
    return any(_holds_loop(inner) for inner in below)


def on_the_host(span: Span) -> Diagnostic:
    """Returns the note on a loop under `target`."""
    return Diagnostic("RP118", span, _HOST)
