"""Results of interpreting a program, mainly the values at the start of its regions and loops."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.frontend.program_arguments.input_files import InputFiles
from regionpredict.frontend.program_arguments.memory import Memory
from regionpredict.frontend.syntax import Decl
from regionpredict.ir import Span

_MOST_SAMPLES = 16  # maximum number of recorded executions per region


class Entry(NamedTuple):
    """The values at the start of a region or a loop, and the variables that the names refer to.

    `names` are the names in the loop's function. `shared` names mean the same in all functions.
    `frames` gives the names in each active function. For a recursive function, they belong to its
    last call.
    """

    memory: Memory
    names: dict[str, Decl]
    shared: dict[str, Decl]
    frames: dict[str, dict[str, Decl]]


@dataclass(slots=True)
class Executions:
    """The executions of a region or a loop.

    `sampled` is a random sample of at most 16 executions. `always` contains the values that were
    the same in all executions, if they are requested. Consecutive executions with the same values
    count as one. An execution that represents the rest of a long loop is sampled only if it is the
    first.

    The sample is the same in each run: the executions whose numbers have the smallest hashes. The
    first execution has hash 0, so it is always sampled.

    >>> entry = Entry(Memory(), {}, {}, {})
    >>> seen = Executions()
    >>> for _ in range(101):
    ...     seen.add(entry)
    >>> len(seen.sampled), len({number % 2 for number in seen.sampled})
    (16, 2)
    """

    always: Entry | None = None
    sampled: dict[int, Entry] = field(default_factory=dict)
    count: int = 0
    last: Memory | None = None

    def add(self, entry: Entry, *, rest: bool = False) -> None:
        """Adds an execution, or one that represents the `rest` of the executions."""
        self.last = entry.memory
        if self.always is not None:
            self.always = self.always._replace(memory=self.always.memory.common(entry.memory))
        if not (rest and self.sampled):
            self.sampled[self.count] = entry
        self.count += 1
        if len(self.sampled) > _MOST_SAMPLES:
            del self.sampled[max(self.sampled, key=_hash_of)]

    def forget_last(self) -> None:
        """Removes the last execution from the sample."""
        self.count -= 1
        self.last = None
        self.sampled.pop(self.count, None)


def _hash_of(number: int) -> int:
    """Mixes the bits of a number (the finalizer of MurmurHash3, A. Appleby)."""
    for factor in (0x85EBCA6B, 0xC2B2AE35):
        number = ((number ^ (number >> 16)) * factor) & 0xFFFFFFFF
    return number ^ (number >> 16)


@dataclass(slots=True)
class InterpretationResult:
    """The results of interpreting a program.

    `entries` are the values at the start of regions and loops, by location. `remarks` are notes for
    the user. `read` are the numbers of the arguments that the program reads. `handed_on`: a
    function without a body received the arguments. `ended`: the program ends before `main` returns.
    `meant` are the targets of calls through pointers ("" if unknown), and `decided` the results of
    conditions (None if unknown), both by location. `gaps`: part of the program is unknown.
    `parallel`: the program reached a directive. `cut`: the end of the program was not reached.
    `exact`: the values that are the same in all executions are needed. `files` are the input files
    that the program opens.
    """

    entries: dict[Span, Executions] = field(default_factory=dict)
    remarks: dict[str, None] = field(default_factory=dict)
    read: set[int] = field(default_factory=set)
    handed_on: bool = False
    ended: bool = False
    meant: dict[Span, set[str]] = field(default_factory=dict)
    decided: dict[Span, set[bool | None]] = field(default_factory=dict)
    gaps: bool = False
    parallel: bool = False
    cut: bool = False
    exact: bool = False
    files: InputFiles = field(default_factory=InputFiles)
    _order: list[Span] = field(default_factory=list)  # of the entries

    def has_entry(self, span: Span, memory: Memory) -> bool:
        """Whether the last execution started with the same values."""
        seen = self.entries.get(span)
        return seen is not None and seen.last == memory

    def add_entry(self, span: Span, entry: Entry, *, rest: bool) -> None:
        """Records the values at a start, which may represent the `rest` of the executions."""
        if span not in self.entries:
            self.entries[span] = Executions(entry if self.exact else None)
        self.entries[span].add(entry, rest=rest)
        self._order.append(span)

    def entries_so_far(self) -> int:
        """Returns the number of recorded entries, for `forget_entries_after`."""
        return len(self._order)

    def forget_entries_after(self, count: int) -> None:
        """Removes the entries that were added after the first `count` entries."""
        while len(self._order) > count:
            span = self._order.pop()
            self.entries[span].forget_last()
            if not self.entries[span].count:
                del self.entries[span]
