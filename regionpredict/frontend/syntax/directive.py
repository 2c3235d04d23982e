"""One OpenMP directive as read from the text: its words, clauses and place."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.ir import Clause

_STANDALONE = frozenset(
    (
        "barrier", "flush", "taskwait", "taskyield", "threadprivate", "cancel", "cancellation",
        "declare", "end", "requires", "error", "nothing", "interop", "depobj", "allocate", "begin",
        "assumes",
    )
)  # fmt: skip


class Pragma(NamedTuple):
    """One OpenMP directive: its words (`parallel for`), clauses and place (offsets in the file).

    `joined` says that it stands directly behind another one of the same macro.
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

    @property
    def is_loop(self) -> bool:
        """Whether it shares the iterations of a loop among the threads of a team."""
        words = self.kind.split()
        if words[0] in ("cancel", "cancellation", "declare", "end"):
            return False
        return "for" in words or ("loop" in words and ("parallel" in words or "teams" in words))

    @property
    def standalone(self) -> bool:
        """Whether no statement belongs to it."""
        words = self.kind.split()
        if words[0] == "target":
            return any(word in words for word in ("update", "enter", "exit"))
        if words[0] == "ordered":
            return any(clause.name in ("depend", "doacross") for clause in self.clauses)
        return words[0] in _STANDALONE

    def clause(self, name: str) -> Clause | None:
        """The first clause of that name, or None."""
        return next((clause for clause in self.clauses if clause.name == name), None)
