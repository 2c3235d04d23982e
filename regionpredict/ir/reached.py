"""Finds everything that is reachable from some values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

_Value = TypeVar("_Value", bound=Hashable)


def reached(
    begin: Iterable[_Value], onward: Callable[[_Value], Iterable[_Value]]
) -> dict[_Value, None]:
    """Returns the values `begin` and all values reachable from them, without duplicates, in the
    order in which they are found. `onward` returns the successors of a value.

    >>> list(reached([8], lambda n: [n // 2] if n > 1 else []))
    [8, 4, 2, 1]
    """
    found = dict.fromkeys(begin)
    waiting = list(found)
    while waiting:
        for value in onward(waiting.pop()):
            if value not in found:
                found[value] = None
                waiting.append(value)
    return found
