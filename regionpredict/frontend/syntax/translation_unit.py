"""What a parser hands to the lowering: a translation unit, with function bodies on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.frontend.syntax.assignments import Effects
from regionpredict.frontend.syntax.directive import Pragma
from regionpredict.frontend.syntax.nodes import CallExpr, Decl, Expression, Function
from regionpredict.frontend.syntax.traversal import calls_in
from regionpredict.ir import Diagnostic, Span


class Lookups(NamedTuple):
    """What reading a source file asked of the file system.

    `files`: all that were read, the system's as well. `folders`: where headers were looked for,
    beside the folders of these files. `guessed`: headers whose folder was looked for below the
    request's root.
    """

    files: tuple[str, ...]
    folders: tuple[str, ...]
    guessed: tuple[str, ...]


# What is written to a variable: the value where it is `=`, and whether a loop repeats it.
Writes = dict[Decl, list[tuple[Expression | None, bool]]]


class CallIndex:
    """Who calls whom in a unit; each function's calls are looked for once."""

    def __init__(self, functions_naming: Callable[[str], list[Function]]) -> None:
        self._functions_naming = functions_naming
        self._inside: dict[Function, dict[Decl, list[CallExpr]]] = {}
        self._known: dict[Decl, list[tuple[Function, CallExpr]]] = {}

    def of(self, decl: Decl) -> list[tuple[Function, CallExpr]]:
        """Every call of the function, with the function it stands in."""
        if decl not in self._known:
            self._known[decl] = [
                (function, call)
                for function in self._functions_naming(decl.name)
                for call in self._in(function).get(decl, ())
            ]
        return self._known[decl]

    def _in(self, function: Function) -> dict[Decl, list[CallExpr]]:
        if function not in self._inside:
            self._inside[function] = calls_in(function.body)
        return self._inside[function]


@dataclass(frozen=True, slots=True)
class Unit:
    """One parsed translation unit.

    `functions` are those with OpenMP directives in them; `body_of` gives any other function's
    tree, `bodies` all of them, `live_bodies` those that anybody may call, or more, and `calls_of`
    the calls of a function with the functions they stand in.
    `reassociates`: sums of floating-point numbers may be reordered.
    `directives` are all active loop directives, (file, directive), so that none can get lost.
    """

    path: str
    functions: tuple[Function, ...]
    body_of: Callable[[Decl], Function | None]
    calls_of: Callable[[Decl], list[tuple[Function, CallExpr]]]
    directives: tuple[tuple[str, Pragma], ...]
    diagnostics: tuple[Diagnostic, ...]
    files: tuple[str, ...]
    macros: frozenset[str]
    lookups: Lookups
    writes_of: Callable[[Decl], int]
    bodies: Callable[[], list[Function]]
    live_bodies: Callable[[], list[Function]]
    headers: str = "system"
    threadprivate: frozenset[str] = frozenset()
    reassociates: bool = False
    errors: tuple[Span, ...] = ()  # where the parser stumbled
    effects: Effects = field(default_factory=Effects)
    writes: dict[Function, Writes] = field(default_factory=dict)
    close: Callable[[], None] = field(default=lambda: None)
