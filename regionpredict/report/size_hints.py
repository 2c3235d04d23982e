"""How a hint changes with the size that nobody gave, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.predict import SizeHint
from regionpredict.report.quantities import plural


def size_sentence(hints: Sequence[SizeHint]) -> str:
    """`1 package (7 threads) below n = 1,100, 2 packages above`; empty where it never turns.

    >>> size_sentence([SizeHint("n", 90, 1, 1), SizeHint("n", None, 2, 36)])
    '1 thread below n = 90, 2 packages (36 threads) above'
    """
    if len(hints) < 2:
        return ""
    parts = []
    for number, one in enumerate(hints):
        packages = f"{plural(one.packages, 'package')} ({one.threads} threads)"
        what = packages if one.threads > 1 else "1 thread"
        name = f"{one.name} = " if number == 0 else ""
        parts.append(f"{what} above" if one.below is None else f"{what} below {name}{one.below:,}")
    return ", ".join(parts)
