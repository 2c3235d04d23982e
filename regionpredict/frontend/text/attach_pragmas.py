"""Assigns directives to statements, in source order, for both front ends.

A directive belongs to the statement after it. A directive in a macro has the location of the
expansion, like every statement in the macro. Such a directive therefore waits for a matching
statement.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from regionpredict.frontend.syntax import (
    Binary,
    Compound,
    CType,
    Decl,
    DeclStmt,
    Directive,
    For,
    If,
    IntLit,
    Name,
    Pragma,
    Stmt,
    Unary,
)
from regionpredict.ir import Span

File = TypeVar("File", bound=Hashable)


@dataclass(frozen=True)  # a named tuple is not generic in Python 3.10
class _FunctionState(Generic[File]):
    """The state of `Attacher` in one function."""

    next: dict[File, int]
    masked: set[tuple[File, int]]
    blocks: dict[tuple[File, int], int]
    function: tuple[File, int] | None


class Attacher(Generic[File]):
    """The directives of the files, and the number of directives that are assigned to statements.

    `File` is the front end's type for a file.
    """

    def __init__(self) -> None:
        self._pragmas: dict[File, list[Pragma]] = {}
        self._next: dict[File, int] = {}
        self._masked: set[tuple[File, int]] = set()  # expansions whose directive is assigned
        self._blocks: dict[
            tuple[File, int], int
        ] = {}  # number of started blocks, by macro expansion
        self._function: tuple[File, int] | None = None
        self._outer: list[_FunctionState[File]] = []

    def add(self, file: File, pragmas: list[Pragma]) -> None:
        """Sets the directives of a file, in order."""
        self._pragmas[file] = pragmas

    def enter(self, file: File, offset: int) -> None:
        """Starts a function at an offset. Included files start at their first line.

        A function may be read inside another function. After `end`, the outer function continues.
        """
        self._outer.append(_FunctionState(self._next, self._masked, self._blocks, self._function))
        self._masked, self._blocks, self._function = set(), {}, (file, offset)
        self._next = dict.fromkeys(self._pragmas, 0)
        pragmas_of_file = self._pragmas.get(file, ())
        self._next[file] = sum(1 for pragma in pragmas_of_file if pragma.offset < offset)

    def end(self) -> None:
        """Ends the function that was started last."""
        outer = self._outer.pop()
        self._next, self._masked = outer.next, outer.masked
        self._blocks, self._function = outer.blocks, outer.function

    def take(self, file: File, offset: int, *, block: bool, loop: bool) -> list[Pragma]:
        """Assigns the directives before an offset to the statement there, except those that are
        already assigned.

        `block` and `loop` say whether the statement is a `{ ... }` or a `for` loop.
        """
        pragmas_of_file = self._pragmas.get(file)
        if pragmas_of_file is None:
            return []
        taken: list[Pragma] = []
        at = self._next.get(file, 0)  # a file may be included within a function
        while at < len(pragmas_of_file) and pragmas_of_file[at].offset <= offset:
            pragma = pragmas_of_file[at]
            if pragma.offset == offset:
                # If a macro contains several regions, a later directive waits for its own loop.
                waits = bool(taken) and not pragma.joined
                begun = self._blocks_started(pragma, file)
                misplaced = block or (pragma.is_loop and not pragma.is_sections and not loop)
                if begun is not None:
                    misplaced = begun < 0 or (begun == 0 and not block)
                if waits or misplaced or (file, offset) in self._masked:
                    break
                if begun is None:
                    self._masked.add((file, offset))
            taken.append(pragma)
            at += 1
        self._next[file] = at
        if block:
            self._blocks[file, offset] = self._blocks.get((file, offset), 0) + 1
        return taken

    def _blocks_started(self, pragma: Pragma, file: File) -> int | None:
        """Returns the number of blocks in the macro expansion that started after the directive.

        0 means that the next block belongs to the directive. None for a directive without a block.
        """
        if pragma.blocks is None:
            return None
        place = file, pragma.offset
        return self._blocks.get(place, 0) - pragma.blocks[place == self._function]

    def leave(self, file: File, offset: int) -> None:
        """Ends the statement to which directives at an offset were assigned."""
        self._masked.discard((file, offset))

    def has_waiting(self, file: File) -> bool:
        """Whether the file has directives that are not assigned to a statement."""
        return file in self._pragmas and self._next[file] < len(self._pragmas[file])

    def left_over(self, file: File, begin: int, end: int) -> list[Pragma]:
        """Returns directives at the end of the block from `begin` to `end` that no statement
        follows.
        """
        remaining: list[Pragma] = []
        pragmas_of_file = self._pragmas.get(file, [])
        at = self._next.get(file, 0)
        while (
            at < len(pragmas_of_file)
            and pragmas_of_file[at].offset < end
            and pragmas_of_file[at].offset != begin
        ):
            remaining.append(pragmas_of_file[at])
            at += 1
        self._next[file] = at
        return remaining


def with_directives(pragmas: Iterable[Pragma], body: Stmt, file: str) -> Stmt:
    """Returns a statement with its directives around it. A standalone directive precedes it."""
    for pragma in reversed(list(pragmas)):
        span = Span(file, pragma.line, pragma.column)
        if pragma.standalone:
            body = Compound((standalone_directive(pragma, file), body))
        elif pragma.is_sections and isinstance(body, Compound):
            body = Directive(pragma, loop_over_sections(body, span), span)
        else:
            body = Directive(pragma, body, span)
    return body


def loop_over_sections(block: Compound, span: Span) -> For:
    """Returns a loop over the sections of a block, with an `if (section == 0)` around the first,
    an `if (section == 1)` around the second, and so on.
    """
    sections = [
        item.body if isinstance(item, Directive) and item.pragma.kind == "section" else item
        for item in block.items
    ]
    counter = Decl("section", "local", CType("int", 32), span, init=IntLit(0))
    number = Name(counter, span)
    branches = tuple(
        If(Binary("==", number, IntLit(at)), section, None, span)
        for at, section in enumerate(section for section in sections if section is not None)
    )
    return For(
        DeclStmt((counter,), span), Binary("<", number, IntLit(len(branches))),
        Unary("p++", number, span), Compound(branches), span,
    )  # fmt: skip


def standalone_directive(pragma: Pragma, file: str) -> Directive:
    """Returns a directive without a statement."""
    return Directive(pragma, None, Span(file, pragma.line, pragma.column))
