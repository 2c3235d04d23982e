"""Draws speedup curves over threads, with the machine's packages in the background."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from regionpredict.errors import InputError
from regionpredict.machine import Machine, cores_filled_first
from regionpredict.predict import BAND_SHARE, Prediction, Recommendation, TeamPrediction
from regionpredict.report.document import Drawing
from regionpredict.report.html.blocks import curve, line, marks
from regionpredict.report.quantities import plural, threads_text

_MOST_CURVES = 5  # each has its own color, and hints have the sixth
_WITH_BANDS = 3
"""Maximum number of curves with bands that can be distinguished."""
_SAME = 0.02
"""Curves whose speedups differ by less share one line."""
_BAND = f"{100 * BAND_SHARE.value:.0f} %"


def region_speedup(prediction: Prediction, machine: Machine) -> Drawing:
    """Draws the speedup of one loop with its interval, and its hint."""
    intervals = zip(prediction.speedup, prediction.band, strict=bool(prediction.band))
    band = [(threads, low, high) for (threads, _), (low, high) in intervals]
    mark = None
    if prediction.threads is not None:
        mark = {"x": prediction.threads, "label": f"hint: {prediction.threads}"}
    series = [line("speedup", prediction.speedup, band)]
    return _curve_chart("Speedup", machine, int(prediction.speedup[-1][0]), series, mark)


def whole_speedup(hint: Recommendation, machine: Machine) -> Drawing:
    """Draws the speedup of the whole program, with the recommended threads and their interval."""
    alone = hint.speedup * (hint.seconds or 0.0)
    points = [(threads, alone / seconds) for threads, seconds in hint.curve]
    bars = [(hint.threads, hint.low, hint.high)]
    interval = marks(f"{_BAND} interval", [(hint.threads, hint.speedup)], colour=1, bars=bars)
    series = [line("the whole program", points), interval]
    mark = {"x": hint.threads, "label": f"recommended: {hint.threads}"}
    return _curve_chart("Speedup of the whole program", machine, points[-1][0], series, mark)


def program_speedup(teams: Sequence[TeamPrediction], machine: Machine) -> Drawing:
    """Draws the speedup over threads for the most expensive parallel regions.

    A loop without an enclosing parallel region counts as one. Identical curves are drawn once.
    Raises `InputError` if no parallel region has a curve.
    """
    groups = _curve_groups([team for team in teams if len(team.speedup) > 1])
    if not groups:
        raise InputError(
            "no curve to draw", remedy="give the sizes that the regions need (--set), or --model "
            "saturation"
        )  # fmt: skip
    shown = groups[:_MOST_CURVES]
    series = [
        line(
            _curve_label(group), [(point.threads, point.value) for point in group[0].speedup],
            [(point.threads, point.low, point.high) for point in group[0].speedup]
            if len(shown) <= _WITH_BANDS else (),
        )
        for group in shown
    ]  # fmt: skip
    hints = {
        (point.threads, point.value): None
        for (team, *_) in shown for point in team.speedup if point.threads == team.threads
    }  # fmt: skip
    series.append(marks("hint", hints, colour=len(shown)))
    left_out = sum(len(group) for group in groups[len(shown) :])
    title = f"Speedup of parallel regions on {machine.name}"
    if left_out:
        title += f"; {plural(left_out, 'region')} with less time left out"
    return _curve_chart(
        title, machine, max(team.speedup[-1].threads for (team, *_) in shown), series
    )


def _curve_chart(
    title: str, machine: Machine, last: int, series: Sequence[Drawing],
    mark: Drawing | None = None,
) -> Drawing:  # fmt: skip
    """Draws curves. The packages are shown if they are filled one after the other."""
    each = machine.cores_per_package
    one_by_one = cores_filled_first(machine) == each
    zones = [
        {"from": max(1, at * each + 0.5), "to": min((at + 1) * each + 0.5, last),
         "label": f"package {at + 1}", "short": str(at + 1)}
        for at in range(machine.packages) if at * each + 0.5 < last
    ] if one_by_one and machine.packages > 1 else []  # fmt: skip
    x = "threads" if one_by_one else "threads, over all packages"
    banded = any(one["band"] for one in series if "band" in one)
    return curve(title, x, "times faster", series, zones=zones, mark=mark,
                 band=f"{_BAND} of measured speedups are inside" if banded else None)  # fmt: skip


def _curve_groups(teams: Sequence[TeamPrediction]) -> list[list[TeamPrediction]]:
    """Groups parallel regions with the same hint and indistinguishable curves, sorted by time."""
    groups: list[list[TeamPrediction]] = []
    for team in sorted(teams, key=lambda team: -(team.total_seconds or 0.0)):
        for group in groups:
            if _are_indistinguishable(group[0], team):
                group.append(team)
                break
        else:
            groups.append([team])
    return sorted(groups, key=lambda group: -sum(team.total_seconds or 0.0 for team in group))


def _are_indistinguishable(first: TeamPrediction, other: TeamPrediction) -> bool:
    if (first.packages, first.threads) != (other.packages, other.threads):
        return False
    mine, theirs = ([(p.threads, p.value) for p in team.speedup] for team in (first, other))
    return len(mine) == len(theirs) and all(
        a == b and abs(x - y) <= _SAME * max(x, y)
        for (a, x), (b, y) in zip(mine, theirs, strict=True)
    )


def _curve_label(group: Sequence[TeamPrediction]) -> str:
    """Returns a label such as `2mm.c:49 kernel_2mm: 4 packages, 24 threads`."""
    team = group[0]
    facts = team.facts
    name = f"{PurePath(facts.span.file).name}:{facts.span.line} {facts.function}"
    if len(group) > 1:
        name += f" and {len(group) - 1} similar"
    hint = "no hint" if team.packages is None else threads_text(team.packages, team.threads)
    return f"{name}: {hint}"
