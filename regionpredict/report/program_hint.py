"""One number of threads for a whole program, from its teams' hints.

A program has one allocation for all its teams. Each team weighs what one thread would spend in
all its executions; the program's time on n threads is the sum of the weights over the speedups
(Chatzopoulos 2012, ch. 3, shows two regions of one program that want different numbers). Taken
are the fewest threads within the tolerance of the best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regionpredict.machine import Machine, thread_places
from regionpredict.predict import TeamPrediction

TOLERANCE = 0.1


@dataclass(frozen=True, slots=True)
class ProgramHint:
    """What to ask for: threads fill one package after the other, as the curves assume, so that
    the fullest package has `cores_per_package` of them. `weighted_by` says how teams were weighed,
    `regions` are the loops of those that have a hint, `left_out` names the teams that have none.
    `open` are teams whose hint a size without a value decides: they have room for their most.
    Cores have `threads_per_core` threads, several only where all teams ask for them.
    """

    threads: int
    packages: int
    cores_per_package: int
    weighted_by: str
    regions: int
    left_out: tuple[str, ...]
    open: tuple[TeamPrediction, ...] = ()
    threads_per_core: int = 1


def program_hint(
    teams: Sequence[TeamPrediction], machine: Machine,
    seconds: Mapping[str, float] | None = None, tolerance: float = TOLERANCE,
) -> ProgramHint | None:  # fmt: skip
    """The hint for the program; None where no team has one.

    `seconds` holds measured times on one thread by region id. Without them a team weighs the
    predicted time of all its executions where every team has one, else all weigh the same.
    """
    usable = [team for team in teams if team.threads and team.status != "skipped"]
    unknown = tuple(team for team in teams if team.range is not None)
    left_out = tuple(team.facts.id for team in teams if team not in usable and team not in unknown)
    if not usable and not unknown:
        return None
    threads, weighted_by = _threads(usable, machine, seconds, tolerance)
    threads = max(threads, *(team.range.threads[1] for team in unknown if team.range), 1)
    regions = len({name for team in (*usable, *unknown) for name in regions_of(team)})
    each = min((team.threads_per_core for team in usable), default=1) if not unknown else 1
    if each > 1:
        threads = max(team.threads or 1 for team in usable)
        packages = threads // each // machine.cores_per_package
        fullest = machine.cores_per_package
    else:
        placement = thread_places(machine, min(threads, machine.cores))
        packages, fullest = placement.packages, placement.together
    return ProgramHint(
        threads, packages, fullest, weighted_by, regions, left_out, unknown, each
    )  # fmt: skip


def _threads(
    usable: Sequence[TeamPrediction], machine: Machine, seconds: Mapping[str, float] | None,
    tolerance: float,
) -> tuple[int, str]:  # fmt: skip
    """The fewest threads within the tolerance of the best, and how the teams were weighed."""
    if not usable:
        return 1, "equally"
    weights, weighted_by = _weights(usable, seconds)
    counts = _counts(usable, machine)
    time = {
        n: sum(
            w / _speedup(prediction, n, machine)
            for w, prediction in zip(weights, usable, strict=True)
        )
        for n in counts
    }
    best = min(time.values())
    return min(n for n, spent in time.items() if spent <= (1 + tolerance) * best), weighted_by


def regions_of(team: TeamPrediction) -> list[str]:
    """The ids of a team's loops."""
    return [member.facts.region.id for member in team.facts.members]


def _weights(
    usable: Sequence[TeamPrediction], seconds: Mapping[str, float] | None
) -> tuple[list[float], str]:
    if seconds is not None:
        weights = [sum(seconds.get(name, 0.0) for name in regions_of(team)) for team in usable]
        if sum(weights) > 0:
            return weights, "measured time"
    predicted = [
        team.facts.executions.weight * team.seconds for team in usable if team.seconds is not None
    ]
    if len(predicted) == len(usable) and sum(predicted) > 0:
        return predicted, "predicted time"
    return [1.0] * len(usable), "equally"


def _counts(usable: Sequence[TeamPrediction], machine: Machine) -> list[int]:
    counts = {point.threads for team in usable for point in team.speedup}
    if not counts:
        counts = {k * machine.cores_per_package for k in range(1, machine.packages + 1)}
    return sorted(counts | {min(team.threads or 1 for team in usable)})


def _speedup(team: TeamPrediction, threads: int, machine: Machine) -> float:
    """Of a model without a curve: full speed up to the hinted threads, none more behind."""
    if team.speedup:
        below = [point for point in team.speedup if point.threads <= threads]
        return max(below).value if below else 1.0
    return float(min(threads, team.threads or machine.cores))
