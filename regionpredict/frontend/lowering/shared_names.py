"""Which variables of a region are one for all threads of its team, as far as that is sure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from regionpredict.frontend.lowering.parallel_constructs import ParallelSite
from regionpredict.frontend.syntax import Decl, Pragma
from regionpredict.ir import Span


def shared_names(
    names: Mapping[str, tuple[Decl, int]], members: Mapping[str, str], pragma: Pragma, span: Span,
    team: ParallelSite | None, own: Collection[str],
) -> frozenset[str]:  # fmt: skip
    """Of a region's names those that are surely shared (OpenMP 5.2, sec. 5.1.1).

    `names` tell the variable of each and how many calls deep it is declared, `members` the variable
    that a member of a struct is in; `own` has each thread a copy of (threadprivate). What a
    function declares that is called by the threads, or that has the region without its `parallel`,
    is theirs.
    """
    begin = None
    own = {*own, *pragma.own_names}
    if "parallel" in pragma.kind.split():
        begin = span
    elif team is not None:
        begin = team.directive.span
        own |= team.directive.pragma.own_names
    shared = {
        name for name, (decl, depth) in names.items()
        if decl.name not in own and _is_shared(decl, depth, begin)
    }  # fmt: skip
    homes = shared | {"this"} if begin is not None else shared
    return frozenset(
        shared | {path for path, home in members.items() if home in homes and path not in own}
    )


def _is_shared(decl: Decl, depth: int, begin: Span | None) -> bool:
    if decl.kind in ("global", "static"):
        return True
    if decl.kind not in ("local", "parameter") or depth or begin is None:
        return False
    return decl.span.file == begin.file and decl.span[1:] < begin[1:]
