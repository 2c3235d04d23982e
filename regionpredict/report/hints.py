"""Hints as JSON, schema `regionpredict/hints/1` (schemas/hints-1.json)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from regionpredict import __version__
from regionpredict.analysis import AccessFact, Count, RegionFacts
from regionpredict.analysis.patterns import LINE_BYTES
from regionpredict.ir import Diagnostic
from regionpredict.machine import Machine
from regionpredict.predict import (
    NOTHING_RECOMMENDED,
    Plan,
    Prediction,
    Recommended,
    Superlinear,
    TeamPrediction,
    seconds_alone,
)
from regionpredict.report.advice import ByTeam
from regionpredict.report.doubts import doubts_document
from regionpredict.report.recommendation import program_documents
from regionpredict.report.reuse import (
    ByArray,
    access_reuse,
    counted_reuse,
    histogram_document,
)
from regionpredict.report.run_settings import AS_USUAL, RunSettings, settings_document
from regionpredict.report.team_hints import (
    open_document,
    plan_document,
    seats_document,
    team_by_region,
    team_document,
)
from regionpredict.report.unconverged import unconverged_record
from regionpredict.sizes.ranking import rank_sizes
from regionpredict.workers import processes_for, spread

HINTS_SCHEMA = "regionpredict/hints/1"
FACTS_SCHEMA = "regionpredict/facts/1"
_ENCODE = json.JSONEncoder().encode


def hints_document(
    predictions: Sequence[Prediction], teams: Sequence[TeamPrediction], plans: Sequence[Plan],
    machine: Machine, model: str, notes: Sequence[Diagnostic],
    advice: ByTeam | None = None, request: Mapping[str, Any] | None = None,
    run: RunSettings = AS_USUAL, processes: int = 1,
    recommended: Recommended = NOTHING_RECOMMENDED, *, reuse: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The complete document, for `json.dumps`. `program` is the recommendation, and `plan` belongs
    to the only program.

    `unbound` is null if the model tries no sizes. `request` are the options, which `compare
    --at-measured-sizes` uses for a new prediction. With `reuse`, reuse distances are counted by up
    to `processes` processes.
    """
    line_bytes = machine.line_bytes if reuse else None
    described = spread(
        partial(_predicted, line_bytes=line_bytes),
        predictions,
        processes_for(len(predictions), processes) if reuse else 1,
    )
    team_entries = team_by_region(teams)
    planned = [plan_document(plan) for plan in plans]
    return {
        "schema": HINTS_SCHEMA,
        "tool": {"name": "regionpredict", "version": __version__},
        "machine": {
            "name": machine.name,
            "packages": machine.packages,
            "cores_per_package": machine.cores_per_package,
            "sha256": machine.sha256,
            "unsettled": unconverged_record(machine),
        },
        "model": model,
        "run": settings_document(run),
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
        "unbound": [size._asdict() for size in rank_sizes(predictions).unbound]
        if model == "saturation"
        else None,
        "diagnostics": [_note(note, with_file=True) for note in notes],
    }


def facts_document(facts: Sequence[RegionFacts], notes: Sequence[Diagnostic]) -> dict[str, Any]:
    """The same `regions` without the fields that depend on a machine."""
    return {
        "schema": FACTS_SCHEMA,
        "tool": {"name": "regionpredict", "version": __version__},
        "regions": [
            {
                **_region(region_facts, reuse.by_array),
                "status": _status(region_facts),
                "diagnostics": _notes((*region_facts.diagnostics, *reuse.notes)),
            }
            for region_facts in facts
            for reuse in [counted_reuse(region_facts, LINE_BYTES)]
        ],
        "diagnostics": [_note(note, with_file=True) for note in notes],
    }


def as_json(document: dict[str, Any]) -> str:
    """The document as text with a final newline. Objects and lists without nested values are on one
    line.
    """
    return _json(document, "\n") + "\n"


def _json(value: Any, line: str) -> str:
    """Faster than `json.dumps` with an indent, which writes each value separately."""
    inner = value.values() if isinstance(value, dict) else value
    if not isinstance(value, (dict, list)) or not any(isinstance(v, (dict, list)) for v in inner):
        return _ENCODE(value)
    deeper = line + " "
    if isinstance(value, dict):
        items = [f"{_ENCODE(key)}: {_json(item, deeper)}" for key, item in value.items()]
        return "{" + deeper + f",{deeper}".join(items) + line + "}"
    return "[" + deeper + f",{deeper}".join([_json(item, deeper) for item in value]) + line + "]"


def schema(name: str) -> dict[str, Any]:
    """A JSON Schema of the package, such as `hints-1` or `facts-1`."""
    text = Path(__file__).with_name("schemas").joinpath(f"{name}.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _status(facts: RegionFacts) -> str:
    return {"complete": "predicted"}.get(facts.status, facts.status)


def _region(facts: RegionFacts, reuse: ByArray | None) -> dict[str, Any]:
    """A region, with the reuse distances of its references if they were counted."""
    region = facts.region
    return {
        "id": region.id,
        "file": region.span.file,
        "line": region.span.line,
        "loop_line": region.nest.span.line if region.nest is not None else None,
        "function": region.function,
        "directive": "omp " + region.directive,
        "clauses": [
            clause.name if clause.text is None else f"{clause.name}({clause.text})"
            for clause in region.clauses
        ],
        "iterations": _count(facts.iterations, "value"),
        **({"over_threads": True} if region.over_threads else {}),
        **({"by_hand": True} if region.by_hand else {}),
        "working_set": _count(facts.working_set, "bytes"),
        "arrays": [
            {
                "name": array.name,
                "dims": array.dims,
                "counted": array.counted,
                "accesses": [_access(access) for access in array.accesses]
                if reuse is None
                else [
                    {**_access(access), "reuse_distance": access_reuse(far)}
                    for access, far in zip(array.accesses, reuse[array.name], strict=True)
                ],
            }
            for array in facts.arrays
        ],
        **({} if reuse is None else {"reuse_histogram": histogram_document(reuse)}),
    }


def _predicted(prediction: Prediction, line_bytes: int | None) -> dict[str, Any]:
    reuse = None if line_bytes is None else counted_reuse(prediction.facts, line_bytes)
    region = _region(prediction.facts, None if reuse is None else reuse.by_array)
    notes = (*prediction.diagnostics, *(() if reuse is None else reuse.notes))
    arrays = region.pop("arrays")
    return {
        **region,
        "status": prediction.status,
        "miss_probability": _rounded(prediction.miss_probability),
        "score": _rounded(prediction.score),
        "speedup": [
            {
                "threads": threads,
                "value": round(value, 4),
                "low": round(low, 4),
                "high": round(high, 4),
            }
            for (threads, value), (low, high) in zip(
                prediction.speedup, prediction.band, strict=True
            )
        ],
        "superlinear": _superlinear(prediction.superlinear),
        "packages": prediction.packages,
        "threads": prediction.threads,
        **seats_document(prediction),
        "bottleneck": prediction.bottleneck,
        "confidence": prediction.confidence,
        "doubts": doubts_document(prediction),
        "borderline": prediction.borderline,
        "sizes_from": prediction.sizes_from,
        **open_document(prediction),
        "assumed": list(prediction.assumed),
        "arrays": arrays,
        "diagnostics": _notes(notes),
    }


def _superlinear(gain: Superlinear | None) -> dict[str, Any] | None:
    return None if gain is None else {**gain._asdict(), "speedup": round(gain.speedup, 4)}


def _count(count: Count, value: str) -> dict[str, Any]:
    entry = {"expr": None if count.expr is None else str(count.expr), value: count.value}
    if count.holds:
        entry["conditions"] = count.conditions
    return {**entry, "at_most": True} if count.at_most else entry


def _access(fact: AccessFact) -> dict[str, Any]:
    return {
        "line": fact.access.span.line,
        "kind": fact.access.kind,
        "reuse": fact.reuse,
        "pattern": fact.pattern,
        "text": fact.access.text,
    }


def _notes(notes: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    return [_note(note, with_file=False) for note in notes]


def _note(note: Diagnostic, *, with_file: bool) -> dict[str, Any]:
    place: dict[str, Any] = {"file": note.span.file} if with_file else {}
    return {
        "id": note.id,
        **place,
        "line": note.span.line,
        "column": note.span.column,
        "message": note.message,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
