"""The output of a parser: a translation unit whose function bodies are built on demand."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.frontend.syntax.directive import Pragma
from regionpredict.frontend.syntax.nodes import Decl, Function
from regionpredict.ir import Diagnostic, Span


class Lookups(NamedTuple):
    """The file system queries that were made while a source file was read.

    `files` are all files that were read, including system files. `folders` are folders that were
    searched for headers, in addition to the folders of these files. `guessed` are headers that were
    found below the request's root.
    """

    files: tuple[str, ...]
    folders: tuple[str, ...]
    guessed: tuple[str, ...]


class Located(NamedTuple):
    """A function in the user's files. Its text extends from `begin` to `end` in the file.

    `private` says that other units cannot call the function. `build` returns its syntax tree.
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

    `functions` are the functions with OpenMP directives, `located` are all functions, and `texts`
    are the contents of their files. `body_of` returns the definition of a declaration in this unit,
    and `variables` the external variables with an initializer. `directives` are all active loop
    directives, as pairs of file and directive. `overloads` says that a name may refer to several
    functions, and that operators may call functions. In C++, `getters` are the methods read so far
    that return a member (`.m_n`, `size()`), and `base_classes` the names of base classes.
    `threadprivate` variables have one copy per thread. `reassociates` says that floating-point sums
    may be reordered.
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
    errors: tuple[Span, ...] = ()  # locations of parser errors
    overloads: bool = False
    close: Callable[[], None] = field(default=lambda: None)
