"""Speedup curves of parallel regions, with the machine's packages in the background."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from regionpredict.errors import InputError
from regionpredict.machine import Machine, cores_filled_first
from regionpredict.predict import TeamPrediction
from regionpredict.report.plots.canvas import (
    COLOURS,
    DASHES,
    MARKERS,
    dress,
    legend_below,
    new_figure,
    plain,
)
from regionpredict.report.quantities import plural, seats_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WITH_BANDS = 3
"""Maximum number of curves with bands that can be distinguished."""
_SAME = 0.02
"""Curves whose speedups differ by less share one line."""
_MOST_TICKS = 9


def speedup_figure(teams: Sequence[TeamPrediction], machine: Machine) -> Figure:
    """Speedup over threads for the most expensive parallel regions, limited by the number of
    colors.

    A loop without an enclosing parallel region counts as one. Identical curves are drawn once. The
    mark on a curve is its hint. A band contains measured speedups with the given probability.
    Shaded areas are the packages of the threads, if packages are filled one after the other. Raises
    `InputError` if no parallel region has a curve.
    """
    groups = _groups([team for team in teams if len(team.speedup) > 1])
    if not groups:
        raise InputError(
            "no curve to draw", remedy="give the sizes that the regions need (--set), or --model "
            "saturation"
        )  # fmt: skip
    shown = groups[: len(COLOURS)]
    figure = new_figure(5.6, 3.3 + 0.17 * len(shown))
    axes = figure.add_subplot()
    for k, group in enumerate(shown):
        _draw(axes, group, k, band=len(shown) <= _WITH_BANDS)
    last = max(point.threads for group in shown for point in group[0].speedup)
    top = max(point.value for group in shown for point in group[0].speedup)
    axes.plot(
        [1, last],
        [1, last],
        color="0.55",
        linewidth=0.9,
        linestyle=(0, (1, 2)),
        zorder=1,
        label="as many times as threads",
    )
    axes.set_xlim(1, max(last, 2))
    axes.set_ylim(0, 1.12 * min(max(top, 1.5), 4.0 * last))
    _packages(axes, machine, last)
    ticks = _ticks(machine, last)
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_xlabel("threads" + ("" if _one_after_the_other(machine) else ", over all packages"))
    axes.set_ylabel("speedup over one thread")
    left_out = sum(len(group) for group in groups[len(shown) :])
    title = plain(machine.name)
    if left_out:
        title += f"; {plural(left_out, 'team')} with less time left out"
    axes.set_title(title, fontsize=9, loc="left", pad=16)
    dress(axes)
    legend_below(figure, 1)
    return figure


def _groups(teams: Sequence[TeamPrediction]) -> list[list[TeamPrediction]]:
    """Parallel regions with the same hint and indistinguishable curves, grouped, and sorted by
    time.
    """
    groups: list[list[TeamPrediction]] = []
    for team in sorted(teams, key=lambda team: -_seconds(team)):
        for group in groups:
            if _alike(group[0], team):
                group.append(team)
                break
        else:
            groups.append([team])
    return sorted(groups, key=lambda group: -sum(map(_seconds, group)))


def _alike(first: TeamPrediction, other: TeamPrediction) -> bool:
    if (first.packages, first.threads) != (other.packages, other.threads):
        return False
    mine, theirs = ([(p.threads, p.value) for p in team.speedup] for team in (first, other))
    return len(mine) == len(theirs) and all(
        a == b and abs(x - y) <= _SAME * max(x, y)
        for (a, x), (b, y) in zip(mine, theirs, strict=True)
    )


def _seconds(team: TeamPrediction) -> float:
    """The time of all its executions on one thread."""
    return (team.seconds or 0.0) * team.facts.executions.weight


def _draw(axes: Axes, group: Sequence[TeamPrediction], k: int, *, band: bool) -> None:
    team = group[0]
    threads = np.array([point.threads for point in team.speedup])
    speedups = np.array([point.value for point in team.speedup])
    axes.plot(
        threads, speedups, color=COLOURS[k], linestyle=DASHES[k], linewidth=1.6, label=_label(group)
    )
    if band:
        low = [point.low for point in team.speedup]
        high = [point.high for point in team.speedup]
        axes.fill_between(threads, low, high, color=COLOURS[k], alpha=0.15, linewidth=0, gid="band")
    hinted = [point for point in team.speedup if point.threads == team.threads]
    for point in hinted:
        axes.plot(
            point.threads, point.value, MARKERS[k], color=COLOURS[k], markersize=7, zorder=4,
            markeredgecolor="white", markeredgewidth=0.8, clip_on=False, gid="hint",
        )  # fmt: skip


def _label(group: Sequence[TeamPrediction]) -> str:
    """`2mm.c:49 kernel_2mm: 4 packages, 24 threads`."""
    team = group[0]
    facts = team.facts
    name = f"{PurePath(facts.span.file).name}:{facts.span.line} {facts.function}"
    if len(group) > 1:
        name += f" and {len(group) - 1} alike"
    hint = "no hint" if team.packages is None else seats_text(team.packages, team.threads)
    return plain(f"{name}: {hint}", 80)


def _one_after_the_other(machine: Machine) -> bool:
    """Whether threads fill a package before they use another one."""
    return cores_filled_first(machine) == machine.cores_per_package


def _packages(axes: Axes, machine: Machine, last: int) -> None:
    """A shaded area and a label for each package that the threads use."""
    if machine.packages == 1 or not _one_after_the_other(machine):
        return
    for number in range(machine.packages):
        begin = number * machine.cores_per_package
        end = min(begin + machine.cores_per_package, last)
        if begin >= last:
            return
        left, right = begin + 0.5 if number else 1.0, end + 0.5
        axes.axvspan(
            left, right, color="0.5", alpha=0.10 if number % 2 else 0.03, linewidth=0, zorder=0,
            gid="package",
        )  # fmt: skip
        few = machine.packages <= 4
        axes.annotate(
            f"package {number + 1}" if few else str(number + 1),
            ((left + min(right, last)) / 2, 1.0), xycoords=("data", "axes fraction"),
            xytext=(0, 3), textcoords="offset points", ha="center", va="bottom", fontsize=7.5,
            color="0.35",
        )  # fmt: skip


def _ticks(machine: Machine, last: int) -> list[int]:
    """The ticks: 1 and whole packages, or equal steps on a machine with one package."""
    step = machine.cores_per_package
    if step >= last or machine.packages == 1:
        step = max(1, -(-last // _MOST_TICKS))
    elif last // step < 3:
        step = max(1, step // 2)
    elif last // step > _MOST_TICKS:
        step *= -(-(last // step) // _MOST_TICKS)
    return sorted({1, *range(step, last + 1, step)})
