"""The page of `trace factors`: efficiency factors of runs, and on more processes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regionpredict.measure.hints_file import Hints
from regionpredict.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Drawing,
    Facts,
    Folded,
    Items,
    Section,
    Table,
)
from regionpredict.report.html.blocks import curve, line, marks
from regionpredict.report.html.page import as_text, document_page
from regionpredict.report.parallel_regions import region_records, region_table
from regionpredict.report.quantities import plural, show_factor, show_percent, show_seconds
from regionpredict.report.run_factors import (
    DEFINITIONS,
    FACTOR_NAMES,
    SHORT_NAMES,
    factors_of,
    factors_table,
)
from regionpredict.trace.extrapolation import FACTORS, SCALED, Extrapolation, measured, parts_of
from regionpredict.trace.scaling import ScaledRun, Study

_SAMPLES = 40  # of each curve
_PARALLEL = "parallel efficiency, the product"


def factors_page(study: Study, extrapolation: Extrapolation | None, hints: Hints | None) -> str:
    """The page; without `found` there are no curves."""
    runs = study.runs
    definition = runs[0].factors.definition
    overview = [
        ("Runs", ", ".join(f"{run.factors.name} on {run.factors.width}" for run in runs)),
        ("Ser", f"'{definition}': {DEFINITIONS[definition]}"),
    ]
    if study.scaling is not None:
        overview.append(("Scaling", f"{study.scaling}; the work of all grows as "
                         f"P^{study.growth:.2f}"))  # fmt: skip
    if extrapolation is not None:
        overview += [
            (
                "On more processes",
                f"from {width} on, {SHORT_NAMES[after]} loses most, not {SHORT_NAMES[before]}",
            )
            for width, before, after in extrapolation.changes
        ]
    text = factors_table(study, extrapolation)
    if hints is not None:
        text += region_table([run.factors for run in runs], hints)
    sections = [
        Section("Overview", [Facts(overview), _factors(runs)]),
        Section("Curves", _curves(study, extrapolation) if extrapolation is not None else []),
        Section("On more processes", _more(extrapolation) if extrapolation is not None else []),
        Section("Iterations", _iterations(runs)),
        Section("Parallel regions", [_regions(runs, hints)]),
        Section("Notes", [Items(study.notes)]),
        as_text(text),
    ]
    return document_page(Document(f"Efficiency of {runs[0].factors.name}", [], sections))


def _factors(runs: Sequence[ScaledRun]) -> Table:
    """A row a run: what multiplies stands side by side."""
    heads = {key: _head(name) for key, name in FACTOR_NAMES.items()}
    rows: list[list[Cell]] = []
    for run in runs:
        factors = factors_of(run)
        f = run.factors
        rows.append([
            f.name, f.width, f.runtime_s, *(factors[key] for key in heads), run.speedup,
        ])  # fmt: skip
    columns = [
        Column("Run"), Column("Processes", str),
        Column("Run time", show_seconds, minor=True, unknown="?"),
        *(_share(name, minor=key not in ("parallel", *FACTORS),
                 bar=1.0 if key in ("parallel", *FACTORS, "global") else False)
          for key, name in heads.items()),
        Column("Speedup", show_factor, minor=True, unknown="?"),
    ]  # fmt: skip
    return Table("Factors of each run: 100 % loses nothing", columns, rows)


def _head(name: str) -> str:
    """A name as a head: `  IPC` is `IPC`, `  communication` is `Communication`."""
    name = name.strip()
    return name[:1].upper() + name[1:]


def _curves(study: Study, extrapolation: Extrapolation) -> list[Drawing]:
    """Marks are measured, lines the laws, bands what the runs do not refute."""
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
        series.append(_line(SHORT_NAMES[factor], grid, bands))
    series.append(_line(_PARALLEL, grid, product))
    for at, key in enumerate((*parts_of(study), "parallel")):
        points = [(width, 100 * min(value, 1.0)) for width, value in measured(study, key)]
        name = SHORT_NAMES.get(key, "parallel efficiency")
        series.append(marks(f"{name}, measured", points, colour=at))
    mark = None
    if last > study.widths[-1]:
        mark = {"x": study.widths[-1], "label": "measured up to here"}
    title = "Efficiency factors over processes, and what the runs do not refute"
    return [curve(title, "processes", "%", series, mark=mark, logx=True,
                  band="what the runs do not refute")]  # fmt: skip


def _line(name: str, grid: Sequence[float], bands: Sequence[Sequence[float]]) -> Drawing:
    points = [(width, 100 * row[0]) for width, row in zip(grid, bands, strict=True)]
    band = [(width, 100 * row[1], 100 * row[2]) for width, row in zip(grid, bands, strict=True)]
    return line(name, points, band)


def _more(extrapolation: Extrapolation) -> list[Block]:
    keys = (*FACTORS, "parallel", "computation_scalability", "global")
    rows: list[list[Cell]] = [
        [
            point.width, *(point.values.get(key) for key in keys),
            f"{100 * point.low['global']:.1f} to {100 * point.high['global']:.1f} %",
            SHORT_NAMES[point.dominating],
        ]
        for point in extrapolation.points
    ]  # fmt: skip
    heads = ("LB", "Ser", "Trf", "Parallel", "Computation", "Global")
    columns = [
        Column("Processes", str),
        *(_share(name, minor=name != "Global", bar=1.0 if name == "Global" else False)
          for name in heads),
        Column("Global lies", str), Column("Loses most", choice=True),
    ]  # fmt: skip
    laws: list[list[Cell]] = [
        [SHORT_NAMES[factor], model.law, model.text, model.error]
        for factor in SCALED
        if (model := extrapolation.models.get(factor)) is not None
    ]
    by = [
        Column("Factor"), Column("Law"), Column("On p processes"),
        Column("Error on held-out runs", lambda error: f"{100 * error:.2f} points", unknown="none"),
    ]  # fmt: skip
    return [
        Table("What to expect", columns, rows), Table("The laws that this follows from", by, laws)
    ]  # fmt: skip


def _iterations(runs: Sequence[ScaledRun]) -> list[Block]:
    blocks: list[Block] = []
    for run in runs:
        known = run.factors.iterations
        if known is None:
            continue
        points = list(enumerate(known.duration_s.tolist(), 1))
        title = (f"{run.factors.name}: {plural(known.count, 'iteration')}, whose duration differs "
                 f"by {100 * known.noise:.1f} %")  # fmt: skip
        drawn = curve(title, "iteration", "seconds", [line("duration", points)])
        blocks.append(Folded(title, [drawn]))
    return blocks


def _regions(runs: Sequence[ScaledRun], hints: Hints | None) -> Table:
    rows: list[list[Cell]] = []
    for run in runs:
        for row in region_records(run.factors, hints):
            place = f"{row['file']}:{row['line']}" if row["line"] else row["name"]
            rows.append([
                place, run.factors.name, row["threads"], row["seconds"], row["scheduling"],
                row["load_balance"], row["efficiency"], row["predicted_efficiency"],
            ])  # fmt: skip
    columns = [
        Column("Region"), Column("Run", choice=True, minor=True), Column("Threads", str),
        Column("Time", show_seconds, bar=True, unknown="?"), _share("Scheduling", minor=True),
        _share("Load balance", minor=True), _share("Measured"), _share("Predicted"),
    ]  # fmt: skip
    title = "Parallel regions of OpenMP: the used share of the team's time, and the predicted one"
    return Table(title, columns, rows)


def _share(title: str, *, minor: bool = False, bar: bool | float = False) -> Column:
    return Column(title, show_percent, minor=minor, bar=bar, unknown="?")
