"""Finds the variables that all threads of a region share."""

from __future__ import annotations

from collections.abc import Collection

from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.parallel_constructs import ParallelSite
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import Cast, Decl, Expression, Member, Name, Pragma, Unary
from regionpredict.ir import Span


def shared_names(
    context: Context,
    pragma: Pragma,
    span: Span,
    team: ParallelSite | None,
    private: Collection[str],
) -> frozenset[str]:
    """Returns the variables and struct members that are certainly shared (OpenMP 5.2, sec. 5.1.1).

    `private` lists the threadprivate variables. Local variables of called functions, and of a
    function that contains the region without its `parallel` directive, are private.
    """
    begin = None
    private = {*private, *pragma.own_names}
    if "parallel" in pragma.kind.split():
        begin = span
    elif team is not None:
        begin = team.directive.span
        private |= team.directive.pragma.own_names
    shared = {
        name for name, (decl, depth) in context.declarations().items()
        if decl.name not in private and _is_shared(decl, depth, begin)
        and not (decl.kind != "static" and decl in context.private)
    }  # fmt: skip
    homes = shared | {"this"} if begin is not None else shared
    members = context.member_homes.items()
    return frozenset(
        shared | {path for path, home in members if home in homes and path not in private}
    )


def containing_variable(expression: Member, context: Context, frame: Frame) -> str:
    """Returns the variable that contains a member: "this" for the object of the method, and "" if
    it is unknown.
    """
    first: Expression | None = expression
    while isinstance(first, (Member, Unary, Cast)):
        first = first.base if isinstance(first, Member) else first.operand
    private = first is None or (isinstance(first, Name) and first.decl.name == "this")
    if private and not frame.depth:
        return "this"
    if private and not (isinstance(first, Name) and first.decl in frame.env):
        return ""  # of a called method, as that of a constructor: perhaps a new object
    return (context.path(first, frame) or "").lstrip("&")


def _is_shared(decl: Decl, depth: int, begin: Span | None) -> bool:
    if decl.kind in ("global", "static"):
        return True
    if decl.kind not in ("local", "parameter") or depth or begin is None:
        return False
    return decl.span.file == begin.file and decl.span[1:] < begin[1:]
