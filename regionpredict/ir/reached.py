"""Finds everything that can be reached from some values, step by step."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

_Value = TypeVar("_Value", bound=Hashable)


def reached(
    begin: Iterable[_Value], onward: Callable[[_Value], Iterable[_Value]]
) -> dict[_Value, None]:
    """The values, and all values that `onward` leads to from them. There are no duplicates, and
    they are in the order in which they are found.

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
