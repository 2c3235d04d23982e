"""Parallel regions in the JSON of hints, and the parallel region of each loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regionpredict.predict import Advice, Estimate, Plan, TeamEstimate, TeamPrediction
from regionpredict.report.doubts import doubts_document


def team_document(team: TeamPrediction, advice: Sequence[Advice]) -> dict[str, Any]:
    """One entry of `teams`."""
    facts = team.facts
    return {
        "id": facts.id,
        "file": facts.span.file,
        "line": facts.span.line,
        "function": facts.function,
        "regions": [member.facts.region.id for member in facts.members],
        "executions": _executions(facts.executions.expr, facts.executions.value),
        "seconds": team.seconds,
        "status": team.status,
        "speedup": [
            {
                "threads": point.threads,
                "value": round(point.value, 4),
                "low": round(point.low, 4),
                "high": round(point.high, 4),
            }
            for point in team.speedup
        ],
        "packages": team.packages,
        "threads": team.threads,
        **seats_document(team),
        "bottleneck": team.bottleneck,
        "confidence": team.confidence,
        "doubts": doubts_document(team),
        "borderline": team.borderline,
        "sizes_from": team.sizes_from,
        **open_document(team),
        "advice": [
            {
                "id": change.id,
                "file": change.span.file,
                "line": change.span.line,
                "message": change.message,
                "gain": change.gain,
            }
            for change in advice
        ],
        "assumed": list(team.assumed),
        **({"size_set_before": facts.size_set_before} if facts.size_set_before else {}),
    }


def seats_document(estimate: Estimate | TeamEstimate) -> dict[str, Any]:
    """`cores`, and the threads on each of them. Null if the hint is unknown."""
    if estimate.threads is None:
        return {"cores": None, "threads_per_core": None}
    each = estimate.threads_per_core
    return {"cores": -(-estimate.threads // each), "threads_per_core": each}


def plan_document(plan: Plan) -> dict[str, Any]:
    """One entry of `plans`."""
    return {
        "main": plan.main,
        "packages": plan.packages,
        "threads": plan.threads,
        "seconds": plan.seconds,
        "team_changes": plan.team_changes,
        "best_constant": plan.best_constant._asdict(),
        "teams": [{"id": name, "threads": size} for name, size in plan.sizes.items()],
    }


def open_document(estimate: Estimate | TeamEstimate) -> dict[str, Any]:
    """How a hint depends on unknown sizes: `range`, `depends_on`, `by_size`, and what a budget
    `cut`.
    """
    return {
        "range": None if estimate.range is None else estimate.range._asdict(),
        "depends_on": list(estimate.deciding),
        "by_size": [part._asdict() for part in estimate.by_size],
        "cut": list(estimate.cut),
    }


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
