"""The output of a front end: regions of source files, and diagnostics for unreadable code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.ir.expr import Expr
from regionpredict.ir.flow import Flow
from regionpredict.ir.region import Loop, Region
from regionpredict.ir.source import Diagnostic, Span


class Definition(NamedTuple):
    """The value of a name in the source: `int ni = 4000;`, `kernel(ni)`.

    If the name is a loop counter where it is defined, `range` contains its smallest and largest
    value, and `value` is the middle. `origin` is "source" for a value in the source. A value from
    interpreting `main` is "given" if it is the same at every execution with the user's arguments,
    otherwise "defaults".
    """

    name: str
    value: Expr
    span: Span
    range: tuple[Expr, Expr] | None = None
    origin: str = "source"

    def changed(self, change: Callable[[Expr], Expr]) -> Definition:
        """Returns the definition after a change to its expressions."""
        ends = None if self.range is None else (change(self.range[0]), change(self.range[1]))
        return self._replace(value=change(self.value), range=ends)


class SerialLoop(NamedTuple):
    """The header of a loop that calls functions, with the definitions of its names."""

    loop: Loop
    definitions: tuple[Definition, ...]


class SerialNest(NamedTuple):
    """A loop that one thread runs outside all parallel regions, in the form of a region, with the
    definitions of its names.
    """

    region: Region
    definitions: tuple[Definition, ...]


class SerialBranch(NamedTuple):
    """A condition that decides whether calls are executed or parallel regions start.

    `condition` belongs to one `side` of an `if` or a `switch` at `span` (`Block.side`). `counters`
    are its names that loops modify, each with the location of the loop. `text` is the condition in
    the source. `parameters` are its names that are unmodified parameters of the function, each with
    its position.
    """

    span: Span
    side: int
    condition: Expr
    text: str
    counters: tuple[tuple[str, Span], ...]
    definitions: tuple[Definition, ...]
    parameters: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """The regions of one or more translation units, in the order of file and line.

    `definitions` gives the definitions of the names in each region's expressions, by region id.
    `macros` are object-like macros with a constant value, which error messages about `--set` use.
    `work_shares` is the mean work of an execution, relative to the work at the size in the
    definitions. It contains the regions and serial loops that have several sizes.
    """

    regions: tuple[Region, ...]
    diagnostics: tuple[Diagnostic, ...]
    frontend: str
    files: tuple[str, ...]
    definitions: dict[str, tuple[Definition, ...]]
    macros: frozenset[str] = frozenset()
    headers: str = "system"  # 'system' | 'shipped'
    flows: tuple[Flow, ...] = ()  # memory effects of functions, if requested
    loops: tuple[SerialLoop, ...] = ()  # loops with calls, if flows were requested
    branches: tuple[SerialBranch, ...] = ()  # conditions of calls and parallel regions
    serial: tuple[SerialNest, ...] = ()  # work of a single thread, if flows were requested
    followed: bool = False  # `main` was interpreted to find sizes
    work_shares: dict[Span, float] = field(default_factory=dict)
    not_entered: frozenset[str] = frozenset()  # regions that no `main` reaches
