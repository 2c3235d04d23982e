"""Finds names that decide a hint only if the deciding names have other values.

A loop over `m` inside a loop over `n` may decide nothing as long as `n` is two. With values for all
deciding names, the hint must be known. Therefore every other name is tried again with other values
of the deciding names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product

from regionpredict.predict.constants import (
    LARGEST_SIZE_TRIED,
    MOST_TRIALS,
    SIZE_RATIO,
    SMALLEST_SIZE_TRIED,
)
from regionpredict.predict.hints import Choice, common_threads

TRIED_SIZES = (
    int(SMALLEST_SIZE_TRIED.value),
    *(
        int(SIZE_RATIO.value) ** power
        for power in range(1, round(math.log(LARGEST_SIZE_TRIED.value, SIZE_RATIO.value)) + 1)
    ),
)
"""The sizes range from a loop of two iterations to an array of 0.8 GB."""
SIZES_OF_ONE = TRIED_SIZES[::2]
"""Every second size, for a single name among several. Both ends are included."""

More = Callable[[], bool]
"""Whether another trial is allowed."""
AskAll = Callable[[Mapping[str, int]], Choice | None]
"""The choice for these values. All other names have assumed values. None if no program has these
sizes.
"""


def always() -> bool:
    """Allows any number of trials.

    >>> always()
    True
    """
    return True


def deciding_at_other_values(
    deciding: Collection[str], by_name: Mapping[str, Mapping[int, Choice]], ask: AskAll,
    more: More = always,
) -> frozenset[str]:  # fmt: skip
    """The names of `by_name` that decide if one of `deciding` has another value.

    `by_name` are the choices for a single name. Each other name is tried over its sizes, with a
    deciding name at its smallest, middle and largest size. The remaining names have their assumed
    or smallest value. New deciding names are tried in the same way. The number of trials is limited
    by `more` and `MOST_TRIALS`, so the last of many names may be missed.

    >>> from regionpredict.predict.hints import Choice, Hint
    >>> one, more = Choice(Hint(1, 1, 1.0), frozenset({1})), Choice(Hint(1, 4, 1.0), frozenset({4}))
    >>> def ask(values):
    ...     given = {"n": 2, "m": 2, "k": 2, **values}
    ...     return more if given["n"] > 50 and given["m"] < 500 else one
    >>> by_name = {name: {size: ask({name: size}) for size in SIZES_OF_ONE} for name in "nmk"}
    >>> sorted(deciding_at_other_values({"n"}, by_name, ask))
    ['m']
    """
    known = set(deciding)
    waiting = sorted(known)
    asked = 0
    while waiting:
        base = waiting.pop(0)
        rest = sorted(by_name.keys() - known)
        least = dict.fromkeys(rest, SIZES_OF_ONE[0])
        for size, name in product(_ends_and_middle([*by_name.get(base, ())]), rest):
            settings = ({base: size}, {**least, base: size}) if len(rest) > 1 else ({base: size},)
            for setting in settings:
                if name in known or asked >= MOST_TRIALS.value or not more():
                    break
                asked += len(SIZES_OF_ONE)
                if _changes_hint(name, setting, ask):
                    known.add(name)
                    waiting.append(name)
    return frozenset(known.difference(deciding))


def _ends_and_middle(sizes: Sequence[int]) -> list[int]:
    return sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]}) if sizes else []


def _changes_hint(name: str, setting: Mapping[str, int], ask: AskAll) -> bool:
    choices: list[Choice] = []
    for size in SIZES_OF_ONE:
        choice = ask({**setting, name: size})
        if choice is not None:
            choices.append(choice)
            if not common_threads(choices):
                return True
    return False
