"""What a front end hands over: the regions of some source files, and what it could not read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.ir.expr import Expr
from regionpredict.ir.flow import Flow
from regionpredict.ir.region import Loop, Region
from regionpredict.ir.source import Diagnostic, Span


class Definition(NamedTuple):
    """What the source itself says of a name's value: `int ni = 4000;`, `kernel(ni)`.

    Of a name that is a counter where it comes from, `range` is the least and the largest that it
    is handed, and `value` their middle. `origin`: "source", or, where the program's `main` was
    followed to it, "given" with arguments and "defaults" without.
    """

    name: str
    value: Expr
    span: Span
    range: tuple[Expr, Expr] | None = None
    origin: str = "source"


class SerialLoop(NamedTuple):
    """The header of a loop that calls functions, with what the source says of the names in it."""

    loop: Loop
    definitions: tuple[Definition, ...]


class SerialNest(NamedTuple):
    """A loop that one thread runs outside all parallel regions, lowered as a region is, with what
    the source says of the names in it."""

    region: Region
    definitions: tuple[Definition, ...]


class SerialBranch(NamedTuple):
    """What decides whether calls are made, or teams begin: the `condition` of one `side` of an `if`
    or a `switch` at `span` (`Block.side`), with what the source says of the names in it.

    `counters` are the names in it that loops move, each with its loop's place; `text` as it is
    written. `parameters` are those that the function is handed and does not change, each with its
    position.
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
    """The regions of one translation unit or of many, in the order of file and line.

    `definitions` are those of the names in a region's expressions, by its id.
    `macros` are object-like macros with a constant value, so that a wrong `--set` can say so.
    `work_shares` is the mean work of an execution relative to that at the size in the definitions,
    for regions and serial loops with several sizes.
    """

    regions: tuple[Region, ...]
    diagnostics: tuple[Diagnostic, ...]
    frontend: str
    files: tuple[str, ...]
    definitions: dict[str, tuple[Definition, ...]]
    macros: frozenset[str] = frozenset()
    headers: str = "system"  # 'system' | 'shipped'
    flows: tuple[Flow, ...] = ()  # what functions do to memory, where it was asked for
    loops: tuple[SerialLoop, ...] = ()  # that repeat calls, where flows were asked for
    branches: tuple[SerialBranch, ...] = ()  # around calls and teams, where flows were
    serial: tuple[SerialNest, ...] = ()  # what one thread does alone, where flows were
    defaults: bool = False  # what `main` makes of no arguments was followed, to a parallel region
    work_shares: dict[Span, float] = field(default_factory=dict)
    not_entered: frozenset[str] = frozenset()  # regions to which no run without arguments comes
