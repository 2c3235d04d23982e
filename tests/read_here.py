"""Files are read in the process of the tests, which takes half of what a fork for each takes.

It is the way of platforms without a safe fork. What is to hold when a file ends its process is
asked of real children: by tests that give limits of their own, and those that are marked
`isolated_defects`.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Sequence
from typing import Any

from regionpredict import isolation
from regionpredict.frame_memory import with_frame_memory
from regionpredict.isolation import LIMITS, Limits

in_children = isolation.run_isolated


def read_here(
    work: Callable[[Any], Any], items: Sequence[Any], processes: int, limits: Limits = LIMITS,
    tell: Callable[[int], None] = lambda done: None,
) -> list[Any]:  # fmt: skip
    """As `isolation.isolated`, on a thread with the stack and the recursion that a child has."""
    if limits != LIMITS:
        return in_children(work, items, processes, limits, tell)
    outcomes: list[Any] = []

    def all_items() -> None:
        with isolation.recursion_limit(limits.recursion):
            for item in items:
                outcomes.append(isolation._outcome_of(work, item))
                tell(len(outcomes))

    before = threading.stack_size(limits.stack)
    collects = gc.isenabled()
    gc.disable()
    try:
        thread = threading.Thread(target=with_frame_memory, args=(all_items,))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
        if collects:
            gc.enable()
    return [isolation._raise_failure(outcome) for outcome in outcomes]
