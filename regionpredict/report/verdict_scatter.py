"""Draws comparisons: speedups, and scores with decision areas."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regionpredict.compare.verdicts import Comparison, Verdict
from regionpredict.report.document import Drawing
from regionpredict.report.names import common_folder
from regionpredict.report.quantities import plural, show_percent

_NAMED = 3  # maximum labeled regions
_FAR = 0.1  # share of the measured speedup: nearer to the diagonal, no region is labeled
KINDS = {True: "right", False: "wrong", None: "not judged"}


def speedup_scatter(comparison: Comparison) -> Drawing:
    """Draws predicted over measured speedup of each region on the most measured threads.

    On the diagonal, they are equal. Bars are the intervals of the hints. The regions farthest from
    the diagonal are labeled. Regions without both speedups are left out.
    """
    most = max((n for verdict in comparison.counted for n in verdict.times), default=1)
    folder = common_folder([verdict.hint.file for verdict in comparison.counted])
    points: list[Drawing] = []
    for verdict in sorted(comparison.counted, key=lambda own: list(KINDS).index(own.right)):
        predicted = verdict.predicted_speedup.get(most)
        measured = verdict.measured_speedup.get(most)
        if predicted is not None and measured is not None:
            points.append({
                "name": verdict.hint.id.removeprefix(folder), "x": measured, "y": predicted,
                "kind": KINDS[verdict.right],
                "band": list(verdict.hint.band.get(most, (predicted, predicted))),
            })  # fmt: skip
    far = [point for point in points if abs(point["x"] - point["y"]) > _FAR * point["x"]]
    for point in sorted(far, key=lambda point: -abs(point["x"] - point["y"]))[:_NAMED]:
        point["named"] = point["name"]
    end = max([1.0, *(max(point["x"], point["y"]) for point in points)])
    title = f"Speedups of {plural(len(points), 'region')} on {plural(most, 'thread')}"
    return {
        "kind": "scatter", "title": f"{title}, {_model_name(comparison)}",
        "x": "measured speedup", "y": "predicted speedup", "points": points, "kinds": "hint",
        "order": list(KINDS.values()),
        "lines": [{"name": "as predicted", "points": [[0, 0], [end, end]]}],
    }  # fmt: skip


def utilisation_scatter(comparison: Comparison) -> Drawing:
    """Draws score and measured utilization of each judged region that has both, in percent.

    After Chatzopoulos 2012, figures 6.3 to 6.7. Each axis is divided into as many decision areas as
    packages were measured.
    """
    judged = scored(comparison)
    count = max(2, comparison.options[-1] if comparison.unit == "packages" else 1)
    side = 100 / count
    points = [
        {"name": verdict.hint.id, "x": 100 * score, "y": 100 * utilisation,
         "kind": KINDS[verdict.right is not False]}
        for score, utilisation, verdict in sorted(judged, key=lambda own: own[2].right is False)
    ]  # fmt: skip
    trend = _trend_ends([(x, y) for x, y, _ in judged])
    rate = "no region judged that has a score"
    if judged:
        right = sum(verdict.right is True for _, _, verdict in judged)
        share = show_percent(right / len(judged))
        rate = f"{right} of {plural(len(judged), 'region')} right ({share})"
    return {
        "kind": "scatter", "title": f"{rate}, {_model_name(comparison)}",
        "x": "score (%)", "y": "utilization (%)", "points": points, "kinds": "hint",
        "order": list(KINDS.values()),
        "areas": [[k * side, (k + 1) * side] for k in range(count)],
        "lines": [{"name": "trend", "points": trend}] if trend else [],
    }  # fmt: skip


def scored(comparison: Comparison) -> list[tuple[float, float, Verdict]]:
    """Returns score and utilization (0 to 1) of each judged region that has both."""
    return [
        (verdict.hint.score, min(verdict.utilisation, 1.0), verdict)
        for verdict in comparison.judged
        if verdict.hint.score is not None and verdict.utilisation is not None
    ]


def _model_name(comparison: Comparison) -> str:
    return f"{comparison.hints.model} model on {comparison.hints.machine}"


def _trend_ends(points: Sequence[tuple[float, float]]) -> list[list[float]]:
    """Returns the ends of the least-squares line inside the square, in percent. Empty for fewer
    than two different scores.

    >>> _trend_ends([(0.0, 0.25), (1.0, 0.75)])
    [[0.0, 25.0], [100.0, 75.0]]
    """
    if len({x for x, _ in points}) < 2:
        return []
    line = np.polyfit([x for x, _ in points], [y for _, y in points], 1)
    slope, intercept = float(line[0]), float(line[1])
    ends = []
    for x in (0.0, 1.0):
        y = min(max(intercept + slope * x, 0.0), 1.0)
        inside = min(max((y - intercept) / slope, 0.0), 1.0) if slope else x
        ends.append([round(100 * inside, 6), round(100 * y, 6)])
    return ends
