"""On every sample: its plan takes no longer than any constant number of threads up to that of the
program, and gives no region more.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis.teams import ProgramOrder, program_teams
from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.pipeline import analyse, predict
from regionpredict.predict import PlannedTeam
from regionpredict.whole_programs import planned_teams

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def total(
    teams: tuple[PlannedTeam, ...], order: ProgramOrder, sizes: dict[str, int], machine: Machine
) -> float:
    """Seconds of the teams on these sizes and of the changes between them, by definition."""
    known = [team for team in teams if team.seconds]
    own = sum(team.executions * team.seconds[sizes[team.id]] for team in known)
    if known:  # the first one makes its threads
        cycles = machine.overheads.first_team.at(sizes[known[0].id])
        own += float(cycles) / machine.clock_hz
    for (first, then), often in order.changes.items():
        if first in sizes and then in sizes and sizes[first] != sizes[then]:
            cycles = machine.overheads.team_change.at(max(sizes[first], sizes[then]))
            own += often * float(cycles) / machine.clock_hz
    return own


@pytest.mark.parametrize("folder", ["polybench_samples", "npb_samples"])
def test_no_constant_is_better_than_the_plan(folder: str) -> None:
    machine = load("ivybridge-e5-2660v2")
    result = predict(analyse(requests_for([str(ROOT / folder)]), {}, flows=True), machine,
                     "saturation")  # fmt: skip
    found = program_teams(result.analysis.program, result.analysis.facts, {})
    plans = {plan.main: plan for plan in result.plans}
    mains = [path for path in (ROOT / folder).rglob("*.c") if "int main(" in path.read_text()]
    assert {plan for plan in plans if plan} <= {str(path) for path in mains}
    assert len(plans) >= 4 and len(plans) == len(found.programs)
    most = {own.main: own.threads for own in result.recommended.each if own.threads_per_core == 1}
    for order in found.programs:
        plan, teams = plans[order.main], planned_teams(result.teams, order)
        known = [team for team in teams if team.seconds]
        seconds = {
            count: total(
                teams, order,
                {team.id: max(size for size in team.seconds if size <= count) for team in known},
                machine,
            )
            for count in range(1, most.get(order.main, machine.cores) + 1)
        }  # fmt: skip
        assert max(plan.sizes.values()) <= most.get(order.main, machine.cores)
        assert plan.seconds == pytest.approx(total(teams, order, dict(plan.sizes), machine))
        assert plan.seconds <= min(seconds.values()) * (1 + 1e-9), order.main
        assert plan.best_constant.seconds == pytest.approx(min(seconds.values()))
