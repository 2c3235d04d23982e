"""Describes how a statement of an interpreted program ends, if the next statement is not
executed.
"""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.frontend.program_arguments.memory import UNKNOWN, Memory, Value
from regionpredict.frontend.syntax import For, While
from regionpredict.ir import Span


class Signal(NamedTuple):
    """A jump that skips the next statement.

    `kind` is 'break', 'continue', 'return' or 'end' (of the program).
    """

    kind: str
    value: Value = UNKNOWN
    span: Span | None = None


class LongLoopError(Exception):
    """Raised for a `loop` with too many iterations to interpret."""

    def __init__(self, loop: For | While) -> None:
        super().__init__()
        self.loop = loop


class UnknownLoopError(Exception):
    """Raised if it is unknown whether a loop continues."""


class Jumps(NamedTuple):
    """The early exits of an iteration or of a `switch` that may happen.

    `kinds` are the kinds of jumps that end here, and `memories` the memory at each jump.
    """

    kinds: frozenset[str]
    memories: list[Memory]


class ProgramEnd(Exception):  # noqa: N818
    """Raised if the program ends inside an expression."""

    def __init__(self, signal: Signal) -> None:
        super().__init__()
        self.signal = signal
