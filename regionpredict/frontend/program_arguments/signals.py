"""How a statement of a followed program ends where it does not go on to the next."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.frontend.program_arguments.memory import UNKNOWN, Memory, Value
from regionpredict.ir import Span


class Signal(NamedTuple):
    """Why a statement does not go on to the next: `kind` is 'break', 'continue', 'return' or 'end'
    (of the program)."""

    kind: str
    value: Value = UNKNOWN
    span: Span | None = None


class LongLoopError(Exception):
    """A loop of too many rounds to run them all."""


class UnknownLoopError(Exception):
    """It is not known whether a loop or a `switch` goes on."""


class Jumps(NamedTuple):
    """Where a round of a loop may end early, undecided: the `memories` that are left there.

    `kinds` are those that its loop takes: 'continue', of a loop that runs any number of times also
    'break'.
    """

    kinds: frozenset[str]
    memories: list[Memory]


class ProgramEnd(Exception):  # noqa: N818
    """The program ends inside an expression."""

    def __init__(self, signal: Signal) -> None:
        super().__init__()
        self.signal = signal
