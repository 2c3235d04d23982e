"""Where a size is open: how the hint changes with it.

`SIZES_TRIED` sizes in equal ratios are tried, from 2 to `LARGEST_SIZE_TRIED` times the assumed one;
where the hint differs between two of them, the sizes at which it turns are bisected. A hint turns
where the number of packages does, or where one thread becomes several.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from regionpredict.predict.constants import LARGEST_SIZE_TRIED, SIZE_PRECISION, SIZES_TRIED
from regionpredict.predict.hints import Hint


class SizeHint(NamedTuple):
    """The hint for sizes `below` a number and not below that of the one before; None: all others.

    `name` are the names of the size. `threads` are those for the largest size of the part (for
    the open end, the largest that was tried).
    """

    name: str
    below: int | None
    packages: int
    threads: int


def hints_by_size(
    names: tuple[str, ...], assumed: int, ask: Callable[[int], Hint | None]
) -> tuple[SizeHint, ...]:
    """The hints over the size, in its order; empty where some size has none.

    >>> from regionpredict.predict.hints import Hint
    >>> told = hints_by_size(("n",), 4000, lambda n: Hint(1 if n < 1100 else 2, 8, 1.0))
    >>> [(one.packages, one.below is None or 1100 <= one.below <= 1155) for one in told]
    [(1, True), (2, True)]
    """
    known: dict[int, Hint] = {}
    most = max(3, int(LARGEST_SIZE_TRIED.value * assumed))
    parts = int(SIZES_TRIED.value) - 1
    waiting = sorted({round(2 * (most / 2) ** (k / parts)) for k in range(parts + 1)})
    while waiting:
        for size in waiting:
            hint = ask(size)
            if hint is None:
                return ()
            known[size] = hint
        sizes = sorted(known)
        waiting = [
            math.isqrt(low * high) if math.isqrt(low * high) > low else low + 1
            for low, high in pairwise(sizes)
            if _kind(known[low]) != _kind(known[high])
            and high - low > max(1, int(SIZE_PRECISION.value * low))
        ]
    name = ", ".join(names)
    told = [
        SizeHint(name, high, known[low].packages, known[low].threads)
        for low, high in pairwise(sizes) if _kind(known[low]) != _kind(known[high])
    ]  # fmt: skip
    last = known[sizes[-1]]
    return (*told, SizeHint(name, None, last.packages, last.threads))


def _kind(hint: Hint) -> tuple[int, bool]:
    return hint.packages, hint.threads > 1
