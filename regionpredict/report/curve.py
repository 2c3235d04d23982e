"""The derivation of one region's hint by the saturation model: traffic, reuse, time terms, and a
text plot.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.machine import Machine
from regionpredict.predict import (
    BAND_SHARE,
    Advice,
    Bounds,
    Point,
    Prediction,
    SaturationDerivation,
    TeamPrediction,
)
from regionpredict.report.advice import advice_lines
from regionpredict.report.doubts import why_this_confidence
from regionpredict.report.names import several
from regionpredict.report.other_names import other_names
from regionpredict.report.page_width import wrapped
from regionpredict.report.quantities import plural, show_bytes, show_seconds, show_times
from regionpredict.report.reuse import explain_reuse
from regionpredict.report.size_hints import range_sentence, size_sentence
from regionpredict.report.working_set import working_set_line
from regionpredict.workload import LevelTraffic

_ROWS = 10
_COLUMNS = 60
_TABLE = 16


def explain_curve(
    prediction: Prediction, derivation: SaturationDerivation, machine: Machine,
    team: TeamPrediction | None, advice: Sequence[Advice] = (), planned: Sequence[str] = (),
) -> str:  # fmt: skip
    """The hint and its complete derivation as text.

    `team` is the region's parallel region if it has several loops. `advice` are source changes, and
    `planned` are the differences in a program's plan.
    """
    region = prediction.facts.region
    lines = [f"{region.id}  omp {region.directive} in {region.function}"]
    lines += _hint(prediction, derivation)
    sentence = size_sentence(prediction.by_size, whole=True)
    lines += [f"By size: {sentence}"] if sentence else []
    lines += team_hint(team) if team is not None else []
    lines += planned
    lines += advice_lines(advice)
    lines += ["", *plot(prediction.speedup, prediction.band)]
    lines += _terms(derivation.points)
    lines += _hardware_threads(derivation, machine)
    lines += ["", f"Iterations shared among the threads: {prediction.facts.iterations}"]
    lines.append(working_set_line(prediction.facts))
    lines += [f"  assumed: {line}" for line in prediction.assumed]
    lines += ["", "In the core, data in the first cache"]
    lines += [f"  {note}" for note in derivation.core.notes]
    lines.append(
        f"  arithmetic, recurrences, issue {show_seconds(derivation.core.overlapping)}; "
        f"loads and stores {show_seconds(derivation.core.loading)} on one thread"
    )
    lines += _traffic("one thread", derivation.levels, machine)
    lines += _traffic(plural(machine.cores, "thread"), derivation.full_levels, machine)
    lines += explain_reuse(prediction.facts, machine.line_bytes)
    pages = derivation.first_touch
    pages = "interleaved" if pages == "interleave" else f"{pages} first touch"
    lines += ["", f"Pages: {pages} ({derivation.placement_reason})"]
    if machine.binding == "caches":
        lines.append("Threads: one for each second-level cache first")
    elif machine.binding == "spread":
        lines.append("Threads: spread over packages (OMP_PROC_BIND=spread)")
    elif machine.binding != "close":
        lines.append(f"Threads: OMP_PLACES='{machine.binding}'")
    if derivation.past:
        most = plural(derivation.points[-1].threads, "thread")
        lines.append(f"Cache contents before the run on {most}: {derivation.past}")
    if prediction.diagnostics:
        lines += ["", "Notes"] + [f"  {note}" for note in prediction.diagnostics]
    lines += other_names([prediction], "\n".join(lines))
    return "\n".join(wrapped(lines)) + "\n"


def _traffic(who: str, levels: Sequence[LevelTraffic], machine: Machine) -> list[str]:
    lines = ["", f"Data moved by {who}"]
    names = [f"L{cache.level}" for cache in machine.caches] + ["memory"]
    for position, level in enumerate(levels):
        lines.append(
            f"  {names[position]} <-> {names[position + 1]}: {show_bytes(level.total)} "
            f"({show_bytes(level.read)} in, {show_bytes(level.written)} back)"
        )
        alike: dict[str, list[str]] = {}
        for array in level.arrays:
            loop, window = array.carrier
            why = "no loop's reuse fits"
            if loop is not None:
                why = f"reuse along {loop} hits, {show_bytes(window)} per iteration"
            moved = f"{show_bytes(array.read)} in, {show_bytes(array.written)} back; {why}"
            alike.setdefault(moved, []).append(array.array)
        for moved, arrays in alike.items():
            each = "each " if len(arrays) > 1 else ""
            lines.append(f"    {several(arrays)}: {each}{moved}")
        if not level.arrays:
            lines.append("    nothing: all of it stays in the cache")
    return lines


def _terms(points: Sequence[Point]) -> list[str]:
    lines = ["", "Time by threads (share of each term)"]
    lines.append("  threads       time speedup  compute cache memory imbal. overh. serial")
    for point in _chosen(points):
        total = point.seconds or 1.0
        shares = [
            100 * point.terms[name] / total
            for name in ("compute", "cache", "memory-bandwidth", "imbalance", "overhead",
                         "serialization")
        ]  # fmt: skip
        row = f"{shares[0]:6.0f} % {shares[1]:3.0f} % {shares[2]:4.0f} %"
        row += "".join(f" {share:4.0f} %" for share in shares[3:])
        lines.append(
            f"  {point.threads:>7} {show_seconds(point.seconds):>10} "
            f"{show_times(point.speedup, 2):>7} {row}"
        )
    return lines


def _chosen(points: Sequence[Point]) -> list[Point]:
    if len(points) <= _TABLE:
        return list(points)
    step = (len(points) - 1) / (_TABLE - 1)
    return [points[round(k * step)] for k in range(_TABLE)]


def plot(speedup: Sequence[tuple[int, float]], band: Sequence[Bounds] = ()) -> list[str]:
    """The speedup curve as a small plot, with dots at the ends of its interval.

    >>> print("\\n".join(plot([(1, 1.0), (2, 2.0)])[-2:]))
            +-------------------------------------------------------------
             1                                                 threads   2
    """
    if not speedup:
        return []
    top = max([value for _, value in speedup] + [bounds.high for bounds in band])
    last, first = speedup[-1][0], speedup[0][0]
    wide = max(1, last - first)
    cells = [[" "] * (_COLUMNS + 1) for _ in range(_ROWS)]
    ends = [(threads, end, ".") for (threads, _), bounds in zip(speedup, band, strict=bool(band))
            for end in bounds]  # fmt: skip
    for threads, value, mark in (*ends, *((*point, "*") for point in speedup)):
        row = min(_ROWS - 1, max(0, round(value / top * _ROWS) - 1))
        cells[_ROWS - 1 - row][round((threads - first) / wide * _COLUMNS)] = mark
    share = f"{100 * BAND_SHARE.value:.0f} %"
    lines = [f"Speedup (*) with {share} interval (.)" if band
             else "Speedup"]  # fmt: skip
    for number, row_cells in enumerate(cells):
        level = top * (_ROWS - number) / _ROWS
        lines.append(f"{show_times(level, 2):>7} |" + "".join(row_cells).rstrip())
    lines.append(" " * 8 + "+" + "-" * (_COLUMNS + 1))
    lines.append(f"{'':9}{first:<{_COLUMNS - 11}} threads {last:>3}")
    return lines


def _hint(prediction: Prediction, derivation: SaturationDerivation) -> list[str]:
    within = 100 * derivation.within
    guessed = " at the assumed sizes" if prediction.range is not None else ""
    sentence = (
        f"Hint: {plural(prediction.packages or 0, 'package')}, "
        f"{plural(prediction.threads or 0, 'thread')}{_seats(prediction)} "
        f"({prediction.bottleneck}), {100 * prediction.confidence:.0f} % confidence (within "
        f"{within:g} % of the best)" + (", borderline" if prediction.borderline else "")
    )
    return [
        "",
        sentence,
        *_at_others(prediction),
        *_expected(prediction),
        f"Saturation: 90 % of the best speed on {plural(derivation.saturation, 'thread')}{guessed}",
        *why_this_confidence(prediction),
        f"Score of the density model: {prediction.score:.3f}"
        if prediction.score is not None
        else "Score of the density model: none",
    ]


def _expected(prediction: Prediction) -> list[str]:
    """The hinted speedup with its interval."""
    for (threads, value), (low, high) in zip(prediction.speedup, prediction.band, strict=True):
        if threads == prediction.threads:
            return [
                f"{plural(threads, 'thread')}: speedup {value:.3g} "
                f"({100 * BAND_SHARE.value:.0f} % interval {low:.3g} to {high:.3g})"
            ]
    return []


def _at_others(estimate: Prediction | TeamPrediction) -> list[str]:
    """The range of the hint over unknown sizes, if they change it."""
    if estimate.range is None:
        return []
    others = range_sentence(estimate.range, estimate.deciding, whole=True)
    return [f"  at the assumed sizes; otherwise {others}"]


def _seats(prediction: Prediction) -> str:
    """The number of cores, if several threads share one."""
    each = prediction.threads_per_core
    if each == 1 or prediction.threads is None:
        return ""
    return f" on {plural(prediction.threads // each, 'core')} ({each} per core)"


def _hardware_threads(derivation: SaturationDerivation, machine: Machine) -> list[str]:
    """The prediction with all hardware threads of the hinted packages."""
    doubled = derivation.doubled
    if doubled is None:
        return []
    return [
        "",
        f"All hardware threads, {doubled.threads} on {doubled.threads // machine.threads_per_core} "
        f"cores: {show_seconds(doubled.seconds)}, {doubled.speedup:.2f} times one thread",
    ]


def team_hint(team: TeamPrediction) -> list[str]:
    """The hint of the whole parallel region, since `num_threads` belongs to it."""
    name = (
        f"Parallel region of {plural(len(team.facts.members), 'loop')}, line {team.facts.span.line}"
    )
    if team.threads is None:
        return [f"{name}: no hint"]
    threads = plural(team.threads, "thread")
    sentence = size_sentence(team.by_size, whole=True)
    return [
        f"{name}: {plural(team.packages or 0, 'package')}, {threads} ({team.bottleneck})",
        *_at_others(team),
        *([f"{name}, by size: {sentence}"] if sentence else []),
    ]
