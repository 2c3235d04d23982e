"""Hints -> the number of threads each outlined function of a program may start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from regionpredict.errors import InputError
from regionpredict.measure.binary import Outlined
from regionpredict.measure.hints_file import Hint, Hints, Place, hints_at


class Limit(NamedTuple):
    """An outlined function, the hints of the loops in it, and the most threads it may start.

    One `parallel` with several loops gets what the loop that can use most is given.
    """

    outlined: Outlined
    hints: tuple[Hint, ...]
    threads: int


def limits_of(hints: Hints, functions: Sequence[Outlined]) -> tuple[Limit, ...]:
    """Raises InputError where no hint is for one of the functions."""
    limits = []
    for function in functions:
        lines = {*function.lines, (function.file, function.line)}
        own: dict[str, Hint] = {}
        for file, line in lines:
            for hint in hints_at(hints.regions, Place(file, line, line)):
                if hint.threads is not None and hint.status != "skipped":
                    own[hint.id] = max(own.get(hint.id, hint), hint, key=_threads)
        if own:
            chosen = tuple(own[name] for name in sorted(own))
            most = max(_threads(hint) for hint in chosen)
            limits.append(Limit(function, chosen, most))
    if not limits:
        raise InputError(
            f"hints for another program: none of their {len(hints.regions)} regions is in it",
            remedy="predict the sources it was built from, and build it with -g", path=hints.path,
        )  # fmt: skip
    return tuple(limits)


def _threads(hint: Hint) -> int:
    return hint.threads or 1


def write_limits(limits: Iterable[Limit], path: Path) -> None:
    """The table that the preloaded library reads: `threads offset module` a line."""
    lines = [
        f"{limit.threads} {limit.outlined.offset:x} {limit.outlined.module}\n" for limit in limits
    ]
    path.write_text("".join(lines), encoding="utf-8")
