"""The ways in which a statement of an interpreted program ends, other than by continuing with the
next.
"""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.frontend.program_arguments.memory import UNKNOWN, Memory, Value
from regionpredict.ir import Span


class Signal(NamedTuple):
    """A jump away from the next statement.

    `kind` is 'break', 'continue', 'return' or 'end' (of the program).
    """

    kind: str
    value: Value = UNKNOWN
    span: Span | None = None


class LongLoopError(Exception):
    """A loop with too many iterations to execute."""


class UnknownLoopError(Exception):
    """It is unknown whether a loop continues."""


class Jumps(NamedTuple):
    """The undecided early ends of an iteration or of a `switch`.

    `kinds` are the jumps that it takes, and `memories` the values at each of them.
    """

    kinds: frozenset[str]
    memories: list[Memory]


class ProgramEnd(Exception):  # noqa: N818
    """The program ends inside an expression."""

    def __init__(self, signal: Signal) -> None:
        super().__init__()
        self.signal = signal
