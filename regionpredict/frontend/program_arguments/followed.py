"""Results of executing a program. These are mainly the values at the start of its regions and
loops.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.frontend.program_arguments.input_files import InputFiles
from regionpredict.frontend.program_arguments.memory import Memory
from regionpredict.frontend.syntax import Decl
from regionpredict.ir import Span

_MOST_ENTRIES = 8  # executions of a region that are recorded separately


class Entry(NamedTuple):
    """The values at the start of a region or a loop, and the meaning of the names in its function.

    `shared` names mean the same in all functions. `frames` gives the names of each active function.
    For a recursive function, they are those of its last call.
    """

    memory: Memory
    names: dict[str, Decl]
    shared: dict[str, Decl]
    frames: dict[str, dict[str, Decl]]


@dataclass(slots=True)
class Followed:
    """The results: entries of regions and loops by place, remarks, and the numbers of the arguments
    read. `handed_on`: an unseen function got the arguments. `ended`: the program ends before `main`
    returns. `meant` are the targets of calls through pointers ("" if unknown), and `decided` the
    results of conditions (None if unknown), both by place. `gaps`: part of the program is unknown.
    `parallel`: it reached a directive. `cut`: its end was not followed. `files` are the input files
    that it opens."""

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
    files: InputFiles = field(default_factory=InputFiles)
    _order: list[Span] = field(default_factory=list)  # of the entries

    def has_entry(self, span: Span, memory: Memory) -> bool:
        """Whether the last execution started with the same values."""
        entries = self.entries.get(span)
        return entries is not None and entries[-1].memory == memory

    def add_entry(self, span: Span, entry: Entry) -> None:
        """Records the values at a start. After the first executions, it keeps only values that are
        always the same.
        """
        entries = self.entries.setdefault(span, [])
        if len(entries) < _MOST_ENTRIES:
            entries.append(entry)
            self._order.append(span)
        else:
            entries[-1] = entry._replace(memory=entries[-1].memory.common(entry.memory))

    def entries_so_far(self) -> int:
        """The number of recorded entries, for `forget_entries_after`."""
        return len(self._order)

    def forget_entries_after(self, count: int) -> None:
        """Removes the entries that were added after there were `count` entries."""
        while len(self._order) > count:
            span = self._order.pop()
            self.entries[span].pop()
            if not self.entries[span]:
                del self.entries[span]
