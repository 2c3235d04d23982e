"""Converts hints to JSON, schema `regionpredict/hints/1` (schemas/hints-1.json)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from regionpredict import __version__
from regionpredict.analysis import Count, RegionFacts
from regionpredict.analysis.patterns import LINE_BYTES
from regionpredict.ir import Diagnostic
from regionpredict.machine import Machine
from regionpredict.predict import (
    NOTHING_RECOMMENDED,
    Advice,
    Plan,
    Prediction,
    Recommended,
    TeamPrediction,
    seconds_alone,
)
from regionpredict.predict.program_advice import ByTeam
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.loop_table import status_name
from regionpredict.report.machine import unconverged_record
from regionpredict.report.recommendation import program_documents
from regionpredict.report.reuse import (
    ByArray,
    access_reuse,
    counted_reuse,
    histogram_document,
)
from regionpredict.report.run_settings import DEFAULT_SETTINGS, RunSettings
from regionpredict.sizes.ranking import rank_sizes
from regionpredict.workers import processes_for, spread

HINTS_SCHEMA = "regionpredict/hints/1"
FACTS_SCHEMA = "regionpredict/facts/1"


def hints_document(
    predictions: Sequence[Prediction], teams: Sequence[TeamPrediction], plans: Sequence[Plan],
    machine: Machine, model: str, notes: Sequence[Diagnostic],
    advice: ByTeam | None = None, request: Mapping[str, Any] | None = None,
    run: RunSettings = DEFAULT_SETTINGS, processes: int = 1,
    recommended: Recommended = NOTHING_RECOMMENDED, *, reuse: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Returns the complete document, for `json.dumps`.

    `program` is the recommendation, and `plan` the plan of the program if there is only one.
    `unbound` is null if the model tries no sizes. `request` are the options, which `compare
    --at-measured-sizes` uses for a new prediction. With `reuse`, reuse distances are counted by up
    to `processes` processes.
    """
    line_bytes = machine.line_bytes if reuse else None
    described = spread(
        partial(_prediction_record, line_bytes=line_bytes),
        predictions,
        processes_for(len(predictions), processes) if reuse else 1,
    )
    team_entries = team_by_region(teams)
    planned = [
        {**fields_of(plan, "main packages threads seconds team_changes best_constant"),
         "teams": [{"id": name, "threads": size} for name, size in plan.sizes.items()]}
        for plan in plans
    ]  # fmt: skip
    return {
        "schema": HINTS_SCHEMA,
        "tool": {"name": "regionpredict", "version": __version__},
        "machine": {
            **fields_of(machine, "name packages cores_per_package sha256"),
            "unsettled": unconverged_record(machine),
        },
        "model": model,
        "run": plain(run),
        "request": request,
        **program_documents(recommended),
        "regions": [
            {
                **region,
                **team_entries.get(prediction.facts.region.id, {}),
                "seconds": seconds_alone(prediction),
            }
            for prediction, region in zip(predictions, described, strict=True)
        ],
        "teams": [team_document(team, (advice or {}).get(team.facts.id, ())) for team in teams],
        "plan": planned[0] if len(planned) == 1 else None,
        "plans": planned,
        "unbound": plain(rank_sizes(predictions).unbound) if model == "saturation" else None,
        "diagnostics": _note_records(notes, "file line column"),
    }


def facts_document(facts: Sequence[RegionFacts], notes: Sequence[Diagnostic]) -> dict[str, Any]:
    """Returns the document of `analyze`: hints without the fields that depend on a machine."""
    return {
        "schema": FACTS_SCHEMA,
        "tool": {"name": "regionpredict", "version": __version__},
        "regions": [
            {
                **_region_record(region_facts, reuse.by_array),
                "status": status_name(region_facts),
                "diagnostics": _note_records((*region_facts.diagnostics, *reuse.notes)),
            }
            for region_facts in facts
            for reuse in [counted_reuse(region_facts, LINE_BYTES)]
        ],
        "diagnostics": _note_records(notes, "file line column"),
    }


def schema(name: str) -> dict[str, Any]:
    """Loads a JSON Schema of the package, such as `hints-1` or `facts-1`."""
    text = Path(__file__).with_name("schemas").joinpath(f"{name}.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _region_record(facts: RegionFacts, reuse: ByArray | None) -> dict[str, Any]:
    """Returns the entry of a region, with its reuse distances if they were counted."""
    region = facts.region
    return {
        "id": region.id,
        **fields_of(region.span, "file line"),
        "loop_line": region.nest.span.line if region.nest is not None else None,
        "function": region.function,
        "directive": "omp " + region.directive,
        "clauses": list(map(str, region.clauses)),
        "iterations": _count_record(facts.iterations, "value"),
        **({"over_threads": True} if region.over_threads else {}),
        **({"by_hand": True} if region.by_hand else {}),
        "working_set": _count_record(facts.working_set, "bytes"),
        "arrays": [
            {
                **fields_of(array, "name dims counted"),
                "accesses": [
                    {
                        "line": own.access.span.line, **fields_of(own.access, "kind text"),
                        **fields_of(own, "reuse pattern"),
                        **({} if reuse is None else {
                            "reuse_distance": access_reuse(reuse[array.name][at])
                        }),
                    }
                    for at, own in enumerate(array.accesses)
                ],
            }
            for array in facts.arrays
        ],
        **({} if reuse is None else {"reuse_histogram": histogram_document(reuse)}),
    }  # fmt: skip


def _prediction_record(prediction: Prediction, line_bytes: int | None) -> dict[str, Any]:
    reuse = None if line_bytes is None else counted_reuse(prediction.facts, line_bytes)
    region = _region_record(prediction.facts, None if reuse is None else reuse.by_array)
    notes = (*prediction.diagnostics, *(() if reuse is None else reuse.notes))
    arrays, gain = region.pop("arrays"), prediction.superlinear
    pairs = zip(prediction.speedup, prediction.band, strict=True)
    return {
        **region,
        "miss_probability": _round(prediction.miss_probability),
        "score": _round(prediction.score),
        **estimate_fields(prediction, [(*point, *band) for point, band in pairs]),
        "superlinear": gain and {**plain(gain), "speedup": round(gain.speedup, 4)},
        "arrays": arrays,
        "diagnostics": _note_records(notes),
    }


def _count_record(count: Count, value: str) -> dict[str, Any]:
    entry = {"expr": None if count.expr is None else str(count.expr), value: count.value}
    if count.holds:
        entry["conditions"] = count.conditions
    return {**entry, "at_most": True} if count.at_most else entry


def _note_records(notes: Sequence[Diagnostic], place: str = "line column") -> list[dict[str, Any]]:
    return [
        {"id": note.id, **fields_of(note.span, place), "message": note.message} for note in notes
    ]


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def team_document(team: TeamPrediction, advice: Sequence[Advice]) -> dict[str, Any]:
    """Returns one entry of `teams`: a parallel region."""
    facts = team.facts
    return {
        "id": facts.id, **fields_of(facts.span, "file line"), "function": facts.function,
        "regions": [member.facts.region.id for member in facts.members],
        "executions": fields_of(facts.executions, "expr value"),
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
    """Returns the common fields of loops and parallel regions. `speedup` has (threads, value, low,
    high).

    `cores` is null if the hint is unknown. `range`, `depends_on`, `by_size` and `cut` say how the
    hint depends on unknown sizes.
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


def team_by_region(teams: Sequence[TeamPrediction]) -> dict[str, dict[str, Any]]:
    """Returns the first parallel region of each loop, and the loop's executions."""
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
            "executions": fields_of(place["runs"], "expr value"),
        }
        for region, place in entries.items()
    }
