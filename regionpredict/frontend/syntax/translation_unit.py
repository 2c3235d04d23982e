"""What a parser hands over: a translation unit, with function bodies on demand."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.frontend.syntax.directive import Pragma
from regionpredict.frontend.syntax.nodes import Decl, Expression, Function
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


class Located(NamedTuple):
    """A function that the user's files define, and where: from `begin` to `end` in a file's text.

    `private`: nothing outside the unit can call it. `build` gives its tree.
    """

    name: str
    file: Hashable
    begin: int
    end: int
    private: bool
    build: Callable[[], Function | None]


@dataclass(frozen=True, slots=True)
class Unit:
    """One parsed translation unit.

    `functions` are those with OpenMP directives in them, `located` all, and `texts` what the files
    hold in which they lie. `body_of` gives the function that a declaration of this unit means,
    `variables` the external variables that have an initialiser. `directives` are all active loop
    directives, (file, directive), so that none can get lost. `overloads`: one name may be several
    functions, and operators call them without it. In C++ `getters` are the methods that give a
    member, as the member's end of a name and the method (`.m_n`, `size()`), of all functions read
    so far, and `base_classes` the names of the classes that others derive from.
    `threadprivate` are the variables of which each thread has its own.
    `reassociates`: sums of floating-point numbers may be reordered.
    """

    path: str
    functions: tuple[Function, ...]
    located: tuple[Located, ...]
    texts: Mapping[Hashable, bytes]
    body_of: Callable[[Decl], Function | None]
    variables: Callable[[], list[Decl]]
    directives: tuple[tuple[str, Pragma], ...]
    diagnostics: tuple[Diagnostic, ...]
    files: tuple[str, ...]
    macros: frozenset[str]
    lookups: Lookups
    headers: str = "system"
    getters: Callable[[], frozenset[tuple[str, str]]] = frozenset
    base_classes: frozenset[str] = frozenset()
    threadprivate: frozenset[str] = frozenset()
    reassociates: bool = False
    errors: tuple[Span, ...] = ()  # where the parser stumbled
    overloads: bool = False
    close: Callable[[], None] = field(default=lambda: None)
