"""Represents an OpenMP directive: its words, clauses and location."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from regionpredict.ir import Clause

_STANDALONE = frozenset(
    (
        "barrier", "flush", "taskwait", "taskyield", "threadprivate", "cancel", "cancellation",
        "declare", "end", "requires", "error", "nothing", "interop", "depobj", "allocate", "begin",
        "assumes",
    )
)  # fmt: skip
_PRIVATIZING = frozenset(
    ("private", "firstprivate", "lastprivate", "reduction", "linear", "copyin", "in_reduction",
     "task_reduction", "threadprivate")
)  # fmt: skip
_WORD = re.compile(r"[A-Za-z_]\w*")


class Pragma(NamedTuple):
    """An OpenMP directive: its words (`parallel for`), clauses and location (offsets in the file).

    `joined` says that the directive directly follows another directive of the same macro. If the
    directive precedes a block of its macro, `blocks` counts the blocks that start before it, in the
    macro and in its function.
    """

    kind: str
    clauses: tuple[Clause, ...]
    offset: int
    end: int
    line: int
    column: int
    text: str
    macro: str = ""
    joined: bool = False
    blocks: tuple[int, int] | None = None

    @property
    def is_loop(self) -> bool:
        """Whether the directive shares the iterations of a loop, or sections, among threads: in
        chunks, or as tasks.
        """
        tokens = self.kind.split()
        if tokens[0] in ("cancel", "cancellation", "declare", "end"):
            return False
        if self.is_sections or "taskloop" in tokens:
            return True
        return "for" in tokens or ("loop" in tokens and ("parallel" in tokens or "teams" in tokens))

    @property
    def is_sections(self) -> bool:
        """Whether the directive shares blocks of code among threads."""
        return "sections" in self.kind.split()

    @property
    def is_task(self) -> bool:
        """Whether the directive creates an explicit task from its statement."""
        return self.kind.split() == ["task"]

    @property
    def standalone(self) -> bool:
        """Whether the directive has no statement."""
        tokens = self.kind.split()
        if tokens[0] == "target":
            return any(word in tokens for word in ("update", "enter", "exit"))
        if tokens[0] == "ordered":
            return any(clause.name in ("depend", "doacross") for clause in self.clauses)
        return tokens[0] in _STANDALONE

    @property
    def own_names(self) -> frozenset[str]:
        """Every name in clauses that privatize variables. Words that are not variables may be
        included.
        """
        texts = [clause.text or "" for clause in self.clauses if clause.name in _PRIVATIZING]
        return frozenset(name for text in texts for name in _WORD.findall(text))

    def clause(self, name: str) -> Clause | None:
        """Returns the first clause with this name, or None."""
        return next((clause for clause in self.clauses if clause.name == name), None)


def threadprivate(pragmas: Iterable[Pragma]) -> frozenset[str]:
    """Returns the variables that `threadprivate` directives make private to each thread."""
    return frozenset().union(
        *(pragma.own_names for pragma in pragmas if pragma.kind == "threadprivate")
    )
