"""The first lines of a run on several files or many loops: how it scales, and what stops it.

Plan: 40 threads on 2 packages, 0.081 s, 0 changes of team size (best constant: 40 threads, 0.081 s)
Of the time on one thread scale: 94 % to 2 packages, 6 % to 1 package
At the first package stop 2 teams: memory-bandwidth (2)
    4 %  src/solve.c:40  solve, memory-bandwidth
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence

from regionpredict.predict import Plan, TeamPrediction
from regionpredict.report.names import common_folder
from regionpredict.report.quantities import plural

_NAMED = 5  # teams, programs
_MANY = 20  # regions: more than are read at a glance
_SHOWN = 0.005  # of the time: what is less is 0 %


def program_summary(teams: Sequence[TeamPrediction], plans: Sequence[Plan]) -> list[str]:
    """The lines; none for one file of few regions, or where no team has a time."""
    timed = [(team, team.facts.executions.weight * team.seconds) for team in teams
             if team.seconds is not None and team.packages is not None]  # fmt: skip
    whole = sum(seconds for _, seconds in timed)
    files = {team.facts.span.file for team in teams}
    if not plans or not whole or (len(files) < 2 and _regions(teams) <= _MANY):
        return []
    lines = _planned(plans)
    shares: dict[int, float] = {}
    for team, seconds in timed:
        packages = team.packages or 1
        shares[packages] = shares.get(packages, 0.0) + seconds / whole
    parts = [f"{_percent(share)} to {plural(packages, 'package')}"
             for packages, share in sorted(shares.items(), reverse=True)]  # fmt: skip
    lines.append(f"Of the time on one thread scale: {', '.join(parts)}")
    stopped = sorted(((team, seconds) for team, seconds in timed if team.packages == 1),
                     key=lambda one: -one[1])  # fmt: skip
    if stopped and max(shares) > 1:
        causes = Counter(team.bottleneck for team, _ in stopped)
        told = ", ".join(f"{cause} ({number})" for cause, number in causes.most_common())
        lines.append(f"At the first package stop {plural(len(stopped), 'team')}: {told}")
        lines += [
            f"  {100 * seconds / whole:3.0f} %  {team.facts.id}  {team.facts.function}, "
            f"{team.bottleneck}"
            for team, seconds in stopped[:_NAMED]
            if seconds >= _SHOWN * whole
        ]
    unknown = [team for team, _ in timed if team.facts.executions.value is None]
    if unknown:
        number = plural(len(unknown), "team")
        lines.append(f"Assumed for {number}: loops around it of unknown length turn 10 times")
    return [part for line in lines for part in _wrapped(line)]


def _regions(teams: Sequence[TeamPrediction]) -> int:
    return len({one.facts.region.id for team in teams for one in team.facts.members})


def _planned(plans: Sequence[Plan]) -> list[str]:
    if len(plans) == 1:
        (plan,) = plans
        best = plan.best_constant
        return [
            f"Plan: {_sizes(plan)}, {plural(plan.team_changes, 'change')} of team size "
            f"(best constant: {plural(best.threads, 'thread')}, {_time(best.seconds)})"
        ]
    folder = common_folder([plan.main for plan in plans if plan.main])
    lines = [f"{len(plans)} programs, each with its plan; the longest:"]
    for plan in plans[:_NAMED]:
        name = plan.main.removeprefix(folder) or "what no main calls"
        best = plan.best_constant
        lines.append(
            f"  {name}: {_sizes(plan)} (best constant: {best.threads}, {_time(best.seconds)})"
        )
    if len(plans) > _NAMED:
        lines.append(f"  and {len(plans) - _NAMED} more: see --format json")
    return lines


def _sizes(plan: Plan) -> str:
    return (
        f"{plural(plan.threads, 'thread')} on {plural(plan.packages, 'package')}, "
        f"{_time(plan.seconds)}"
    )


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, 80, subsequent_indent="    ", break_on_hyphens=False)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= _SHOWN else "under 1 %"


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s"
