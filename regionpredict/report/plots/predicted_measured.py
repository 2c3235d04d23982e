"""Predicted and measured speedup of each region, at the largest measured number of threads.

A region on the diagonal is as fast as predicted. Bars are the interval of the hint. The marks are
those of `areas.py`: dots are right hints, triangles are wrong ones, and hollow marks are not
judged. The regions farthest from the diagonal are labeled with their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from regionpredict.compare.verdicts import Comparison, Verdict
from regionpredict.report.plots.canvas import (
    BLUE,
    VERMILION,
    dress,
    legend_below,
    new_figure,
    plain,
)
from regionpredict.report.quantities import plural

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIDE_IN = 4.6
_NAMED = 3  # regions with their places
_FAR = 0.1  # of the measured speedup: nearer to the diagonal none is named


def speedups_figure(comparison: Comparison) -> Figure:
    """Regions without both speedups are left out. Both axes start at 0 and have the same scale."""
    most = max(n for verdict in comparison.counted for n in verdict.times)
    points = both_speedups(comparison, most)
    figure = new_figure(_SIDE_IN, _SIDE_IN)
    axes = figure.add_subplot()
    highest = [max(predicted, measured) for predicted, measured, _ in points]
    end = 1.1 * max([1.0, *highest])
    axes.plot([0, end], [0, end], color="0.6", linewidth=1.0, label="as predicted", gid="diagonal")
    for right, colour, marker, label in (
        (True, BLUE, "o", "right hint"), (False, VERMILION, "^", "wrong hint"),
        (None, "0.45", "o", "not judged"),
    ):  # fmt: skip
        own = [point for point in points if point[2].right is right]
        if not own:
            continue
        for predicted, measured, verdict in own:
            low, high = verdict.hint.band.get(most, (predicted, predicted))
            axes.plot([low, min(high, end)], [measured] * 2, color=colour, linewidth=0.8,
                      alpha=0.5, gid="band")  # fmt: skip
        x, y, _ = zip(*own, strict=True)
        axes.plot(
            x, y, marker, color=colour, markersize=5.5, markeredgewidth=0.5, alpha=0.85, zorder=3,
            markerfacecolor="none" if right is None else colour, label=label,
            markeredgecolor=colour if right is None else "white",
        )  # fmt: skip
    for predicted, measured, verdict in _farthest(points):
        name = f"{PurePath(verdict.hint.file).name}:{verdict.hint.line}"
        beside = -4 if predicted > end / 2 else 4
        axes.annotate(
            plain(name, 30), (predicted, measured), xytext=(beside, 5), fontsize=6.5,
            textcoords="offset points", ha="right" if beside < 0 else "left",
        )  # fmt: skip
    axes.set_xlim(0, end)
    axes.set_ylim(0, end)
    axes.set_aspect("equal")
    axes.set_xlabel("predicted speedup")
    axes.set_ylabel("measured speedup")
    title = f"{comparison.hints.model} model on {comparison.hints.machine}"
    subtitle = f"{plural(len(points), 'region')} on {plural(most, 'thread')}"
    axes.set_title(f"{plain(title)}\n{subtitle}", fontsize=9, loc="left")
    dress(axes)
    legend_below(figure, 4)
    return figure


def both_speedups(comparison: Comparison, most: int) -> list[tuple[float, float, Verdict]]:
    """Predicted and measured speedup on `most` threads, for each region that has both."""
    return [
        (verdict.predicted_speedup[most], verdict.measured_speedup[most], verdict)
        for verdict in comparison.counted
        if most in verdict.predicted_speedup and most in verdict.measured_speedup
    ]


def _farthest(
    points: Sequence[tuple[float, float, Verdict]],
) -> list[tuple[float, float, Verdict]]:
    far = [point for point in points if abs(point[0] - point[1]) > _FAR * point[1]]
    return sorted(far, key=lambda point: -abs(point[0] - point[1]))[:_NAMED]
