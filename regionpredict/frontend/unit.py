"""What a parser hands to `lower`: one translation unit, with function bodies on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from regionpredict.frontend.effects import Effects
from regionpredict.frontend.pragmas import Pragma
from regionpredict.frontend.syntax import CallExpr, Decl, Function
from regionpredict.ir import Diagnostic, Span


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """A file to read and how: macros as (name, value), include folders, language standard.

    `root` is the folder under which a missing header may be looked for.
    """

    path: str
    defines: tuple[tuple[str, str], ...] = ()
    includes: tuple[str, ...] = ()
    standard: str = ""
    root: str = ""
    extra: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """One parsed translation unit.

    `functions` are those with OpenMP directives in them; `body_of` gives any other function's
    tree, `bodies` all of them, and `calls_of` the calls of a function with the functions they
    stand in.
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
    writes_of: Callable[[Decl], int]
    bodies: Callable[[], list[Function]]
    headers: str = "system"
    errors: tuple[Span, ...] = ()  # where the parser stumbled
    effects: Effects = field(default_factory=Effects)
    close: Callable[[], None] = field(default=lambda: None)
