"""Answers the five questions of an isoefficiency campaign in words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from regionpredict.fit.laws.efficiency_surface import LARGEST, Solution
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.report.call_tree import growth_text
from regionpredict.report.quantities import plural, show_share, show_size
from regionpredict.tasks.isoefficiency.models import MUCH, NOISE, EfficiencyPoint, Isoefficiency

FAR = 10
"""An answer beyond this factor of the measured range is marked as a guess. Assumed: an order of
magnitude.
"""
SAME = 0.01  # relative difference below which a forecast is not mentioned


def isoefficiency_answers(
    result: Isoefficiency, efficiency: float, threads: int, size: float
) -> list[tuple[str, str]]:
    """Returns the five questions with their answers."""
    sizes = result.sizes_for(threads, efficiency)
    counts = result.threads_for(size, efficiency)
    return [
        ("Is the algorithm limited?", _limit_answer(result)),
        ("Is contention the cause?", _contention_answer(result)),
        ("Is there room in the graph?", _room_answer(result)),
        (
            f"Which n keeps E = {efficiency:g} on {plural(threads, 'thread')}?",
            _solution_text(sizes, "n", "no size")
            + _forecast_note(result.parallelism, sizes["E_ub"])
            + _warning_if_far(sizes, "n", max((point.size for point in result.sound), default=0))
            + _bound_warning(sizes, lambda own, bound: own < bound * (1 - NOISE)),
        ),
        (
            f"How many threads keep E = {efficiency:g} at n = {show_size(size)}?",
            _solution_text(counts, "p", "not even one")
            + _warning_if_far(
                counts, "p", max((point.threads for point in result.sound), default=0)
            )
            + _bound_warning(counts, lambda own, bound: own > bound * (1 + NOISE)),
        ),
    ]


def _limit_answer(result: Isoefficiency) -> str:
    if result.scalability_bug is None or result.depth is None or result.parallelism is None:
        if any(point.disturbed for point in result.points):
            return "Inconclusive: other processes used the host while graphs were recorded."
        return "Not known: too few sizes."
    depth, parallelism = (
        growth_text(model.leading_term, ["n"]) if model.leading_term else "a constant"
        for model in (result.depth, result.parallelism)
    )
    if result.scalability_bug:
        return (
            f"Yes, a scalability bug: the average parallelism grows as {parallelism}, more slowly "
            f"than the depth ({depth})."
        )
    if not result.parallelism.leading_term:
        return (
            "Not in the measured range: neither the average parallelism nor the depth grows in it."
        )
    return (
        f"No: the average parallelism grows as {parallelism}, no more slowly than the depth "
        f"({depth})."
    )


def _contention_answer(result: Isoefficiency) -> str:
    undecided = _inconclusive_reason(result)
    if undecided:
        return undecided
    worst = max(result.sound, key=lambda point: point.contention)
    figures = f"delta_con is at most {worst.contention:.2f} ({_point_text(worst)})"
    if worst.contention > max(MUCH, worst.structure):
        return f"Yes: {figures}, more than the graph's part there ({worst.structure:.2f})."
    if worst.contention > MUCH:
        return f"In part: {figures}. The graph's part there is larger ({worst.structure:.2f})."
    return f"No: {figures}."


def _point_text(point: EfficiencyPoint) -> str:
    return f"n = {show_size(point.size)}, {plural(point.threads, 'thread')}"


def _inconclusive_reason(result: Isoefficiency) -> str:
    """Returns the reason why the efficiencies are inconclusive, empty if they are not.

    Points at the largest numbers of threads must count, since losses are largest there.
    """
    if not result.points:
        return "Not known: nothing was measured on several threads."
    most = max(point.threads for point in result.points)
    there = [point for point in result.points if point.threads == most]
    if any(point.sound for point in there):
        return ""
    if any(point.disturbed for point in there):
        return (
            f"Inconclusive: other processes used the host while it ran on "
            f"{plural(most, 'thread')}. Measure "
            "on a quiet host."
        )
    return f"Inconclusive: the data of {plural(most, 'thread')} are wrong (see open)."


def _room_answer(result: Isoefficiency) -> str:
    undecided = _inconclusive_reason(result)
    if undecided:
        return undecided
    worst = max(result.sound, key=lambda point: point.structure)
    figures = f"delta_str is at most {worst.structure:.2f} ({_point_text(worst)})"
    if worst.structure > MUCH:
        return (
            f"Yes: {figures}. Fewer dependences, another task size or another scheduler can "
            "regain it."
        )
    return f"Hardly: {figures}. The run without contention is near what its graph allows."


def _solution_text(solved: dict[str, Solution | None], name: str, none: str) -> str:
    parts = []
    for function, solution in solved.items():
        if solution is None:
            parts.append(f"by {function} not known")
        elif solution.value is None:
            parts.append(f"by {function} {none}")
        else:
            low, high = ("?" if end is None else _shown(end)
                         for end in (solution.low, solution.high))  # fmt: skip
            band = "" if low == high else f" ({low} to {high} at {show_share(solution.level)})"
            parts.append(f"by {function} {name} = {_shown(solution.value)}{band}")
    return "; ".join(parts) + "."


def _forecast_note(model: FittedModel | None, solution: Solution | None) -> str:
    """Returns a sentence if forecasters, not the formula of pi(n), give the size by E_ub."""
    if model is None or solution is None or solution.value is None or solution.value >= LARGEST:
        return ""
    formula = float(model.formula_values(np.array([[solution.value]]))[0])
    if abs(model.predict((solution.value,)) - formula) <= SAME * abs(formula):
        return ""
    return (
        f" At n = {_shown(solution.value)} pi(n) is the mean of several forecasts, since its "
        "formula fits the points too poorly."
    )


def _bound_warning(
    solved: dict[str, Solution | None], exceeds: Callable[[float, float], bool]
) -> str:
    """Warns if a model of E_ac or E_cf exceeds E_ub, as can happen beyond the points."""
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
    return f" The {verb} E_ub there, which is impossible: use the answer for E_ub."


def _warning_if_far(solved: dict[str, Solution | None], name: str, most: float) -> str:
    values = [s.value for s in solved.values() if s is not None and s.value is not None]
    far = [value for value in values if FAR * most < value < LARGEST]
    if not far or not most:
        return ""
    return (
        f" {name} = {_shown(max(far))} is {show_size(max(far) / most, 3)} times beyond the "
        f"largest {name} that was measured ({show_size(most)}): a guess, not a forecast."
    )


def _shown(value: float) -> str:
    return "unlimited" if value >= LARGEST else show_size(value, 4)
