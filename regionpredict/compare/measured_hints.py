"""Matches measured regions and parallel regions with hints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from regionpredict.measure.hints_file import Hint, Hints, Place, TeamHint, hints_at, match_hint
from regionpredict.measure.summary import RegionSummary

_WHOLE = "omp parallel"
"""The directive of a region from a binary's debug information. The region's loop may be only a part
of the directive.
"""


class MatchedHints(NamedTuple):
    """Measured regions and parallel regions with their hints.

    `without_hint` lists measured regions without a hint, and `not_measured` the ids of hinted
    regions without a measurement. A manually shared loop counts as measured with its parallel
    region.
    """

    regions: tuple[tuple[Hint, RegionSummary], ...]
    teams: tuple[tuple[TeamHint, RegionSummary], ...]
    without_hint: tuple[str, ...]
    not_measured: tuple[str, ...]


def match_measured(
    hints: Hints, regions: Sequence[RegionSummary], teams: Sequence[RegionSummary]
) -> MatchedHints:
    """Finds the hint of each measured region and parallel region."""
    pairs: list[tuple[Hint, RegionSummary]] = []
    whole: list[tuple[TeamHint, RegionSummary]] = []
    alone: list[str] = []
    predicted = [team for team in hints.teams if team.predicted is not None]
    for summary, whole_team in [(r, False) for r in regions] + [(t, True) for t in teams]:
        last = summary.last
        place = Place(last.file, last.line, last.loop_line, last.ordinal)
        is_team = whole_team or _is_team(hints, predicted, place, last.directive)
        team = match_hint(predicted, place) if is_team else None
        hint = None if is_team else match_hint(hints.regions, place)
        if team is not None:
            whole.append((_with_measured_function(team, last.function), summary))
        elif hint is not None:
            pairs.append((hint, summary))
        else:
            alone.append(f"{last.file}:{last.line}")
    seen = {hint.id for hint, _ in pairs}
    inside = {region for team, _ in whole for region in team.regions}
    missed = (
        hint.id for hint in hints.regions
        if hint.id not in seen and not (hint.by_hand and hint.id in inside)
    )  # fmt: skip
    return MatchedHints(tuple(pairs), tuple(whole), tuple(alone), tuple(missed))


def _with_measured_function(team: TeamHint, function: str) -> TeamHint:
    """Returns the parallel region with the function that contains its `parallel`, since its loops
    may be in other functions.
    """
    if team.predicted is None or not function:
        return team
    return replace(team, predicted=replace(team.predicted, function=function))


def _is_team(hints: Hints, teams: Sequence[TeamHint], place: Place, directive: str) -> bool:
    """Whether a `parallel` found in a binary has no associated loop."""
    if directive != _WHOLE or match_hint(teams, place) is None:
        return False
    return all(hint.line != place.line for hint in hints_at(hints.regions, place))
