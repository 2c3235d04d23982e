"""What was seen of a followed program: the values where its regions and loops begin, above all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.frontend.program_arguments.memory import Memory
from regionpredict.frontend.syntax import Decl
from regionpredict.ir import Span

_MOST_ENTRIES = 8  # times that a region begins of which each is known by itself


class Entry(NamedTuple):
    """The values that are there when a region or a loop begins, and what the names of its
    function stand for; `shared` are those that mean the same in all functions."""

    memory: Memory
    names: dict[str, Decl]
    shared: dict[str, Decl]


@dataclass(slots=True)
class Followed:
    """What was seen: the entries of regions and loops by their places, remarks, and the numbers of
    the arguments that were read. `handed_on`: a function that is not seen got the arguments;
    `ended`: the program ends before `main` returns. `meant` are the functions that calls through
    pointers came to, "" where that is not known, `decided` how conditions turned out, None: not
    known; both by their places. `gaps`: some of what the program does was not seen. `parallel`: it
    came to a directive; `cut`: what it does at the end was not followed."""

    entries: dict[Span, list[Entry]] = field(default_factory=dict)
    remarks: dict[str, None] = field(default_factory=dict)
    read: set[int] = field(default_factory=set)
    handed_on: bool = False
    ended: bool = False
    meant: dict[Span, set[str]] = field(default_factory=dict)
    decided: dict[Span, set[bool | None]] = field(default_factory=dict)
    gaps: bool = False
    parallel: bool = False
    cut: bool = False

    def has_entry(self, span: Span, memory: Memory) -> bool:
        """Whether what begins there began with the same values the last time."""
        entries = self.entries.get(span)
        return entries is not None and entries[-1].memory == memory

    def add_entry(self, span: Span, entry: Entry) -> None:
        """Notes the values where something begins; behind the first few times, those that are the
        same ever after."""
        entries = self.entries.setdefault(span, [])
        if len(entries) < _MOST_ENTRIES:
            entries.append(entry)
        else:
            entries[-1] = entry._replace(memory=entries[-1].memory.common(entry.memory))
