"""By which rule numbers of threads came about, a line or two for each output that has some.

Rows of the table are of a loop or a team by itself; what runs all teams follows the program's plan;
a job has one number for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.measure.planned_sizes import at_most, planned_sizes
from regionpredict.predict import (
    Estimate,
    Plan,
    Recommendation,
    SaturationDerivation,
    TeamPrediction,
)
from regionpredict.predict.constants import PACKAGE_PRICE
from regionpredict.report.quantities import plural


def planned_threads(
    teams: Sequence[TeamPrediction], plans: Sequence[Plan], hint: Recommendation | None
) -> dict[str, int]:
    """Threads by team, of those that do not run as their rows say: by the plans, and no more than
    the program's `hint`."""
    several = [team.facts.id for team in teams if team.threads_per_core > 1]
    most = None if hint is None else hint.threads
    planned = planned_sizes([plan.sizes for plan in plans], several, most)
    limited = {
        team.facts.id: at_most(team.threads, most) for team in teams
        if team.threads is not None and at_most(team.threads, most) < team.threads
    }  # fmt: skip
    return limited | planned


def row_rule(estimates: Sequence[Estimate], what: str = "") -> list[str]:
    """What packages and threads of a row are (`what`, if not columns), if any has them."""
    known = [estimate for estimate in estimates if estimate.threads is not None]
    if not known:
        return []
    within = [estimate.derivation.within for estimate in known
              if isinstance(estimate.derivation, SaturationDerivation)]  # fmt: skip
    if not within:
        return [f"{what or 'pkgs'}: of each loop by itself, by its score"]
    gain = 100 * PACKAGE_PRICE.value * within[0]
    return [
        f"{what or 'pk, thr'}: of each loop or team by itself; one package more must gain "
        f"{gain:.3g} %"
    ]


def plan_rule(
    teams: Sequence[TeamPrediction], plans: Sequence[Plan], hint: Recommendation | None
) -> list[str]:
    """Where rows are not what `run` and clauses take, and no plan is shown beside them."""
    own = {team.facts.id: team.threads for team in teams}
    planned = planned_threads(teams, plans, hint)
    if all(own.get(team) == size for team, size in planned.items()):
        return []
    most = max(planned.values())
    threads = plural(most, "thread")
    return [f"run and --format openmp give each loop at most {threads}, the program's number"]


def clauses_rule(
    teams: Sequence[TeamPrediction], plans: Sequence[Plan], hint: Recommendation | None
) -> list[str]:
    """The head of a list of clauses, as comments of C."""
    planned = planned_threads(teams, plans, hint)
    known = [team.facts.id for team in teams if team.threads is not None]
    alone = [name for name in known if name not in planned]
    if not planned:
        return ["// num_threads: best for each loop or team by itself"] if known else []
    lines = ["// num_threads: of the plan, best for the whole program's time, as run takes it"]
    if hint is not None:
        lines.append(f"// no loop has more than the program's {plural(hint.threads, 'thread')}")
    if alone:
        lines.append(f"// for {plural(len(alone), 'team')} without one, best for it by itself")
    return lines


def job_rule(hint: Recommendation) -> list[str]:
    """What the threads of a job are."""
    return [f"one number for the whole program: the {hint.rule}"]
