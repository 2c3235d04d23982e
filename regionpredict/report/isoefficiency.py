"""An isoefficiency campaign in words: five questions, with figures; and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from regionpredict.fit.laws.efficiency_surface import LARGEST, EfficiencySurface, Solved
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.report.aligned_table import aligned_lines
from regionpredict.report.isoefficiency_lines import CONTOURS, REACH, efficiency_surfaces
from regionpredict.report.page_width import page_lines
from regionpredict.report.quantities import plural, show_seconds
from regionpredict.tasks.isoefficiency.measured_times import IsoefficiencyData, SizeTime
from regionpredict.tasks.isoefficiency.models import LEVEL, MUCH, NOISE, Isoefficiency

SCHEMA = "regionpredict/isoefficiency/1"
_GRID = 16
"""Thread counts, and sizes, of surfaces in JSON."""
FAR = 10
"""So many times beyond the data an answer is called a guess. Assumed: an order of magnitude."""
SAME = 0.01  # a forecast so near the formula's value needs no word


def isoefficiency_text(
    data: IsoefficiencyData, result: Isoefficiency, efficiency: float, threads: int, size: float
) -> str:
    """The table of efficiencies, the models, and the five answers."""
    rows = [
        ("n", "threads", "time", "CPU", "E_ac", "E_cf", "E_ub", "delta_con", "delta_str", "E_cf by")
    ]
    for point in result.points:
        time = data.time(point.size, point.threads)
        rows.append(
            (
                f"{point.size:g}", str(point.threads),
                show_seconds(time.mean_s if time is not None else None),
                show_seconds(time.mean_cpu_s if time is not None else None), f"{point.actual:.2f}",
                f"{point.free:.2f}", f"{point.bound:.2f}", f"{point.contention:+.2f}",
                f"{point.structure:+.2f}", point.how + " *" * (not point.sound),
            )
        )  # fmt: skip
    lines = [f"{' '.join(data.command)} on {data.host}", "", *aligned_lines(rows)]
    if result.points:
        lines.append("CPU: processor time of the whole program")
    if any(not point.sound for point in result.points):
        lines.append("*: does not count, for what is open below")
    lines.append("")
    for name, model in (("E_ac", result.actual), ("E_cf", result.free)):
        if model is not None:
            lines += page_lines(f"{name}(p, n) = {model.text()} ({surface_fitness(model)})")
    for name, fitted in (("T_inf(n)", result.depth), ("pi(n)", result.parallelism)):
        if fitted is not None:
            lines += page_lines(f"{name} = {fitted.formula()} ({graph_fitness(fitted)})")
    if any((result.actual, result.free, result.depth, result.parallelism)):
        lines.append("rRMSE: root of the mean square error over the mean; R2: adjusted")
    for text in result.open_:
        lines += page_lines(f"open: {text}")
    answers = isoefficiency_answers(result, efficiency, threads, size)
    lines.append("")
    for number, (asked, answer) in enumerate(answers, 1):
        lines += page_lines(f"{number}. {asked} {answer}", then="   ")
    return "\n".join(lines) + "\n"


def surface_fitness(model: EfficiencySurface) -> str:
    """How well the model of an efficiency fits."""
    return _fitness(model.rrmse, model.adjusted_r2)


def graph_fitness(model: FittedModel) -> str:
    """How well a model of the size fits."""
    return _fitness(_rrmse(model), model.adjusted_r2 if model.terms else None)


def _fitness(rrmse: float, adjusted_r2: float | None) -> str:
    return f"rRMSE {rrmse:.1%}" + ("" if adjusted_r2 is None else f", R2 {adjusted_r2:.3f}")


def _rrmse(model: FittedModel) -> float:
    """The root of the mean square error of a model's formula over the mean of what was observed."""
    y = np.asarray(model.observations.y, dtype=np.float64)
    error = model.formula_values(model.points) - y
    return float(np.sqrt(np.mean(error**2)) / (abs(y.mean()) or 1.0))


def isoefficiency_answers(
    result: Isoefficiency, efficiency: float, threads: int, size: float
) -> list[tuple[str, str]]:
    """The five questions with their answers."""
    sizes = result.sizes_for(threads, efficiency)
    counts = result.threads_for(size, efficiency)
    return [
        ("Is the algorithm limited?", _limited(result)),
        ("Is contention the cause?", _contention(result)),
        ("Is there room in the graph?", _room(result)),
        (
            f"Which n keeps E = {efficiency:g} on {plural(threads, 'thread')}?",
            _solutions(sizes, "n", "no size")
            + _forecast(result.parallelism, sizes["E_ub"])
            + _far(sizes, "n", max((point.size for point in result.sound), default=0))
            + _impossible(sizes, lambda own, bound: own < bound * (1 - NOISE)),
        ),
        (
            f"How many threads keep E = {efficiency:g} at n = {size:g}?",
            _solutions(counts, "p", "not even one")
            + _far(counts, "p", max((point.threads for point in result.sound), default=0))
            + _impossible(counts, lambda own, bound: own > bound * (1 + NOISE)),
        ),
    ]


def _limited(result: Isoefficiency) -> str:
    if result.scalability_bug is None or result.depth is None or result.parallelism is None:
        if any(point.disturbed for point in result.points):
            return "Inconclusive: others used the host while graphs were recorded."
        return "Not known: too few sizes."
    depth, parallelism = _growth(result.depth), _growth(result.parallelism)
    if result.scalability_bug:
        return (
            f"Yes, a scalability bug: the average parallelism grows as {parallelism}, more slowly "
            f"than the depth ({depth})."
        )
    if not result.parallelism.leading_term:
        return (
            "Not by what was measured: neither the average parallelism nor the depth grows in it."
        )
    return (
        f"No: the average parallelism grows as {parallelism}, no more slowly than the depth "
        f"({depth})."
    )


def _growth(model: FittedModel) -> str:
    from regionpredict.fit.model.terms import term_text  # noqa: PLC0415

    leading = model.leading_term
    return "*".join(term_text("n", term) for term in leading.values()) if leading else "a constant"


def _contention(result: Isoefficiency) -> str:
    undecided = _undecided(result)
    if undecided:
        return undecided
    worst = max(result.sound, key=lambda point: point.contention)
    where = f"n = {worst.size:g}, {plural(worst.threads, 'thread')}"
    figures = f"delta_con is at most {worst.contention:.2f} ({where})"
    if worst.contention > max(MUCH, worst.structure):
        return f"Yes: {figures}, more than the graph's part there ({worst.structure:.2f})."
    if worst.contention > MUCH:
        return f"In part: {figures}; the graph's part there is larger ({worst.structure:.2f})."
    return f"No: {figures}."


def _undecided(result: Isoefficiency) -> str:
    """Why nothing can be said of the efficiencies; empty where it can: points on the most threads,
    where losses are largest, must count."""
    if not result.points:
        return "Not known: nothing was measured on several threads."
    most = max(point.threads for point in result.points)
    there = [point for point in result.points if point.threads == most]
    if any(point.sound for point in there):
        return ""
    if any(point.disturbed for point in there):
        return (
            f"Inconclusive: others used the host while it ran on {plural(most, 'thread')}; measure "
            "on a quiet host."
        )
    return f"Inconclusive: the data of {plural(most, 'thread')} are wrong (see open)."


def _room(result: Isoefficiency) -> str:
    undecided = _undecided(result)
    if undecided:
        return undecided
    worst = max(result.sound, key=lambda point: point.structure)
    where = f"n = {worst.size:g}, {plural(worst.threads, 'thread')}"
    figures = f"delta_str is at most {worst.structure:.2f} ({where})"
    if worst.structure > MUCH:
        return (
            f"Yes: {figures}: fewer dependences, another grain of tasks or another scheduler can "
            "win that."
        )
    return f"Hardly: {figures}; the run without contention is near what its graph allows."


def _solutions(solved: dict[str, Solved | None], name: str, none: str) -> str:
    parts = []
    for function, solution in solved.items():
        if solution is None:
            parts.append(f"by {function} not known")
        elif solution.value is None:
            parts.append(f"by {function} {none}")
        else:
            parts.append(
                f"by {function} {name} = {_number(solution.value)} {_band(solution)}".rstrip()
            )
    return "; ".join(parts) + "."


def _forecast(model: FittedModel | None, solution: Solved | None) -> str:
    """That the size by E_ub does not follow from the formula that stands above the answers."""
    if model is None or solution is None or solution.value is None or solution.value >= LARGEST:
        return ""
    formula = float(model.formula_values(np.array([[solution.value]]))[0])
    if abs(model.predict((solution.value,)) - formula) <= SAME * abs(formula):
        return ""
    return (
        f" At n = {_number(solution.value)} pi(n) is forecast by many views of its points, which "
        "its formula explains too little."
    )


def _impossible(solved: dict[str, Solved | None], exceeds: Callable[[float, float], bool]) -> str:
    """A warning where a model of E_ac or E_cf lies above E_ub, as it may beyond its points."""
    bound = solved["E_ub"]
    if bound is None or bound.value is None:
        return ""
    above = [
        name
        for name in ("E_ac", "E_cf")
        if (own := solved[name]) is not None
        and own.value is not None
        and exceeds(own.value, bound.value)
    ]
    if not above:
        return ""
    verb = "models of both exceed" if len(above) == 2 else f"model of {above[0]} exceeds"
    return f" The {verb} E_ub there, which no program does: the answer by E_ub counts."


def _far(solved: dict[str, Solved | None], name: str, most: float) -> str:
    """A warning where an answer lies far beyond the largest that was measured."""
    values = [s.value for s in solved.values() if s is not None and s.value is not None]
    far = [value for value in values if FAR * most < value < LARGEST]
    if not far or not most:
        return ""
    return (
        f" {name} = {_number(max(far))} lies {max(far) / most:.3g} times beyond the largest {name} "
        f"that was measured ({most:g}): a guess, not a forecast."
    )


def _number(value: float) -> str:
    return "unlimited" if value >= LARGEST else f"{value:.4g}"


def _band(solution: Solved) -> str:
    low = "?" if solution.low is None else _number(solution.low)
    high = "?" if solution.high is None else _number(solution.high)
    return "" if low == high else f"({low} to {high} at {solution.level:.0%})"


def isoefficiency_json(
    data: IsoefficiencyData, result: Isoefficiency, efficiency: float, threads: int, size: float
) -> str:
    """The same as JSON, schema `regionpredict/isoefficiency/1`."""
    counts = tuple(sorted({time.threads for time in data.times} | {threads}))
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "command": list(data.command),
        "host": data.host,
        "points": [
            {
                "n": point.size, "threads": point.threads, "E_ac": point.actual,
                "E_cf": point.free, "E_ub": point.bound, "delta_con": point.contention,
                "delta_str": point.structure, "free_by": point.how, "counts": point.sound,
                "error": point.wrong or None,
                **_measured(data.time(point.size, point.threads)),
            }
            for point in result.points
        ],
        "verdicts": dict(zip(
            ("limited", "contention", "structure"),
            (answer for _, answer in isoefficiency_answers(result, efficiency, threads, size)),
            strict=False,
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
        "sizes": {
            "threads": threads,
            **{k: _record(s) for k, s in result.sizes_for(threads, efficiency).items()},
        },
        "threads": {
            "n": size, **{k: _record(s) for k, s in result.threads_for(size, efficiency).items()}
        },
        "contours": [
            {"efficiency": level, "line": [list(pair) for pair in result.contour(level, counts)]}
            for level in CONTOURS
        ],
        "open": list(result.open_),
    }  # fmt: skip
    return json.dumps(document, indent=1) + "\n"


def _surface_record(model: EfficiencySurface | None) -> dict[str, Any] | None:
    """E(p, n) = constant - loss * f(p) + gain * f(p) * g(n); f and g as [power, power of log2]."""
    if model is None:
        return None
    return {
        "constant": model.constant, "loss": model.loss, "gain": model.gain,
        "f": list(model.of_threads), "g": list(model.of_size), "rrmse": model.rrmse,
        "adjusted_r2": model.adjusted_r2,
    }  # fmt: skip


def _graph_record(model: FittedModel | None) -> dict[str, Any] | None:
    """The constant and the terms of a model of the size; n as [power, power of log2]."""
    if model is None:
        return None
    return {
        "constant": model.constant,
        "terms": [
            {"coefficient": coefficient, "n": list(monomial.get(0, (0.0, 0.0)))}
            for coefficient, monomial in model.terms
        ],
        "rrmse": _rrmse(model),
        "adjusted_r2": model.adjusted_r2 if model.terms else None,
    }


def _surfaces_record(result: Isoefficiency, threads: int) -> dict[str, Any] | None:
    """Each function on a grid of threads and sizes, a row a size; None where nothing was measured
    on several threads."""
    if not result.points:
        return None
    most = max([threads, *(point.threads for point in result.points)])
    counts = np.unique(np.geomspace(1, most, _GRID).round())
    measured = [point.size for point in result.points]
    sizes = np.geomspace(min(measured), REACH * max(measured), _GRID)
    return {
        "threads": counts.tolist(), "n": sizes.tolist(),
        **{
            name: None if values is None else values.tolist()
            for name, values in efficiency_surfaces(result, counts, sizes).items()
        },
    }  # fmt: skip


def _measured(time: SizeTime | None) -> dict[str, Any]:
    """Seconds, processor time, and what others on the host did."""
    if time is None:
        return {"seconds": None, "cpu_s": None, "host": None}
    return {
        "seconds": time.mean_s, "cpu_s": time.mean_cpu_s,
        "host": None if time.host is None else asdict(time.host),
    }  # fmt: skip


def _record(solution: Solved | None) -> dict[str, float | None] | None:
    if solution is None:
        return None
    return {
        "value": solution.value, "low": solution.low, "high": solution.high, "level": LEVEL
    }  # fmt: skip
