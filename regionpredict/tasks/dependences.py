"""Computes which tasks must wait for which others, from their depend clauses (OpenMP 5.2, sec.
15.9.5).

Only siblings depend on each other, in the order in which they were created. The OpenMP runtime
reports edges only to unfinished tasks, but the clauses contain all dependences.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

IN, OUT, INOUT, MUTEX_SET, INOUT_SET = 1, 2, 3, 4, 7
ALL_MEMORY = (34, 35)


@dataclass(slots=True)
class _AccessesToAddress:
    """The tasks with the last accesses to one address. The `latest` tasks have the same kind of
    access and may run in any order. Each of them must wait for the `earlier` tasks.
    """

    kind: int = 0
    latest: list[int] = field(default_factory=list)
    earlier: list[int] = field(default_factory=list)

    def add_access(self, task: int, kind: int) -> list[int]:
        """Adds a task, and returns the tasks that it waits for."""
        kind = OUT if kind == INOUT else kind
        if kind != OUT and kind == self.kind:
            if task not in self.latest[-1:]:
                self.latest.append(task)
            return self.earlier
        if self.latest == [task]:  # occurs twice in one list
            self.kind = OUT
            return self.earlier
        self.kind, self.earlier, self.latest = kind, self.latest, [task]
        return self.earlier


def dependence_pairs(
    rows: Iterable[tuple[int, int, int, int]], transient: frozenset[int] = frozenset()
) -> dict[tuple[int, int], None]:
    """Returns pairs (earlier task, later task) for rows (parent, task, address, type) in the order
    of creation.

    A task in `transient`, such as a taskwait with depend clauses, waits for others, but no task
    waits for it.

    >>> list(dependence_pairs([(0, 1, 8, 2), (0, 2, 8, 1), (0, 3, 8, 1), (0, 4, 8, 3)]))
    [(1, 2), (1, 3), (2, 4), (3, 4)]
    """
    pairs: dict[tuple[int, int], None] = {}
    known: dict[int, dict[int, _AccessesToAddress]] = {}
    fences: dict[int, int] = {}
    for parent, task, address, kind in rows:
        storages = known.setdefault(parent, {})
        if kind in ALL_MEMORY:
            before = [other for storage in storages.values() for other in storage.latest]
            if not before and parent in fences:
                before = [fences[parent]]
            storages.clear()
            fences[parent] = task
        elif kind in (IN, OUT, INOUT, MUTEX_SET, INOUT_SET):
            storage = storages.get(address)
            if storage is None:
                storage = storages[address] = _AccessesToAddress()
                if parent in fences:
                    storage.kind, storage.latest = OUT, [fences[parent]]
            if task in transient:
                before = storage.earlier if kind == storage.kind != OUT else storage.latest
            else:
                before = storage.add_access(task, kind)
        else:
            continue
        for other in before:
            if other != task:
                pairs[other, task] = None
    return pairs
