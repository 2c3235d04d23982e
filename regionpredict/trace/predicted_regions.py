"""Looks up the predicted efficiency and load balance of measured parallel regions."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.measure.hints_file import Hint, Hints, Place, TeamHint, hints_at
from regionpredict.trace.region_split import RegionSplit


def predicted_efficiency(hints: Hints, split: RegionSplit) -> float | None:
    """Returns the predicted speedup of a parallel region divided by its threads. The result is None
    if the hints do not include the region.

    Several loops in the region are weighted by their times on one thread.
    """
    loops = _loops_of(hints, split)
    if not loops or any(split.threads not in loop.speedup for loop in loops):
        return None
    if len(loops) == 1:
        return loops[0].speedup[split.threads] / split.threads
    return _combined_efficiency(loops, split.threads)


def predicted_balance(hints: Hints, split: RegionSplit) -> float | None:
    """Returns the predicted mean busy time of a parallel region's threads divided by the largest.
    The result is None if the hints do not include the region.
    """
    loops = _loops_of(hints, split)
    if not loops or any(split.threads not in loop.busy for loop in loops):
        return None
    mean, most = (sum(loop.busy[split.threads][part] for loop in loops) for part in (0, 1))
    return mean / most if most > 0 else None


def _loops_of(hints: Hints, split: RegionSplit) -> list[Hint]:
    """Returns the hints for the loops of a parallel region."""
    if split.line is None or not split.file:
        return []
    place = Place(split.file, split.line, None)
    teams: list[TeamHint] = hints_at(hints.teams, place)
    if teams:
        wanted = set(teams[0].regions)
        return [region for region in hints.regions if region.id in wanted]
    return hints_at(hints.regions, place)


def _combined_efficiency(loops: Sequence[Hint], threads: int) -> float | None:
    alone = [loop.seconds for loop in loops]
    if any(not seconds for seconds in alone):
        return None
    known = [float(seconds or 0.0) for seconds in alone]
    shared = sum(s / loop.speedup[threads] for s, loop in zip(known, loops, strict=True))
    return sum(known) / shared / threads
