"""Converts hints to the number of threads that each outlined function may start."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from regionpredict.errors import InputError
from regionpredict.measure.binary import OutlinedFunction
from regionpredict.measure.hints_file import BySize, Hint, Hints, Place, TeamHint, hints_at


class Limit(NamedTuple):
    """An outlined function, the hints of its loops, and its maximum number of threads.

    A `parallel` gets the number of its parallel region. Without hints for parallel regions, it gets
    the largest number of its loops. If a size decides, `choices` are (iterations below, threads) of
    the loop at `line`, and `threads` is the maximum at any size. `speedup` is the predicted speedup
    by threads.
    """

    outlined: OutlinedFunction
    hints: tuple[Hint, ...]
    threads: int
    line: int = 0
    choices: tuple[tuple[int, int], ...] = ()
    speedup: Mapping[int, float] = MappingProxyType({})


def limits_of(hints: Hints, functions: Sequence[OutlinedFunction]) -> tuple[Limit, ...]:
    """Converts the hints to limits on the threads of a program's functions.

    Raises InputError if no function has a hint, or if the number of threads of all hinted functions
    is fixed.
    """
    limits = []
    kept: dict[str, None] = {}
    for function in functions:
        lines = {*function.lines, (function.file, function.line)}
        own: dict[str, Hint] = {}
        for file, line in lines:
            for hint in hints_at(hints.regions, Place(file, line, line)):
                if _most_threads(hint) is not None and hint.status != "skipped":
                    own[hint.id] = max(own.get(hint.id, hint), hint, key=_hinted_threads)
        chosen = tuple(own[name] for name in sorted(own))
        teams = _candidate_teams(hints, function, lines, own)
        set_before = [team.size_set_before for group in teams for team in group
                      if team.size_set_before]  # fmt: skip
        if set_before:
            kept.update(dict.fromkeys(set_before))
            continue
        team = _largest_team(teams)
        asked = team if team is not None else max(chosen, key=_hinted_threads, default=None)
        if asked is None:
            continue
        line, choices = _size_choices(asked.sizes, asked, hints)
        limits.append(
            Limit(
                function,
                chosen,
                _hinted_threads(asked),
                line,
                choices,
                _speedup_curve(asked, chosen),
            )
        )
    if not limits and kept:
        raise InputError(
            f"all hints are for loops whose number of threads must be {', '.join(kept)}",
            remedy="set that, or OMP_NUM_THREADS, to the hint", path=hints.path,
        )  # fmt: skip
    if not limits:
        raise InputError(
            f"hints for another program: none of their regions ({len(hints.regions)}) is in it",
            remedy="predict the sources it was built from, and build it with -g", path=hints.path,
        )  # fmt: skip
    return tuple(limits)


def _candidate_teams(
    hints: Hints,
    function: OutlinedFunction,
    lines: Collection[tuple[str, int]],
    own: Collection[str],
) -> list[list[TeamHint]]:
    """Returns the parallel regions that the function may belong to: those that start on the same
    line, and those of its loops.
    """
    places = [(function.file, function.line), *sorted(lines)]
    begun = [hints_at(hints.teams, Place(file, line, None)) for file, line in places]
    return [*begun, [team for team in hints.teams if not set(own).isdisjoint(team.regions)]]


def _largest_team(teams: Iterable[Sequence[TeamHint]]) -> TeamHint | None:
    """Returns the parallel region with the most threads, among the first ones with a hint."""
    asked = ([team for team in group if _most_threads(team) is not None] for group in teams)
    return next((max(group, key=_hinted_threads) for group in asked if group), None)


def _most_threads(hint: Hint | TeamHint) -> int | None:
    """Returns the number of threads that the function may start. None without a hint."""
    if hint.sizes is not None and (hint.sizes.choices or hint.threads is None):
        return hint.sizes.most  # older files have no threads if sizes change the hint
    return hint.threads


def _hinted_threads(hint: Hint | TeamHint) -> int:
    return _most_threads(hint) or 1


def _speedup_curve(hint: Hint | TeamHint, loops: Sequence[Hint]) -> Mapping[int, float]:
    """Returns the speedup curve of the parallel region, or of its loop with the most threads."""
    if isinstance(hint, Hint):
        return hint.speedup
    if hint.predicted is not None and hint.predicted.speedup:
        return hint.predicted.speedup
    return max(loops, key=_hinted_threads).speedup if loops else {}


def _size_choices(
    sizes: BySize | None, asked: Hint | TeamHint, hints: Hints
) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Returns the line of the loop whose iterations decide, and the choices. Empty if no loop
    decides.
    """
    first = asked.regions[0] if isinstance(asked, TeamHint) and asked.regions else asked.id
    line = next((hint.line for hint in hints.regions if hint.id == first), None)
    if sizes is None or line is None:
        return 0, ()
    return line, sizes.choices


def write_limits(limits: Iterable[Limit], path: Path) -> None:
    """Writes the table for the preloaded library: `threads line choices curve offset module` on
    each line.
    """
    lines = [
        f"{limit.threads} {limit.line} {_choice_text(limit.choices)} {_curve_text(limit.speedup)} "
        f"{limit.outlined.offset:x} {limit.outlined.module}\n"
        for limit in limits
    ]
    path.write_text("".join(lines), encoding="utf-8")


def _choice_text(choices: Sequence[tuple[int, int]]) -> str:
    return ",".join(f"{below}:{threads}" for below, threads in choices) or "-"


def _curve_text(speedup: Mapping[int, float]) -> str:
    """Returns speedups on one thread, two and so on, with linear interpolation between known
    ones.
    """
    known = sorted({1: 1.0, **speedup}.items())
    if len(known) < 2:
        return "-"
    values = [1.0]
    for (fewer, low), (more, high) in pairwise(known):
        values += [low + (high - low) * (n - fewer) / (more - fewer)
                   for n in range(fewer + 1, more + 1)]  # fmt: skip
    return ",".join(f"{value:.3f}" for value in values)
