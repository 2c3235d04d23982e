"""Source changes for the parallel regions that take the most time, with their gains.

Each change is predicted (`predict/advice.py`). `workload/source_changes.py` decides which changes
are legal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.history.first_touch import Placement
from regionpredict.analysis.history.last_writes import History
from regionpredict.analysis.needless_barriers import needless_barriers
from regionpredict.analysis.teams import ProgramTeams, TeamFacts
from regionpredict.errors import InputError
from regionpredict.isolation import Failure, attempt
from regionpredict.machine import Machine
from regionpredict.predict import (
    Advice,
    AdvisedLoop,
    Prediction,
    TeamPrediction,
    advice_for,
    advised_teams,
    size_target,
)
from regionpredict.time_limit import NO_LIMIT, TimeLimit
from regionpredict.workers import spread
from regionpredict.workload import Workload, changes_of, workload_of

_TEAMS_A_PROCESS = 4  # fewer are faster without another process


class AdvisedRegion(NamedTuple):
    """A region's prediction, and the history of its arrays."""

    prediction: Prediction
    placement: Placement
    history: History


def advice_of(
    teams: Sequence[TeamPrediction], regions: Mapping[str, AdvisedRegion],
    structure: ProgramTeams, machine: Machine, limit: TimeLimit = NO_LIMIT, *,
    processes: int = 1,
) -> tuple[dict[str, tuple[Advice, ...]], int]:  # fmt: skip
    """The recommended changes of each parallel region, the best first, and the number of regions
    that the time `limit` left out.
    """
    chosen = advised_teams(teams)
    advise = partial(
        _advice_or_none, limit, regions=regions, messages=_other_starts(structure), machine=machine
    )
    advice = spread(advise, chosen, min(processes, len(chosen) // _TEAMS_A_PROCESS))
    found = zip(chosen, advice, strict=True)
    made = {team.facts.id: changes for team, changes in found if changes is not None}
    return made, len(chosen) - len(made)


def _advice_or_none(
    limit: TimeLimit, team: TeamPrediction, *, regions: Mapping[str, AdvisedRegion],
    messages: Mapping[str, str], machine: Machine,
) -> tuple[Advice, ...] | None:  # fmt: skip
    """The advice for a parallel region. Empty after an internal error, None after the limit."""
    if limit.reached:
        return None
    made = attempt(partial(_team_advice, regions=regions, messages=messages, machine=machine), team)
    return () if isinstance(made, Failure) else made


def _team_advice(
    team: TeamPrediction, *, regions: Mapping[str, AdvisedRegion], messages: Mapping[str, str],
    machine: Machine,
) -> tuple[Advice, ...]:  # fmt: skip
    if any(member.facts.region.nested_in is not None for member in team.facts.members):
        return ()  # the diagnostic already advises about its single thread
    if all(member.facts.iterations.value == 0 for member in team.facts.members):
        return ()  # nothing to share, so its start-up cost is no reason for a change
    members = []
    for member in team.facts.members:
        known = regions[member.facts.region.id]

        def build(changed: RegionFacts, known: AdvisedRegion = known) -> Workload:
            return workload_of(
                changed, size_target(machine), machine.line_bytes, placement=known.placement,
                history=known.history,
            )  # fmt: skip

        try:
            workload = build(member.facts)
            changes = tuple(changes_of(member.facts, workload, build))
        except InputError:  # beyond 64 bits
            return ()
        members.append(AdvisedLoop(known.prediction, workload, changes))
    before = messages.get(team.facts.id)
    needless = needless_barriers(team.facts)
    return advice_for(team, members, machine, before=before, needless=needless)


def _other_starts(structure: ProgramTeams) -> dict[str, str]:
    """For parallel regions with one loop: other places where its threads could be started."""
    teams = {team.id: team for team in structure.teams}
    messages: dict[str, str] = {}
    for name, team in teams.items():
        enclosing = team.members[0].facts.region.enclosing
        if enclosing and len(team.members) == 1:
            line = enclosing[-1].span.line
            messages[name] = f"start its threads once, in a parallel around the loop at line {line}"
    for program in structure.programs:
        for first, then in program.changes:
            if _side_by_side(teams[first], teams[then]):
                line = teams[first].span.line
                messages[then] = f"share one parallel region with the loop at line {line}"
    return messages


def _side_by_side(first: TeamFacts, second: TeamFacts) -> bool:
    """Whether the second loop follows the first in one function, inside the same loops."""
    left, other = first.members[0].facts.region, second.members[0].facts.region
    around = [[loop.span for loop in region.enclosing] for region in (left, other)]
    return (
        (left.span.file, left.function) == (other.span.file, other.function)
        and around[0] == around[1]
        and first.span.line < second.span.line
    )
