"""Explains the thread numbers of each output, in a line or two.

Rows of a table are for one loop or parallel region alone. `run` follows the program's plan. A Slurm
job has one number of threads for all regions.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.measure.planned_sizes import planned_threads
from regionpredict.predict import (
    Estimate,
    Plan,
    Recommendation,
    SaturationDerivation,
    TeamPrediction,
)
from regionpredict.predict.constants import PACKAGE_PRICE
from regionpredict.report.quantities import plural


def row_rule(estimates: Sequence[Estimate], what: str) -> list[str]:
    """Explains the columns `what` of a row. Empty if no row has threads."""
    known = [estimate for estimate in estimates if estimate.threads is not None]
    if not known:
        return []
    within = [estimate.derivation.within for estimate in known
              if isinstance(estimate.derivation, SaturationDerivation)]  # fmt: skip
    if not within:
        return [f"{what}: for this loop alone, by its score"]
    gain = 100 * PACKAGE_PRICE.value * within[0]
    return [f"{what}: for this loop alone; another package must gain {gain:.3g} %"]


def plan_rule(
    teams: Sequence[TeamPrediction], plans: Sequence[Plan], hint: Recommendation | None
) -> list[str]:
    """Explains that the threads of `run` and the clauses differ from the rows. Empty with a
    plan.
    """
    own = {team.facts.id: team.threads for team in teams}
    planned = planned_threads(teams, plans, hint)
    if all(own.get(team) == size for team, size in planned.items()):
        return []
    most = max(planned.values())
    threads = plural(most, "thread")
    return [f"run and --format openmp limit each loop to the program's {threads}"]


def clauses_rule(
    teams: Sequence[TeamPrediction], plans: Sequence[Plan], hint: Recommendation | None
) -> list[str]:
    """Returns the head of a list of clauses, as C comments."""
    planned = planned_threads(teams, plans, hint)
    known = [team.facts.id for team in teams if team.threads is not None]
    alone = [name for name in known if name not in planned]
    if not planned:
        return ["// num_threads: best for each parallel region alone"] if known else []
    lines = ["// num_threads: from the plan, best for the whole program, as in run"]
    if hint is not None:
        lines.append(f"// no loop gets more than the program's {plural(hint.threads, 'thread')}")
    if alone:
        lines.append(
            f"// without a plan for {plural(len(alone), 'parallel region')}: best for it alone"
        )
    return lines


def job_rule(hint: Recommendation) -> list[str]:
    """Explains the number of threads of a job."""
    return [f"one number for the whole program: the {hint.rule}"]
