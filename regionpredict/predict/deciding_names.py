"""Finds unknown names that change the hint only for certain values of other unknown names.

For example, the length `m` of an inner loop may have no effect as long as the outer length `n` is
2. Therefore, every name without effect is varied again for other values of the deciding names.
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
"""The tried values of an unknown size, from a loop of two iterations to an array of 0.8 GB."""
SIZES_OF_ONE = TRIED_SIZES[::2]
"""The tried values of a single name among several: every second size, including both ends."""

More = Callable[[], bool]
"""A function that returns whether the budget allows another trial."""
AskAll = Callable[[Mapping[str, int]], Choice | None]
"""A function that returns the choice for given values of some names, and assumed values of the
others. None for impossible sizes.
"""


def always_true() -> bool:
    """Returns True: the number of trials is unlimited.

    >>> always_true()
    True
    """
    return True


def deciding_at_other_values(
    deciding: Collection[str], by_name: Mapping[str, Mapping[int, Choice]], ask: AskAll,
    more: More = always_true,
) -> frozenset[str]:  # fmt: skip
    """Returns the names that change the hint only if a name of `deciding` has another value.

    `by_name` contains the choices for values of each single name. Each other name is varied, with a
    deciding name at its smallest, middle and largest size. The remaining names have their assumed
    or smallest value. New deciding names are used in the same way. `more` and `MOST_TRIALS` limit
    the number of trials.

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
