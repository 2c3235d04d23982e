"""Efficiency factors of runs and their extrapolation: table, JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from regionpredict.errors import one_line
from regionpredict.measure.hints_file import Hints
from regionpredict.report.aligned_table import aligned_blocks, aligned_lines
from regionpredict.report.page_width import page_lines
from regionpredict.report.parallel_regions import region_records
from regionpredict.report.quantities import plural
from regionpredict.trace.extrapolation import FACTORS, Extrapolation
from regionpredict.trace.factors import GIVEN, SERIALISATIONS, RunFactors
from regionpredict.trace.scaling import ScaledRun, Study

FACTORS_SCHEMA = "regionpredict/factors/1"

FACTOR_NAMES = {
    "parallel": "parallel efficiency",
    "load_balance": "  load balance (LB)",
    "communication": "  communication",
    "serialisation": "    serialisation (Ser)",
    "transfer": "    transfer (Trf)",
    "computation_scalability": "computation scalability",
    "instruction_scalability": "  instructions",
    "ipc_scalability": "  IPC",
    "frequency_scalability": "  frequency",
    "global": "global efficiency",
}
DEFINITIONS = {**SERIALISATIONS, GIVEN: "as the table gives it"}
SHORT_NAMES = {
    "load_balance": "load balance",
    "communication": "communication",
    "serialisation": "serialisation",
    "transfer": "transfer",
    "computation_scalability": "computation scalability",
}


def factors_of(run: ScaledRun) -> dict[str, float | None]:
    """All factors of a run by their names in JSON; None where one is not known."""
    f = run.factors
    return {
        "load_balance": f.load_balance,
        "serialisation": f.serialisation,
        "transfer": f.transfer,
        "communication": f.communication,
        "parallel": f.parallel,
        "computation_scalability": run.computation,
        "instruction_scalability": run.instructions,
        "ipc_scalability": run.ipc,
        "frequency_scalability": run.frequency,
        "global": run.global_efficiency,
        "speedup": run.speedup,
    }


def factors_table(study: Study, extrapolation: Extrapolation | None) -> str:
    """The factors, a column a run, in percent; then laws and what they say of more processes."""
    runs = study.runs
    factors = [factors_of(run) for run in runs]
    rows = [("", *(str(run.factors.width) for run in runs))]
    rows += [
        (name, *(_percent(table[key]) for table in factors)) for key, name in FACTOR_NAMES.items()
    ]
    counted = [run.factors.instruction_balance for run in runs]
    if any(value is not None for value in counted):
        rows.append(("balance of instructions", *map(_percent, counted)))
    rows.append(("speedup", *(_fixed(table["speedup"]) for table in factors)))
    rows.append(("run time, s", *(f"{run.factors.runtime_s:.6g}" for run in runs)))
    rows.append(("ideal run time, s", *(_seconds(run.factors.ideal_runtime_s) for run in runs)))
    rows += _other_definitions([run.factors for run in runs])
    rows += _initialized(runs)
    lines = aligned_blocks(rows)
    lines += _phases([run.factors for run in runs])
    lines += _teams([run.factors for run in runs])
    definition = runs[0].factors.definition
    definition_line = f"Ser is '{definition}': {DEFINITIONS[definition]}."
    lines += ["", *page_lines(definition_line, then="")]
    if any(run.factors.initialized is not None for run in runs):
        lines.append("Outside and inside: of what MPI_Init and MPI_Finalize enclose.")
    if study.scaling is not None:
        lines.append(f"{study.scaling} scaling: the work of all grows as P^{study.growth:.2f}.")
    if extrapolation is not None:
        lines += ["", *_extrapolation_lines(extrapolation)]
    return "\n".join(map(one_line, lines)) + "\n"


def _other_definitions(runs: Sequence[RunFactors]) -> list[tuple[str, ...]]:
    rows = []
    for name in SERIALISATIONS:
        if name != runs[0].definition and any(name in run.serialisations for run in runs):
            shares = (_percent(run.serialisations.get(name)) for run in runs)
            rows.append((f"Ser, '{name}'", *shares))
    if any(run.eager for run in runs):
        rows.append(("Ser, any eager limit", *map(_eager_range, runs)))
    return rows


def _initialized(runs: Sequence[ScaledRun]) -> list[tuple[str, ...]]:
    """What the factors are without MPI_Init, MPI_Finalize and the time outside of them."""
    records = [_initialized_record(run) for run in runs]
    if not any(records):
        return []
    names = {
        "outside Init..Finalize": "left_out",
        "inside: parallel": "parallel",
        "  load balance (LB)": "load_balance",
        "  serialisation (Ser)": "serialisation",
        "  transfer (Trf)": "transfer",
        "inside: computation": "computation_scalability",
    }
    return [
        (name, *(_percent(record.get(key)) for record in records)) for name, key in names.items()
    ]


def _initialized_record(run: ScaledRun) -> dict[str, float | None]:
    part = run.factors.initialized
    if part is None:
        return {}
    return {
        "left_out": part.left_out,
        "load_balance": part.load_balance,
        "serialisation": part.serialisation,
        "transfer": part.transfer,
        "parallel": part.parallel,
        "computation_scalability": run.initialized_computation,
    }


def _eager_range(run: RunFactors) -> str:
    if run.serialisation is None:
        return "-"
    serialisations = [run.serialisation, *(point.serialisation for point in run.eager)]
    low, high = _percent(min(serialisations)), _percent(max(serialisations))
    return low if low == high else f"{low} to {high}"


def _phases(runs: Sequence[RunFactors]) -> list[str]:
    return [
        f"{run.name}: {plural(iterations.count, 'iteration')}, whose duration differs by "
        f"{100 * iterations.noise:.1f} % (standard deviation)"
        for run in runs
        if (iterations := run.iterations) is not None
    ]


def _teams(runs: Sequence[RunFactors]) -> list[str]:
    teams = [(run, run.team) for run in runs if run.team is not None]
    if not teams:
        return []
    rows = [("threads", *(f"{run.width} ({team.threads} a rank)" for run, team in teams))]
    rows += [
        (name, *(_percent(getattr(team, key)) for _, team in teams))
        for name, key in (
            ("efficiency of threads outside MPI, %", "efficiency"),
            ("  efficiency beside serial parts, %", "serial"),
            ("  efficiency of scheduling in constructs, %", "scheduling"),
            ("  load balance in constructs, %", "load_balance"),
        )
    ]
    return ["", *aligned_blocks(rows)]


def _extrapolation_lines(extrapolation: Extrapolation) -> list[str]:
    laws = [("factor", "weight", "law", "p processes", "off by")]
    for factor, model in extrapolation.models.items():
        errors = {name: error for name, _, error in model.rivals}
        for place, (weight, law, formula) in enumerate(model.parts):
            error = errors[law]
            laws.append(
                (
                    "" if place else SHORT_NAMES[factor],
                    f"{weight:.0%}",
                    law.removesuffix("-efficiency"),
                    formula,
                    "-" if error is None else f"{100 * error:.2f}",
                )
            )
    lines = aligned_lines(laws)
    lines.append("Off by: percentage points, at runs that were left out; -: none could be.")
    parts = {"load_balance": "LB", "serialisation": "Ser", "transfer": "Trf"}
    if not set(FACTORS) <= set(extrapolation.models):
        parts = {"load_balance": "LB", "communication": "comm"}
    keys = (*parts, "parallel", "computation_scalability", "global")
    heads = (*parts.values(), "parallel", "comp", "global")
    rows: list[tuple[str, ...]] = [("", *heads, "band", "worst")]
    head_of = dict(zip(keys, heads, strict=True))
    rows += [
        (
            str(point.width),
            *(_percent(point.values.get(key)) for key in keys),
            f"{_percent(point.low['global'], 1)} to {_percent(point.high['global'], 1)}",
            head_of[point.dominating],
        )
        for point in extrapolation.points
    ]
    if extrapolation.points:
        lines += ["", *aligned_lines(rows)]
        lines.append("Worst: what loses most. The band is global's; --format json has the others.")
    lines += [
        f"from {width} processes on, {SHORT_NAMES[after]} loses most, not {SHORT_NAMES[before]}."
        for width, before, after in extrapolation.changes
    ]
    return lines


def factors_json(
    study: Study, extrapolation: Extrapolation | None, hints: Hints | None = None
) -> str:
    """The same as JSON, schema `regionpredict/factors/1`; factors from 0 to 1, times in seconds."""
    data: dict[str, Any] = {
        "schema": FACTORS_SCHEMA,
        "serialisation": study.runs[0].factors.definition,
        "scaling": study.scaling,
        "work_exponent": study.growth,
        "runs": [_run_record(run, hints) for run in study.runs],
        "models": {},
        "extrapolation": [],
        "dominating_changes": [],
        "notes": list(study.notes),
    }
    if extrapolation is not None:
        data["models"] = {
            factor: {
                "law": model.law,
                "weights": dict(model.weights),
                "text": model.text,
                "parameters": dict(model.model.law_parameters),
                "held_out_error": model.error,
                "held_out_errors": {name: error for name, _, error in model.rivals},
            }
            for factor, model in extrapolation.models.items()
        }
        data["extrapolation"] = [
            {
                "ranks": point.width,
                **point.values,
                "low": dict(point.low),
                "high": dict(point.high),
                "dominating": point.dominating,
            }
            for point in extrapolation.points
        ]
        data["dominating_changes"] = [
            {"ranks": width, "from": before, "to": after}
            for width, before, after in extrapolation.changes
        ]
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def _run_record(run: ScaledRun, hints: Hints | None) -> dict[str, Any]:
    f = run.factors
    team = None
    if f.team is not None:
        team = {
            "threads": f.team.threads,
            "constructs": f.team.constructs,
            "serial": f.team.serial,
            "scheduling": f.team.scheduling,
            "load_balance": f.team.load_balance,
            "serial_s": f.team.serial_s,
        }
    return {
        "name": f.name,
        "ranks": f.width,
        "processes": f.ranks,
        "runtime_s": f.runtime_s,
        "ideal_runtime_s": f.ideal_runtime_s,
        "useful_s": f.useful_s,
        "useful_maximum_s": f.useful_maximum_s,
        "ideal_useful_maximum_s": f.own_maximum_s,
        **factors_of(run),
        "instructions": f.instructions,
        "cycles": f.cycles,
        "ipc": f.ipc,
        "frequency_hz": f.frequency_hz,
        "instruction_balance": f.instruction_balance,
        "serialisations": dict(f.serialisations),
        "eager_limits": [
            {
                "bytes": point.limit if point.limit < float(2**62) else None,
                "ideal_runtime_s": point.ideal_runtime_s,
                "serialisation": point.serialisation,
            }
            for point in f.eager
        ],
        "team": team,
        "parallel_regions": region_records(f, hints),
        "not_analyzed": dict(f.not_analysed),
        "initialized": _initialized_record(run) or None,
        "iterations": None
        if f.iterations is None
        else {
            "count": f.iterations.count,
            "calls": f.iterations.period,
            "noise": f.iterations.noise,
            "seconds": f.iterations.duration_s.tolist(),
        },
    }


def _percent(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{100 * value:.{digits}f}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def _fixed(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
