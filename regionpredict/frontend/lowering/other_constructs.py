"""Finds constructs that distribute work without a worksharing loop. Such constructs get no
prediction.

`target` without a loop runs on a device. A loop under `target` is predicted for the host, which
executes it if the system has no device.
"""

from __future__ import annotations

from collections.abc import Iterator

from regionpredict.frontend.syntax import Directive, Pragma, Stmt, inner_statements
from regionpredict.ir import Diagnostic, Region, Span

_DEVICE = "for a device (target), not predicted"
_TASKS = "explicit tasks: assumed to run independently of each other, all at once"
_HOST = (
    "target: predicted as a loop on the host; the time on a device and the copies to it are "
    "not predicted"
)


def other_constructs(body: Stmt) -> Iterator[tuple[Directive, str, str]]:
    """Yields the unpredicted constructs of a function's body, each with its rule and message.

    Constructs inside a `target` construct are omitted, since they run on the device.
    """
    yield from _find_constructs(body, in_target=False)


def _find_constructs(statement: Stmt, *, in_target: bool) -> Iterator[tuple[Directive, str, str]]:
    if isinstance(statement, Directive):
        pragma = statement.pragma
        if is_target(pragma) and not in_target:
            in_target = True
            if not pragma.is_loop and not _contains_worksharing_loop(statement.body):
                yield statement, "RP118", _DEVICE
        if statement.body is not None:
            yield from _find_constructs(statement.body, in_target=in_target)
        return
    for inner in inner_statements(statement):
        yield from _find_constructs(inner, in_target=in_target)


def is_target(pragma: Pragma) -> bool:
    """Returns whether a directive executes its statement on a device, as opposed to `target
    data`.
    """
    directive_tokens = pragma.kind.split()
    return directive_tokens[0] == "target" and not {"data", "enter", "exit", "update"} & set(
        directive_tokens
    )


def _contains_worksharing_loop(statement: Stmt | None) -> bool:
    if statement is None:
        return False
    if isinstance(statement, Directive) and statement.pragma.is_loop:
        return True
    below = [statement.body] if isinstance(statement, Directive) else inner_statements(statement)
    return any(_contains_worksharing_loop(inner) for inner in below)


def task_note(region: Region) -> Diagnostic:
    """Returns the diagnostic for explicit tasks."""
    if region.clause("depend") is not None:
        return Diagnostic("RP119", region.span, f"{_TASKS}; `depend` may run them one by one")
    return Diagnostic("RP119", region.span, _TASKS)


def target_note(span: Span) -> Diagnostic:
    """Returns the diagnostic for a worksharing loop under `target`."""
    return Diagnostic("RP118", span, _HOST)
