"""Assigns directives to statements, in source order, for both front ends.

A directive belongs to the statement after it. A directive in a macro has the place of the
expansion, and so has every statement in the macro. The directive therefore waits for a matching
statement.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from regionpredict.frontend.syntax import (
    Compound,
    Directive,
    Pragma,
    Stmt,
)
from regionpredict.ir import Span

File = TypeVar("File", bound=Hashable)


@dataclass(frozen=True)  # a named tuple is not generic in Python 3.10
class _State(Generic[File]):
    """The state of `Attacher` in one function."""

    next: dict[File, int]
    masked: set[tuple[File, int]]
    blocks: dict[tuple[File, int], int]
    function: tuple[File, int] | None


class Attacher(Generic[File]):
    """The directives of the files, and the number of directives that statements have taken.

    `File` is the front end's type for a file.
    """

    def __init__(self) -> None:
        self._pragmas: dict[File, list[Pragma]] = {}
        self._next: dict[File, int] = {}
        self._masked: set[tuple[File, int]] = set()  # expansions whose directive has a statement
        self._blocks: dict[tuple[File, int], int] = {}  # by expansion, the blocks begun so far
        self._function: tuple[File, int] | None = None
        self._outer: list[_State[File]] = []

    def add(self, file: File, pragmas: list[Pragma]) -> None:
        """Sets the directives of a file, in order."""
        self._pragmas[file] = pragmas

    def enter(self, file: File, offset: int) -> None:
        """Starts a function at an offset. Files that it includes start at their first line.

        A function may be read inside another one. After `end`, the outer function continues.
        """
        self._outer.append(_State(self._next, self._masked, self._blocks, self._function))
        self._masked, self._blocks, self._function = set(), {}, (file, offset)
        self._next = dict.fromkeys(self._pragmas, 0)
        held = self._pragmas.get(file, ())
        self._next[file] = sum(1 for pragma in held if pragma.offset < offset)

    def end(self) -> None:
        """Ends the function that was started last."""
        outer = self._outer.pop()
        self._next, self._masked = outer.next, outer.masked
        self._blocks, self._function = outer.blocks, outer.function

    def take(self, file: File, offset: int, *, block: bool, loop: bool) -> list[Pragma]:
        """Assigns the directives before an offset to the statement there, unless a statement has
        already taken them.

        `block` and `loop` say whether the statement is a `{ ... }` or a `for` loop.
        """
        held = self._pragmas.get(file)
        if held is None:
            return []
        taken: list[Pragma] = []
        at = self._next.get(file, 0)  # a file may be met within a function
        while at < len(held) and held[at].offset <= offset:
            pragma = held[at]
            if pragma.offset == offset:
                # In one macro, a second region's directive waits for the second loop.
                waits = bool(taken) and not pragma.joined
                begun = self._begun(pragma, file)
                misplaced = block or (pragma.is_loop and not loop)
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

    def _begun(self, pragma: Pragma, file: File) -> int | None:
        """The number of blocks of its macro expansion that started, without those before the
        directive.

        It is 0 if the next block belongs to the directive. None for a directive without a block.
        """
        if pragma.blocks is None:
            return None
        place = file, pragma.offset
        return self._blocks.get(place, 0) - pragma.blocks[place == self._function]

    def leave(self, file: File, offset: int) -> None:
        """Ends the statement that took directives at an offset."""
        self._masked.discard((file, offset))

    def has_waiting(self, file: File) -> bool:
        """Whether the file has directives that no statement took."""
        return file in self._pragmas and self._next[file] < len(self._pragmas[file])

    def left_over(self, file: File, begin: int, end: int) -> list[Pragma]:
        """Directives at the end of the block from `begin` to `end`, without a following
        statement."""
        remaining: list[Pragma] = []
        held = self._pragmas.get(file, [])
        at = self._next.get(file, 0)
        while at < len(held) and held[at].offset < end and held[at].offset != begin:
            remaining.append(held[at])
            at += 1
        self._next[file] = at
        return remaining


def with_directives(pragmas: Iterable[Pragma], body: Stmt, file: str) -> Stmt:
    """A statement with its directives around it. A standalone directive precedes it."""
    for pragma in reversed(list(pragmas)):
        if pragma.standalone:
            body = Compound((standalone_directive(pragma, file), body))
        else:
            body = Directive(pragma, body, Span(file, pragma.line, pragma.column))
    return body


def standalone_directive(pragma: Pragma, file: str) -> Directive:
    """A directive without a statement."""
    return Directive(pragma, None, Span(file, pragma.line, pragma.column))
