"""Documents an isoefficiency campaign, also as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from regionpredict.fit.experiment import Series
from regionpredict.fit.laws.efficiency_surface import EfficiencySurface, Solution
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Folded,
    Items,
    Section,
    Table,
    Text,
)
from regionpredict.report.html.blocks import curve, line, marks
from regionpredict.report.isoefficiency_answers import isoefficiency_answers
from regionpredict.report.json_text import fields_of, plain
from regionpredict.report.model_curves import model_curves
from regionpredict.report.names import evenly_chosen
from regionpredict.report.quantities import show_percent, show_seconds, show_size
from regionpredict.tasks.isoefficiency.constant_efficiency import (
    CONTOURS,
    REACH,
    efficiency_surfaces,
    size_lines,
)
from regionpredict.tasks.isoefficiency.measured_times import IsoefficiencyData, SizeTime
from regionpredict.tasks.isoefficiency.models import LEVEL, EfficiencyPoint, Isoefficiency

SCHEMA = "regionpredict/isoefficiency/1"
_GRID = 16
"""The maximum numbers of thread counts and sizes of surfaces in JSON."""
_SAMPLES = 32  # points of each curve
_SYMBOLS = (
    "n: size. p: threads. E_ac: efficiency of the program. E_cf: of its tasks without contention. "
    "E_ub: bound for any scheduler. delta_con = E_cf - E_ac. delta_str = E_ub - E_cf."
)
_MOST_LINES = 4
"""Maximum number of sizes with a line for discrepancies, since more are hard to distinguish."""


def isoefficiency_document(
    data: IsoefficiencyData, result: Isoefficiency, efficiency: float, threads: int, size: float
) -> Document:
    """Returns the five answers, efficiencies, sizes that keep an efficiency, and models."""
    formulas = [
        f"{name}(p, n) = {model.text()} ({_fitness_text(model.rrmse, model.adjusted_r2)})"
        for name, model in (("E_ac", result.actual), ("E_cf", result.free)) if model is not None
    ]  # fmt: skip
    formulas += [
        f"{name} = {fitted.formula()} "
        f"({_fitness_text(_relative_rmse(fitted), fitted.adjusted_r2 if fitted.terms else None)})"
        for name, fitted in (("T_inf(n)", result.depth), ("pi(n)", result.parallelism))
        if fitted is not None
    ]  # fmt: skip
    if formulas:
        formulas.append("rRMSE: root of the mean square error over the mean; R2: adjusted")
    answers = isoefficiency_answers(result, efficiency, threads, size)
    sections = [
        Section("Answers", [Facts([
            (f"{number}. {asked}", answer) for number, (asked, answer) in enumerate(answers, 1)
        ]), Text(_SYMBOLS, only="page")]),
        Section("Sizes", lambda: _size_pictures(result, efficiency, threads), "page"),
        Section("Discrepancies", lambda: _discrepancy_curves(result), "page"),
        Section("Efficiency", [_efficiency_table(data, result)]),
        Section("Curves", lambda: _efficiency_curves(result), "page"),
        Section("Models", [Items(formulas)]),
        Section("Models over the size", lambda: [
            *_graph_curve(result.depth, "Depth T_inf", "seconds"),
            *_graph_curve(result.parallelism, "Average parallelism pi", ""),
        ], "page"),
        Section("Open", [Items([f"open: {text}" for text in result.open_])]),
    ]  # fmt: skip
    lead = [f"{' '.join(data.command)} on {data.host}"]
    return Document("Isoefficiency", lead, sections,
                    lambda: _json_record(data, result, efficiency, threads, size))  # fmt: skip


def _fitness_text(rrmse: float, adjusted_r2: float | None) -> str:
    return f"rRMSE {show_percent(rrmse)}" + (
        "" if adjusted_r2 is None else f", R2 {adjusted_r2:.3f}"
    )


def _efficiency_table(data: IsoefficiencyData, result: Isoefficiency) -> Block:
    if not result.points:
        return Text("Nothing was measured on several threads.")
    rows: list[list[Cell]] = []
    for point in result.points:
        time = data.time(point.size, point.threads)
        rows.append([
            point.size, point.threads, None if time is None else time.mean_s,
            None if time is None else time.mean_cpu_s, point.actual, point.free, point.bound,
            point.contention, point.structure, point.how + " *" * (not point.sound),
        ])  # fmt: skip
    two, signed = "{:.2f}".format, "{:+.2f}".format
    columns = [
        Column("n", show_size), Column("p", str),
        Column("Time", show_seconds, minor=True), Column("CPU", show_seconds, minor=True),
        Column("E_ac", two, bar=1.0), Column("E_cf", two, bar=1.0, minor=True),
        Column("E_ub", two, bar=1.0, minor=True), Column("delta_con", signed),
        Column("delta_str", signed), Column("E_cf by", choice=True, minor=True),
    ]  # fmt: skip
    legend = [f"{_SYMBOLS} CPU: processor time of the whole program."]
    if any(not point.sound for point in result.points):
        legend.append("*: excluded, for the reason below")
    return Table("Efficiencies", columns, rows, legend=legend)


def _relative_rmse(model: FittedModel) -> float:
    y = np.asarray(model.observations.y, dtype=np.float64)
    error = model.formula_values(model.points) - y
    return float(np.sqrt(np.mean(error**2)) / (abs(y.mean()) or 1.0))


def _efficiency_curves(result: Isoefficiency) -> list[Block]:
    by_size: dict[float, list[EfficiencyPoint]] = {}
    for point in result.points:
        by_size.setdefault(point.size, []).append(point)
    blocks: list[Block] = []
    for size, points in by_size.items():
        most = max(point.threads for point in points)
        grid = np.linspace(1, max(REACH * most, 2), _SAMPLES).tolist()
        lines, measured = [], []
        functions = (("E_ac", "actual", result.actual), ("E_cf", "free", result.free))
        for colour, (name, key, model) in enumerate(functions):
            own = [(point.threads, getattr(point, key)) for point in points]
            measured.append(marks(f"{name}, measured", own, colour=colour))
            if model is not None:
                modelled = [(p, model.efficiency(p, size)) for p in grid]
                lines.append(line(f"{name}, its model", modelled, colour=colour))
        if result.parallelism is not None:
            bounds = [(p, bound) for p in grid if (bound := result.bound(p, size)) is not None]
            lines.append(line("E_ub, by the model of pi", bounds, colour=len(functions)))
        at = f"at n = {show_size(size)}"
        drawn = curve(f"Efficiency {at}", "threads", "efficiency", [*lines, *measured])
        blocks.append(Folded(f"Efficiency over threads {at}", [drawn]))
    return blocks


def _size_pictures(result: Isoefficiency, efficiency: float, threads: int) -> list[Block]:
    """Draws sizes that keep the efficiency, and lines of constant efficiency."""
    most = max([threads, *(REACH * point.threads for point in result.points)])
    grid = np.geomspace(1, max(most, 2), _SAMPLES).tolist()
    series = [line(own.label, own.points) for own in size_lines(result, efficiency, grid)
              if own.points]  # fmt: skip
    blocks: list[Block] = [
        curve(f"Size that keeps an efficiency of {efficiency:g}", "threads", "size n", series,
              logx=True, logy=True)
        if series else Text(f"No size in this range has an efficiency of {efficiency:g}.")
    ]  # fmt: skip
    for key, title in (("E_ac", "the program"), ("E_cf", "its graph without contention")):
        series = [
            line(f"E = {level:g}", own.points)
            for level in CONTOURS
            for own in size_lines(result, level, grid) if own.key == key and own.points
        ]  # fmt: skip
        if series:
            drawn = curve(f"Sizes that keep an efficiency, {title}", "threads", "n", series,
                          logx=True, logy=True)  # fmt: skip
            blocks.append(Folded(f"Sizes for other efficiencies, {title}", [drawn]))
    return blocks


def _discrepancy_curves(result: Isoefficiency) -> list[Block]:
    """Draws the losses by contention and by the graph over threads, with one line per size."""
    if not result.points:
        return []
    shown = evenly_chosen(sorted({point.size for point in result.points}), _MOST_LINES)
    grid = np.linspace(1, max(REACH * max(p.threads for p in result.points), 2), _SAMPLES)
    surfaces = efficiency_surfaces(result, grid, shown)
    titles = (("delta_con", "contention", "Loss by contention, E_cf - E_ac"),
              ("delta_str", "structure", "Loss by the graph, E_ub - E_cf"))  # fmt: skip
    blocks: list[Block] = []
    for name, key, title in titles:
        series = []
        for colour, size in enumerate(shown):
            values = surfaces[name]
            if values is not None:
                pairs = zip(grid.tolist(), values[colour].tolist(), strict=True)
                series.append(line(f"n = {show_size(size)}, by models", pairs, colour=colour))
            own = [(p.threads, getattr(p, key)) for p in result.points if p.size == size]
            series.append(marks(f"n = {show_size(size)}, measured", own, colour=colour))
        blocks.append(curve(title, "threads", "efficiency", series))
    return blocks


def _graph_curve(model: FittedModel | None, title: str, unit: str) -> list[Block]:
    """Draws a model over the size with its interval, and the recorded values."""
    if model is None:
        return []
    values = tuple([value] for value in model.observations.y.tolist())
    series = Series("", title, model.parameters, tuple(map(tuple, model.points)), values, unit)
    return [model_curves([(series, model)], until=REACH * float(model.points.max()), level=LEVEL)]


def _json_record(
    data: IsoefficiencyData, result: Isoefficiency, efficiency: float, threads: int, size: float
) -> dict[str, Any]:
    counts = tuple(sorted({time.threads for time in data.times} | {threads}))
    answers = isoefficiency_answers(result, efficiency, threads, size)
    return {
        "schema": SCHEMA,
        **fields_of(data, "command host"),
        "points": [
            {
                **fields_of(point, "threads", n="size", E_ac="actual", E_cf="free", E_ub="bound",
                         delta_con="contention", delta_str="structure", free_by="how",
                         counts="sound"),
                "error": point.wrong or None,
                **_measured_record(data.time(point.size, point.threads)),
            }
            for point in result.points
        ],
        "verdicts": dict(zip(
            ("limited", "contention", "structure"), (answer for _, answer in answers), strict=False,
        )),
        "models": {
            "E_ac": result.actual.text() if result.actual else None,
            "E_cf": result.free.text() if result.free else None,
            "T_inf": result.depth.formula() if result.depth else None,
            "pi": result.parallelism.formula() if result.parallelism else None,
        },
        "fits": {
            "E_ac": _surface_record(result.actual),
            "E_cf": _surface_record(result.free),
            "T_inf": _graph_record(result.depth),
            "pi": _graph_record(result.parallelism),
        },
        "surfaces": _surfaces_record(result, threads),
        "scalability_bug": result.scalability_bug,
        "efficiency": efficiency,
        "sizes": {"threads": threads, **_solution_records(result.sizes_for(threads, efficiency))},
        "threads": {"n": size, **_solution_records(result.threads_for(size, efficiency))},
        "contours": [
            {"efficiency": level, "line": plain(result.contour(level, counts))}
            for level in CONTOURS
        ],
        "open": list(result.open_),
    }  # fmt: skip


def _surface_record(model: EfficiencySurface | None) -> dict[str, Any] | None:
    """Returns the terms of E(p, n) = constant - loss * f(p) + gain * f(p) * g(n), with f and g as
    [power, power of log2].
    """
    names = "constant loss gain rrmse adjusted_r2"
    return None if model is None else fields_of(model, names, f="of_threads", g="of_size")


def _graph_record(model: FittedModel | None) -> dict[str, Any] | None:
    """Returns the constant and the terms of a model over the size, with n as [power, power of
    log2].
    """
    if model is None:
        return None
    return {
        "constant": model.constant,
        "terms": [
            {"coefficient": coefficient, "n": list(monomial.get(0, (0.0, 0.0)))}
            for coefficient, monomial in model.terms
        ],
        "rrmse": _relative_rmse(model),
        "adjusted_r2": model.adjusted_r2 if model.terms else None,
    }


def _surfaces_record(result: Isoefficiency, threads: int) -> dict[str, Any] | None:
    """Evaluates each function on a grid of threads and sizes, one row per size. None if nothing was
    measured on several threads.
    """
    if not result.points:
        return None
    most = max([threads, *(point.threads for point in result.points)])
    counts = np.unique(np.geomspace(1, most, _GRID).round())
    measured = [point.size for point in result.points]
    sizes = np.geomspace(min(measured), REACH * max(measured), _GRID)
    return {"threads": plain(counts), "n": plain(sizes),
            **plain(efficiency_surfaces(result, counts, sizes))}  # fmt: skip


def _measured_record(time: SizeTime | None) -> dict[str, Any]:
    """Returns seconds, processor time, and the activity of other processes on the host."""
    if time is None:
        return {"seconds": None, "cpu_s": None, "host": None}
    return fields_of(time, "host", seconds="mean_s", cpu_s="mean_cpu_s")


def _solution_records(solved: Mapping[str, Solution | None]) -> dict[str, Any]:
    return {
        name: solution and {**fields_of(solution, "value low high"), "level": LEVEL}
        for name, solution in solved.items()
    }
