"""By which rule numbers of threads came about, a line or two for each output that has some.

Rows of the table are of a loop or a team by itself; what runs all teams follows the program's plan;
a job has one number for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.measure.planned_sizes import planned_sizes
from regionpredict.predict import (
    Estimate,
    Plan,
    Recommendation,
    SaturationDerivation,
    TeamPrediction,
)
from regionpredict.predict.constants import PACKAGE_PRICE
from regionpredict.report.quantities import plural


def planned_threads(teams: Sequence[TeamPrediction], plans: Sequence[Plan]) -> dict[str, int]:
    """Threads by team, of those that do not run as their rows say."""
    several = [team.facts.id for team in teams if team.threads_per_core > 1]
    return planned_sizes([plan.sizes for plan in plans], several)


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


def plan_rule(teams: Sequence[TeamPrediction], plans: Sequence[Plan]) -> list[str]:
    """Where rows are not what `run` and clauses take, and no plan is shown beside them."""
    own = {team.facts.id: team.threads for team in teams}
    if all(own.get(team) == size for team, size in planned_threads(teams, plans).items()):
        return []
    most = max(plans, key=lambda plan: plan.seconds)
    return [
        f"In run and --format openmp: the program's plan, up to {plural(most.threads, 'thread')} "
        f"on {plural(most.packages, 'package')}"
    ]


def clauses_rule(teams: Sequence[TeamPrediction], plans: Sequence[Plan]) -> list[str]:
    """The head of a list of clauses, as comments of C."""
    planned = planned_threads(teams, plans)
    known = [team.facts.id for team in teams if team.threads is not None]
    alone = [name for name in known if name not in planned]
    if not planned:
        return ["// num_threads: best for each loop or team by itself"] if known else []
    lines = ["// num_threads: of the plan, best for the whole program's time, as run takes it"]
    if alone:
        lines.append(f"// for {plural(len(alone), 'team')} without one, best for it by itself")
    return lines


def job_rule(hint: Recommendation, plans: Sequence[Plan]) -> list[str]:
    """What the threads of a job are, and that clauses which ask for more do not go with it."""
    most = max((plan.threads for plan in plans), default=0)
    lines = [f"one number for the whole program: the {hint.rule}"]
    if most > hint.threads:
        lines.append(f"regionpredict run keeps to it; clauses of --format openmp want {most}")
    return lines
