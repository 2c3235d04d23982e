"""The scatter of score against utilisation, with areas of decision and trend line.

After Chatzopoulos 2012, figures 6.3 to 6.7: a dot is a right hint, a triangle a wrong one. Each
axis is divided into as many decision areas as packages were measured. Regions that are not judged
are not drawn, and do not affect the trend line.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def areas_figure(comparison: Comparison) -> Figure:
    """Regions without a score or utilization are left out. Both axes are in percent."""
    from matplotlib.patches import Rectangle

    areas = max(2, comparison.options[-1] if comparison.unit == "packages" else 1)
    points = drawn(comparison)
    figure = new_figure(_SIDE_IN, _SIDE_IN)
    axes = figure.add_subplot()
    side = 100 / areas
    for k in range(areas):
        axes.add_patch(
            Rectangle((k * side, k * side), side, side, facecolor="0.93", edgecolor="none",
                      label="area of decision" if not k else None, gid="area")
        )  # fmt: skip
    for right, colour, marker, label in (
        (True, BLUE, "o", "right hint"), (False, VERMILION, "^", "wrong hint"),
    ):  # fmt: skip
        own = [(100 * x, 100 * y) for x, y, v in points if (v.right is not False) == right]
        if own:
            x, y = zip(*own, strict=True)
            axes.plot(
                x, y, marker, color=colour, markersize=5.5, markeredgecolor="white",
                markeredgewidth=0.5, alpha=0.85, clip_on=False, zorder=3, label=label,
            )  # fmt: skip
    trend = _trend([(x, y) for x, y, _ in points])
    if trend is not None:
        ends = _within(*trend)
        axes.plot(
            [100 * x for x, _ in ends], [100 * y for _, y in ends], color="0.3", linewidth=1.1,
            linestyle="--", label="trend",
        )  # fmt: skip
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 100)
    axes.set_aspect("equal")
    ticks = [k * side for k in range(areas + 1)]
    for set_ticks in (axes.set_xticks, axes.set_yticks):
        set_ticks(ticks, [f"{tick:.0f}" for tick in ticks])
    axes.set_xlabel("score (%)")
    axes.set_ylabel("utilisation (%)")
    title = f"{comparison.hints.model} model on {comparison.hints.machine}"
    axes.set_title(f"{plain(title)}\n{_success(points)}", fontsize=9, loc="left")
    dress(axes)
    legend_below(figure, 4)
    return figure


def drawn(comparison: Comparison) -> list[tuple[float, float, Verdict]]:
    """Score and utilization (0 to 1) of each judged region that has both."""
    return [
        (verdict.hint.score, min(verdict.utilisation, 1.0), verdict)
        for verdict in comparison.judged
        if verdict.hint.score is not None and verdict.utilisation is not None
    ]


def _success(points: Sequence[tuple[float, float, Verdict]]) -> str:
    """The success rate of the drawn regions: `80.0 % right: 4 of 5 regions`."""
    if not points:
        return "no region judged that has a score"
    right = sum(verdict.right is True for _, _, verdict in points)
    return f"{100 * right / len(points):.1f} % right: {right} of {plural(len(points), 'region')}"


def _trend(points: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Intercept and slope of the least-squares line; None for fewer than two different scores.

    >>> _trend([(0.0, 0.25), (1.0, 0.75)])
    (0.25, 0.5)
    """
    if len({x for x, _ in points}) < 2:
        return None
    count = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum(
        (x - mean_x) ** 2 for x, _ in points
    )
    return mean_y - slope * mean_x, slope


def _within(intercept: float, slope: float) -> list[tuple[float, float]]:
    """The ends of the line inside the unit square."""
    ends = []
    for x in (0.0, 1.0):
        y = min(max(intercept + slope * x, 0.0), 1.0)
        ends.append((x if not slope else min(max((y - intercept) / slope, 0.0), 1.0), y))
    return ends
