"""Parallel regions in the JSON of hints, and the parallel region of each loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from regionpredict.predict import Advice, Plan, Prediction, TeamPrediction
from regionpredict.report.json_text import fields_of


def team_document(team: TeamPrediction, advice: Sequence[Advice]) -> dict[str, Any]:
    """One entry of `teams`."""
    facts = team.facts
    return {
        "id": facts.id, **fields_of(facts.span, "file line"), "function": facts.function,
        "regions": [member.facts.region.id for member in facts.members],
        "executions": _executions(facts.executions.expr, facts.executions.value),
        "seconds": team.seconds,
        **estimate_fields(team, team.speedup),
        "advice": [
            {"id": change.id, **fields_of(change.span, "file line"),
             **fields_of(change, "message gain")}
            for change in advice
        ],
        **({"size_set_before": facts.size_set_before} if facts.size_set_before else {}),
    }  # fmt: skip


def estimate_fields(
    estimate: Prediction | TeamPrediction, speedup: Iterable[tuple[float, ...]]
) -> dict[str, Any]:
    """The common fields of loops and parallel regions. `speedup` has (threads, value, low, high).

    `cores` is null if the hint is unknown. `range`, `depends_on`, `by_size` and `cut` say how it
    depends on unknown sizes.
    """
    names = ("threads", "value", "low", "high")
    seats: dict[str, int | None] = {"cores": None, "threads_per_core": None}
    if estimate.threads is not None:
        each = estimate.threads_per_core
        seats = {"cores": -(-estimate.threads // each), "threads_per_core": each}
    return {
        **fields_of(estimate, "status packages threads"), **seats,
        "speedup": [
            dict(zip(names, (point[0], *(round(value, 4) for value in point[1:])), strict=True))
            for point in speedup
        ],
        **fields_of(estimate, "bottleneck confidence borderline sizes_from range by_size cut",
                    depends_on="deciding"),
        "assumed": list(estimate.assumed),
        "doubts": [
            {**fields_of(own, "id reason"), "factor": round(own.factor, 4)}
            for own in estimate.doubts
        ],
    }  # fmt: skip


def plan_document(plan: Plan) -> dict[str, Any]:
    """One entry of `plans`."""
    teams = [{"id": name, "threads": size} for name, size in plan.sizes.items()]
    names = "main packages threads seconds team_changes best_constant"
    return {**fields_of(plan, names), "teams": teams}


def team_by_region(teams: Sequence[TeamPrediction]) -> dict[str, dict[str, Any]]:
    """The parallel region of each loop (the first of several), and the loop's executions in the
    program.
    """
    entries: dict[str, dict[str, Any]] = {}
    for team in teams:
        for member in team.facts.members:
            region = member.facts.region.id
            runs = team.facts.executions.times(member.runs)
            if region in entries:
                entries[region]["runs"] = entries[region]["runs"].plus(runs)
            else:
                entries[region] = {"team": team.facts.id, "runs": runs}
    return {
        region: {
            "team": place["team"],
            "executions": _executions(place["runs"].expr, place["runs"].value),
        }
        for region, place in entries.items()
    }


def _executions(expr: object, value: int | None) -> dict[str, Any]:
    return {"expr": None if expr is None else str(expr), "value": value}
