"""The page of `tasks isoefficiency`: five answers, efficiencies, and the sizes that keep one."""

from __future__ import annotations

import numpy as np

from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.report.html.blocks import (
    Block,
    Cell,
    Column,
    Section,
    as_text,
    curve,
    facts,
    folded,
    items,
    line,
    marks,
    table,
    text,
)
from regionpredict.report.html.page import page
from regionpredict.report.isoefficiency import (
    graph_fitness,
    isoefficiency_answers,
    isoefficiency_text,
    surface_fitness,
)
from regionpredict.report.isoefficiency_lines import (
    CONTOURS,
    REACH,
    efficiency_surfaces,
    size_lines,
)
from regionpredict.report.quantities import show_seconds
from regionpredict.tasks.isoefficiency.measured_times import IsoefficiencyData
from regionpredict.tasks.isoefficiency.models import LEVEL, EfficiencyPoint, Isoefficiency

_SAMPLES = 32  # of each curve
_MOST_LINES = 4
"""Sizes of which the discrepancies are drawn: of more, the lines are not told apart."""


def isoefficiency_page(
    data: IsoefficiencyData, result: Isoefficiency, efficiency: float, threads: int, size: float
) -> str:
    """The page."""
    formulas = [
        (f"{name}(p, n)", f"{model.text()} ({surface_fitness(model)})")
        for name, model in (("E_ac", result.actual), ("E_cf", result.free))
        if model is not None
    ]
    formulas += [
        (name, f"{fitted.formula()} ({graph_fitness(fitted)})")
        for name, fitted in (("T_inf(n)", result.depth), ("pi(n)", result.parallelism))
        if fitted is not None
    ]
    sections = [
        Section("Answers", [facts(isoefficiency_answers(result, efficiency, threads, size))]),
        Section("Efficiency", [*_points(data, result), *_curves(result)]),
        Section("Discrepancies", _discrepancies(result)),
        Section("Sizes", [*_sizes(result, efficiency, threads), *_contours(result, threads)]),
        Section("Models", [*([facts(formulas)] if formulas else []),
                           *_graph(result.depth, "Depth T_inf", "seconds"),
                           *_graph(result.parallelism, "Average parallelism pi", "")]),
        Section("Open", [items(result.open_)] if result.open_ else []),
        as_text(isoefficiency_text(data, result, efficiency, threads, size)),
    ]  # fmt: skip
    lead = [f"{' '.join(data.command)} on {data.host}",
            "E_ac is the program's efficiency, E_cf that of its tasks without contention, E_ub "
            "what no scheduler exceeds."]  # fmt: skip
    return page("Isoefficiency", lead, sections)


def _points(data: IsoefficiencyData, result: Isoefficiency) -> list[Block]:
    if not result.points:
        return [text("Nothing was measured on several threads.")]
    rows: list[list[Cell]] = []
    for point in result.points:
        time = data.time(point.size, point.threads)
        seconds = None if time is None else time.mean_s
        rows.append([
            (f"{point.size:g}", point.size), point.threads, (show_seconds(seconds), seconds),
            (f"{point.actual:.2f}", point.actual), (f"{point.free:.2f}", point.free),
            (f"{point.bound:.2f}", point.bound), (f"{point.contention:+.2f}", point.contention),
            (f"{point.structure:+.2f}", point.structure), point.how,
        ])  # fmt: skip
    columns = [
        Column("n", number=True), Column("Threads", number=True),
        Column("Time", number=True, minor=True), Column("E_ac", number=True, bar=1.0),
        Column("E_cf", number=True, bar=1.0, minor=True),
        Column("E_ub", number=True, bar=1.0, minor=True), Column("Contention", number=True),
        Column("Structure", number=True), Column("E_cf by", choice=True, minor=True),
    ]  # fmt: skip
    return [table("Contention is E_cf - E_ac, structure E_ub - E_cf", columns, rows)]


def _curves(result: Isoefficiency) -> list[Block]:
    """A picture a size, by its three efficiencies over threads, with their models."""
    by_size: dict[float, list[EfficiencyPoint]] = {}
    for point in result.points:
        by_size.setdefault(point.size, []).append(point)
    blocks = []
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
        drawn = curve(f"Efficiency at n = {size:g}", "threads", "efficiency", [*lines, *measured])
        blocks.append(folded(f"Efficiency over threads at n = {size:g}", [drawn]))
    return blocks


def _sizes(result: Isoefficiency, efficiency: float, threads: int) -> list[Block]:
    most = max([threads, *(REACH * point.threads for point in result.points)])
    grid = np.geomspace(1, max(most, 2), _SAMPLES).tolist()
    known = [size_line for size_line in size_lines(result, efficiency, grid) if size_line.points]
    if not known:
        return [text(f"No size of this range keeps an efficiency of {efficiency:g}.")]
    series = [line(size_line.label, size_line.points) for size_line in known]
    title = f"Size that keeps an efficiency of {efficiency:g}"
    return [curve(title, "threads", "n", series, logx=True, logy=True)]


def _discrepancies(result: Isoefficiency) -> list[Block]:
    """What contention takes, and what the graph, over threads, a line a size."""
    if not result.points:
        return []
    sizes = sorted({point.size for point in result.points})
    shown = sizes if len(sizes) <= _MOST_LINES else [sizes[k] for k in
                np.linspace(0, len(sizes) - 1, _MOST_LINES).round().astype(int)]  # fmt: skip
    grid = np.linspace(1, max(REACH * max(p.threads for p in result.points), 2), _SAMPLES)
    surfaces = efficiency_surfaces(result, grid, shown)
    titles = (("delta_con", "contention", "What contention takes, E_cf - E_ac"),
              ("delta_str", "structure", "What the graph takes, E_ub - E_cf"))  # fmt: skip
    blocks = []
    for name, key, title in titles:
        series = []
        for colour, size in enumerate(shown):
            values = surfaces[name]
            if values is not None:
                pairs = zip(grid.tolist(), values[colour].tolist(), strict=True)
                series.append(line(f"n = {size:g}, by models", pairs, colour=colour))
            own = [(p.threads, getattr(p, key)) for p in result.points if p.size == size]
            series.append(marks(f"n = {size:g}, measured", own, colour=colour))
        blocks.append(curve(title, "threads", "efficiency", series))
    return blocks


def _contours(result: Isoefficiency, threads: int) -> list[Block]:
    """The lines of constant efficiency of the program and of its graph without contention."""
    most = max([threads, *(REACH * point.threads for point in result.points)])
    grid = np.geomspace(1, max(most, 2), _SAMPLES).tolist()
    blocks = []
    for key, title in (("E_ac", "the program"), ("E_cf", "its graph without contention")):
        series = [
            line(f"E = {level:g}", size_line.points)
            for level in CONTOURS
            for size_line in size_lines(result, level, grid)
            if size_line.key == key and size_line.points
        ]
        if series:
            drawn = curve(f"Sizes that keep an efficiency, {title}", "threads", "n", series,
                          logx=True, logy=True)  # fmt: skip
            blocks.append(folded(f"Sizes for other efficiencies, {title}", [drawn]))
    return blocks


def _graph(model: FittedModel | None, title: str, unit: str) -> list[Block]:
    """A model over the size with its band, and what was recorded."""
    if model is None:
        return []
    sizes = model.points[:, 0]
    low, high = float(sizes.min()), REACH * float(sizes.max())
    grid = np.geomspace(low, high, _SAMPLES).tolist()
    bands = [model.interval((n,), LEVEL) for n in grid]
    series = [
        line("model", [(n, model.predict((n,))) for n in grid],
             [(n, max(band.low, 0.0), band.high) for n, band in zip(grid, bands, strict=True)]),
        marks("recorded", zip(sizes.tolist(), model.observations.y.tolist(), strict=True),
              colour=0),
    ]  # fmt: skip
    band_name = f"{100 * LEVEL:.0f} % band"
    title_with_band = f"{title} over the size, {band_name}"
    return [
        curve(title_with_band, "n", unit, series, logx=low > 0, band=f"{band_name} of the model")
    ]
