"""Documents efficiency factors of runs and their extrapolation, also as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from regionpredict.measure.hints_file import Hints
from regionpredict.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Drawing,
    Folded,
    Items,
    Quantity,
    Section,
    Table,
    Text,
    transposed,
)
from regionpredict.report.html.blocks import curve, line, marks
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.quantities import plural, show_points, show_seconds, show_share
from regionpredict.trace.extrapolation import FACTORS, Extrapolation, measured, parts_of
from regionpredict.trace.factors import GIVEN, SERIALISATIONS, RunFactors
from regionpredict.trace.predicted_regions import predicted_balance, predicted_efficiency
from regionpredict.trace.scaling import ScaledRun, Study

FACTORS_SCHEMA = "regionpredict/factors/1"
_SAMPLES = 40  # points of each curve
_PARALLEL = "parallel efficiency, the product"
_FACTOR_NAMES = {
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
_DEFINITIONS = {**SERIALISATIONS, GIVEN: "as the table gives it"}
_INITIALIZED = {
    "left_out": "outside Init..Finalize",
    "parallel": "inside: parallel",
    "load_balance": "  load balance (LB)",
    "serialisation": "  serialisation (Ser)",
    "transfer": "  transfer (Trf)",
    "computation_scalability": "inside: computation",
}
_TEAM_FACTORS = {
    "efficiency": "efficiency of threads outside MPI, %",
    "serial": "  efficiency except serial parts, %",
    "scheduling": "  efficiency of scheduling in constructs, %",
    "load_balance": "  load balance in constructs, %",
}
_MUCH_OUTSIDE = 0.05
"""The share of the run time outside MPI_Init and MPI_Finalize from which a note reports it."""
_SHORT_NAMES = {
    "load_balance": "load balance",
    "communication": "communication",
    "serialisation": "serialisation",
    "transfer": "transfer",
    "computation_scalability": "computation scalability",
}


def _factors_of(run: ScaledRun) -> dict[str, float | None]:
    """Returns all factors of a run by their names in JSON. None if a factor is unknown."""
    own = fields_of(run.factors, "load_balance serialisation transfer communication parallel")
    return own | fields_of(
        run, "", computation_scalability="computation", instruction_scalability="instructions",
        ipc_scalability="ipc", frequency_scalability="frequency", **{"global": "global_efficiency"},
        speedup="speedup",
    )  # fmt: skip


def factors_document(
    study: Study, extrapolation: Extrapolation | None, hints: Hints | None = None
) -> Document:
    """Returns the factors with one column per run, followed by the laws and their extrapolation.
    Curves need an `extrapolation`. `hints` are compared with measured parallel regions.
    """
    runs = [run.factors for run in study.runs]
    regions = region_tables(runs, hints)
    if hints is not None and not regions:
        regions = [Text("no run has parallel regions of OpenMP")]
    sections = [
        Section("Curves", lambda: [factors_curve(study, extrapolation)] if extrapolation else [],
                "page"),
        Section("Factors", [_factor_table(study), _team_tables(runs)]),
        Section("Iterations", _iteration_lines(runs)),
        Section("On more processes",
                _extrapolation_blocks(extrapolation) if extrapolation is not None else []),
        Section("Parallel regions", regions, "page" if hints is None else ""),
        Section("Notes", [Items(study.notes)], "page"),
    ]  # fmt: skip
    lead = [*_verdict_text(study),
            "Processes: " + ", ".join(f"{run.width} ({run.name})" for run in runs)]  # fmt: skip
    title = f"Efficiency of {runs[0].name}"
    if len(runs) > 1:
        title = f"Efficiency of {len(runs)} runs: {runs[0].name} to {runs[-1].name}"
    return Document(title, lead, sections, lambda: _json_record(study, extrapolation, hints))


def _verdict_text(study: Study) -> list[str]:
    """Describes the parallel efficiency of the largest run, and the factor that loses most.

    If much of the run is outside MPI_Init and MPI_Finalize, only the time between them counts.
    """
    last = study.runs[-1].factors
    known = {key: value for key, value in _factors_of(study.runs[-1]).items()
             if key in ("load_balance", *parts_of(study)) and value is not None}  # fmt: skip
    if last.parallel is None or not known:
        return []
    lead = (f"Parallel efficiency on {last.width} process{'es' * (last.width > 1)}: "
            f"{100 * last.parallel:.1f} %")  # fmt: skip
    part = _initialized_record(study.runs[-1])
    outside, between = part.get("left_out"), part.get("parallel")
    inside = {key: value for key in known if (value := part.get(key)) is not None}
    if between is not None and outside is not None and outside >= _MUCH_OUTSIDE and inside:
        return [f"{lead}, or {100 * between:.1f} % between MPI_Init and MPI_Finalize, "
                f"where {_largest_loss(inside)}"]  # fmt: skip
    loss = _largest_loss(known)
    return [f"{lead}. {loss[0].upper()}{loss[1:]}"]


def _largest_loss(factors: Mapping[str, float]) -> str:
    worst = min(factors, key=factors.__getitem__)
    return f"{_SHORT_NAMES[worst]} loses most (efficiency {100 * factors[worst]:.1f} %)."


def _factor_table(study: Study) -> Table:
    runs = [run.factors for run in study.runs]
    factors = [_factors_of(run) for run in study.runs]
    inside = [_initialized_record(run) for run in study.runs]
    definition = runs[0].definition
    rows: list[Quantity] = [
        (name, show_points, [table[key] for table in factors])
        for key, name in _FACTOR_NAMES.items()
    ]
    rows += [
        ("balance of instructions", show_points, [run.instruction_balance for run in runs]),
        ("instructions per cycle", "{:.3f}".format, [run.ipc for run in runs]),
        ("frequency, GHz", lambda hz: f"{hz / 1e9:.3f}", [run.frequency_hz for run in runs]),
        ("speedup", "{:.2f}".format, [table["speedup"] for table in factors]),
    ]
    if not runs[0].relative:
        rows += [
            ("run time", show_seconds, [run.runtime_s for run in runs]),
            ("ideal run time", show_seconds, [run.ideal_runtime_s for run in runs]),
        ]
    rows += [
        (f"Ser, '{name}'", show_points, [run.serialisations.get(name) for run in runs])
        for name in SERIALISATIONS if name != definition
    ]  # fmt: skip
    if any(run.eager for run in runs):
        rows.append(("Ser, any eager limit", _range_text, list(map(_eager_range, runs))))
    rows += [
        (name, show_points, [part.get(key) for part in inside])
        for key, name in _INITIALIZED.items()
    ]
    legend = [f"Ser is '{definition}': {_DEFINITIONS[definition]}."]
    if any(inside):
        legend.append("Outside, inside: relative to the time between MPI_Init and MPI_Finalize.")
    if study.scaling is not None and not runs[0].relative:
        legend.append(
            f"{study.scaling.capitalize()} scaling: the total work grows as P^{study.growth:.2f}."
        )
    title = "Factors in percent (100: without loss)"
    return transposed(title, ["Processes", *(str(run.width) for run in runs)], rows, legend)


def _initialized_record(run: ScaledRun) -> dict[str, float | None]:
    part = run.factors.initialized
    if part is None:
        return {}
    known = fields_of(part, "left_out load_balance serialisation transfer parallel")
    return known | fields_of(run, "", computation_scalability="initialized_computation")


def _eager_range(run: RunFactors) -> tuple[float, float] | None:
    if run.serialisation is None:
        return None
    serialisations = [run.serialisation, *(point.serialisation for point in run.eager)]
    return min(serialisations), max(serialisations)


def _range_text(ends: tuple[float, float]) -> str:
    low, high = map(show_points, ends)
    return low if low == high else f"{low} to {high}"


def _team_tables(runs: Sequence[RunFactors]) -> Table:
    teams = [(run, run.team) for run in runs if run.team is not None]
    heads = ["Threads", *(f"{run.width} ({team.threads} a rank)" for run, team in teams)]
    return transposed("Threads of OpenMP", heads, [
        (name, show_points, [getattr(team, key) for _, team in teams])
        for key, name in _TEAM_FACTORS.items()
    ])  # fmt: skip


def _iteration_lines(runs: Sequence[RunFactors]) -> list[Block]:
    blocks: list[Block] = []
    for run in runs:
        if (known := run.iterations) is not None:
            title = (
                f"{run.name}: {plural(known.count, 'iteration')}, whose duration differs by "
                f"{100 * known.noise:.1f} % (standard deviation)"
            )
            points = list(enumerate(known.duration_s.tolist(), start=1))
            drawn = curve(title, "iteration", "seconds", [line("duration", points)])
            blocks += [Text(title, only="text"), Folded(title, [drawn])]
    return blocks


def factors_curve(study: Study, extrapolation: Extrapolation) -> Drawing:
    """Draws measured factors as marks, and laws as lines with the values not excluded."""
    first = study.widths[0]
    last = max([study.widths[-1], *(point.width for point in extrapolation.points)])
    grid = np.geomspace(first, max(last, 2 * first), _SAMPLES).tolist()
    series = []
    product = [[1.0, 1.0, 1.0] for _ in grid]
    for factor in parts_of(study):
        model = extrapolation.models[factor]
        bands = [
            [min(value, 1.0) for value in (model.value(width), *model.band(width))]
            for width in grid
        ]
        product = [
            [a * b for a, b in zip(row, own, strict=True)]
            for row, own in zip(product, bands, strict=True)
        ]
        series.append(_law_line(_SHORT_NAMES[factor], grid, bands))
    series.append(_law_line(_PARALLEL, grid, product))
    for at, key in enumerate((*parts_of(study), "parallel")):
        points = [(width, 100 * min(value, 1.0)) for width, value in measured(study, key)]
        name = _SHORT_NAMES.get(key, "parallel efficiency")
        series.append(marks(f"{name}, measured", points, colour=at))
    mark = None
    if last > study.widths[-1]:
        mark = {"x": study.widths[-1], "label": "measured up to here"}
    title = f"{study.runs[0].factors.name}: efficiency factors over processes"
    return curve(title, "processes", "efficiency (%)", series, mark=mark, logx=True,
                 band="values that the runs do not exclude")  # fmt: skip


def _law_line(name: str, grid: Sequence[float], bands: Sequence[Sequence[float]]) -> Drawing:
    points = [(width, 100 * row[0]) for width, row in zip(grid, bands, strict=True)]
    band = [(width, 100 * row[1], 100 * row[2]) for width, row in zip(grid, bands, strict=True)]
    return line(name, points, band)


def _extrapolation_blocks(extrapolation: Extrapolation) -> list[Block]:
    laws: list[list[Cell]] = []
    for factor, model in extrapolation.models.items():
        errors = {name: error for name, _, error in model.rivals}
        laws += [
            [
                "" if place else _SHORT_NAMES[factor].removesuffix(" scalability"),
                weight, law.removesuffix("-efficiency"), formula, errors[law],
            ]
            for place, (weight, law, formula) in enumerate(model.parts)
        ]  # fmt: skip
    by = [
        Column("Factor"), Column("Weight", show_share, minor=True), Column("Law"),
        Column("p processes"),
        percent_column("Off by", minor=True),
    ]  # fmt: skip
    off = "Off by: percentage points, at runs that were left out; -: none could be."
    parts = {"load_balance": "LB", "serialisation": "Ser", "transfer": "Trf"}
    if not set(FACTORS) <= set(extrapolation.models):
        parts = {"load_balance": "LB", "communication": "comm"}
    keys = (*parts, "parallel", "computation_scalability", "global")
    head_of = dict(zip(keys, (*parts.values(), "parallel", "comp", "global"), strict=True))
    columns = [
        Column("Processes", str),
        *(percent_column(head_of[key][:1].upper() + head_of[key][1:], minor=key != "global",
                         bar=1.0 if key == "global" else False) for key in keys),
        Column("Band", str), Column("Worst", choice=True),
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [
            point.width, *(point.values.get(key) for key in keys),
            (f"{100 * point.low['global']:.1f} to {100 * point.high['global']:.1f}",
             point.low["global"]),
            head_of[point.dominating],
        ]
        for point in extrapolation.points
    ]  # fmt: skip
    worst = [
        "LB: load balance. Ser: serialisation. Trf: transfer. Comp: computation scalability.",
        "Worst is the factor that loses most. The band is for global. JSON has all bands.",
    ]
    changes = [
        f"from {width} processes on, {_SHORT_NAMES[after]} loses most, not {_SHORT_NAMES[before]}."
        for width, before, after in extrapolation.changes
    ]
    return [
        Table("Laws of the factors", by, laws, legend=[off]),
        Table("Expected factors in percent", columns, rows, legend=worst),
        Items(changes),
    ]


def _json_record(
    study: Study, extrapolation: Extrapolation | None, hints: Hints | None
) -> dict[str, Any]:
    models = {} if extrapolation is None else extrapolation.models
    points = () if extrapolation is None else extrapolation.points
    changes = () if extrapolation is None else extrapolation.changes
    return {
        "schema": FACTORS_SCHEMA,
        "serialisation": study.runs[0].factors.definition,
        **fields_of(study, "scaling", work_exponent="growth"),
        "runs": [_run_record(run, hints) for run in study.runs],
        "models": {
            factor: {
                **fields_of(model, "law weights text"),
                "parameters": dict(model.model.law_parameters),
                "held_out_error": model.error,
                "held_out_errors": {name: error for name, _, error in model.rivals},
            }
            for factor, model in models.items()
        },
        "extrapolation": [
            {"ranks": point.width, **point.values, **fields_of(point, "low high dominating")}
            for point in points
        ],
        "dominating_changes": [
            {"ranks": width, "from": before, "to": after} for width, before, after in changes
        ],
        "notes": list(study.notes),
    }  # fmt: skip


def _run_record(run: ScaledRun, hints: Hints | None) -> dict[str, Any]:
    f = run.factors
    iterations = f.iterations and fields_of(
        f.iterations, "count noise", calls="period", seconds="duration_s"
    )
    return {
        **fields_of(f, "name runtime_s ideal_runtime_s useful_s useful_maximum_s", ranks="width",
                 processes="ranks", ideal_useful_maximum_s="own_maximum_s"),
        **_factors_of(run),
        **fields_of(f, "instructions cycles ipc frequency_hz instruction_balance serialisations",
                    team="team"),
        "eager_limits": [
            {
                "bytes": point.limit if point.limit < float(2**62) else None,
                **fields_of(point, "ideal_runtime_s serialisation"),
            }
            for point in f.eager
        ],
        "parallel_regions": region_records(f, hints),
        "not_analyzed": dict(f.not_analysed),
        "initialized": _initialized_record(run) or None,
        "iterations": iterations,
    }  # fmt: skip


def region_records(run: RunFactors, hints: Hints | None) -> list[dict[str, Any]]:
    """Returns the records for JSON. `predicted` is null without a prediction."""
    return [
        {
            **plain(split),
            "efficiency": split.efficiency,
            "predicted_load_balance": None if hints is None else predicted_balance(hints, split),
            "predicted_efficiency": None if hints is None else predicted_efficiency(hints, split),
        }
        for split in run.parallel_regions
    ]


def region_tables(runs: Sequence[RunFactors], hints: Hints | None) -> list[Block]:
    """Returns measured and predicted factors of parallel regions, with a table per run."""
    columns = [
        Column("Region", cut=True), Column("Threads", str),
        Column("Seconds", "{:.4g}".format, bar=True),
        percent_column("Scheduling", minor=True), percent_column("LB", minor=True),
        percent_column("predicted LB", minor=True), percent_column("Measured"),
        percent_column("Predicted"),
    ]  # fmt: skip
    beside = "" if hints is None else f", and {hints.path} for {hints.machine}"
    tables: list[Block] = []
    for run in runs:
        rows: list[list[Cell]] = [
            [
                f"{PurePath(row['file']).name}:{row['line']}" if row["line"] else row["name"],
                row["threads"], row["seconds"], row["scheduling"], row["load_balance"],
                row["predicted_load_balance"], row["efficiency"], row["predicted_efficiency"],
            ]
            for row in region_records(run, hints)
        ]  # fmt: skip
        title = f"Parallel regions of {run.name}{beside}, in percent"
        tables += [Table(title, columns, rows)] if rows else []
    if tables:
        tables.append(Text(
            "Measured: the used share of the threads' time. Predicted: speedup over threads, "
            "which also counts that threads slow each other down."
        ))  # fmt: skip
    return tables


def percent_column(title: str, *, minor: bool = False, bar: bool | float = False) -> Column:
    """Returns a column of shares as percentages of two decimals, without the sign."""
    return Column(title, show_points, minor=minor, bar=bar)
