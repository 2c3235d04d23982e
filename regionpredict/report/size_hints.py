"""What a hint is where sizes are open, in words, and which sizes are needed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby

from regionpredict.errors import one_line
from regionpredict.predict import Estimate, HintRange, SizeHint, TeamEstimate
from regionpredict.report.quantities import plural
from regionpredict.size_ranking import SizeRanking, UnboundSize

_MOST = 0.9
"""Of the hints that names can settle: what the few that are named first settle at least."""
_NAMED = 8  # names that a line shows


def size_sentence(hints: Sequence[SizeHint], *, whole: bool = False) -> str:
    """`1 thread below n = 90, 1 package (2 to 20 threads) below 1,100, 2 packages above`.

    Parts on as many packages are one, unless `whole`; empty where nothing turns.

    >>> size_sentence([SizeHint("n", 90, 1, 1), SizeHint("n", None, 2, 36)])
    '1 thread below n = 90, 2 packages (36 threads) above'
    """
    if len(hints) < 2:
        return ""
    parts: list[str] = []
    for kind, group in groupby(enumerate(hints), lambda one: one[0] if whole else _kind(one[1])):
        own = [hint for _, hint in group]
        name = "" if parts else own[0].name.replace(", ", " = ") + " = "
        below = own[-1].below
        what = _numbers(own) if kind is not None else ""
        parts.append(f"{what} above" if below is None else f"{what} below {name}{below:,}")
    return ", ".join(parts)


def _kind(hint: SizeHint) -> tuple[int, bool]:
    return hint.packages, hint.threads > 1


def _numbers(hints: Sequence[SizeHint]) -> str:
    """`1 package (2 to 20 threads)` of parts on as many packages."""
    threads = sorted({hint.threads for hint in hints})
    if threads == [1]:
        return "1 thread"
    told = str(threads[0]) if len(threads) == 1 else f"{threads[0]} to {threads[-1]}"
    return f"{plural(hints[0].packages, 'package')} ({told} threads)"


def open_sentence(one: Estimate | TeamEstimate, *, whole: bool = False) -> str:
    """What is known of a hint that guesses decide: by size where one size decides, else its range;
    empty where the hint is known.

    >>> range_sentence(HintRange((1, 2), (1, 36)), ["n", "m"])
    '1 to 2 packages, 1 to 36 threads: depends on n, m'
    """
    if one.range is None:
        return ""
    told = size_sentence(one.by_size, whole=whole)
    own = set(one.by_size[0].name.split(", ")) if told else set()
    if not told:
        return range_sentence(one.range, one.deciding)
    others = [name for name in one.deciding if name not in own]
    return told + (f"; depends on {', '.join(others)}, too" if others else "")


def range_sentence(range_: HintRange, deciding: Sequence[str]) -> str:
    """Between what a hint lies, and on what it depends."""
    packages, threads = (
        plural(most, noun) if least == most else f"{least} to {most} {noun}s"
        for (least, most), noun in zip(range_, ("package", "thread"), strict=True)
    )
    return f"{packages}, {threads}: depends on {', '.join(deciding)}"


def needed_sizes(ranking: SizeRanking) -> str:
    """`give these 4 and 34 of 39 regions are settled (now 12)`, and nothing where all are."""
    few = _few(ranking)
    if not few:
        return ""
    which = "this one" if len(few) == 1 else f"these {len(few)}"
    return (
        f"give {which} and {few[-1].settled} of {ranking.regions} regions are settled "
        f"(now {ranking.settled})"
    )


def needed_names(ranking: SizeRanking) -> list[str]:
    """The names to give, the strongest first."""
    return [one_line(one.name) for one in _few(ranking)]


def needed_options(ranking: SizeRanking) -> Iterator[str]:
    """The options that give them: `--set n=...`."""
    names = needed_names(ranking)
    for name in names[:_NAMED]:
        yield f"--set {name if name.isidentifier() else shlex.quote(name)}=..."
    if len(names) > _NAMED:
        yield f"and {len(names) - _NAMED} more (regionpredict sizes)"


def _few(ranking: SizeRanking) -> list[UnboundSize]:
    deciding = [one for one in ranking.unbound if one.decides]
    if not deciding:
        return []
    enough = _MOST * (deciding[-1].settled - ranking.settled)
    few = next(
        number for number, one in enumerate(deciding, 1) if one.settled - ranking.settled >= enough
    )
    return deciding[:few]
