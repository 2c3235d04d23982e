"""Hints -> the number of threads each outlined function of a program may start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from regionpredict.errors import InputError
from regionpredict.measure.binary import Outlined
from regionpredict.measure.hints_file import Hint, Hints, Place, match_hint


class Limit(NamedTuple):
    """An outlined function, the hints of the loops in it, and the most threads it may start.

    One `parallel` with several loops gets what the loop that can use most is given.
    """

    outlined: Outlined
    hints: tuple[Hint, ...]
    threads: int


def limits_of(hints: Hints, functions: Sequence[Outlined]) -> tuple[Limit, ...]:
    """Raises InputError where no hint is for one of the functions."""
    found = []
    for function in functions:
        lines = {*function.lines, (function.file, function.line)}
        own = {}
        for file, line in lines:
            hint = match_hint(hints.regions, Place(file, line, line))
            if hint is not None and hint.threads is not None and hint.status != "skipped":
                own[hint.id] = hint
        if own:
            chosen = tuple(own[name] for name in sorted(own))
            most = max(hint.threads or 1 for hint in chosen)
            found.append(Limit(function, chosen, most))
    if not found:
        raise InputError(
            f"hints for another program: none of their {len(hints.regions)} regions is in it",
            remedy="predict the sources it was built from, and build it with -g", path=hints.path,
        )  # fmt: skip
    return tuple(found)


def write_limits(limits: Iterable[Limit], path: Path) -> None:
    """The table that the preloaded library reads: `threads offset module` a line."""
    lines = [f"{one.threads} {one.outlined.offset:x} {one.outlined.module}\n" for one in limits]
    path.write_text("".join(lines), encoding="utf-8")
