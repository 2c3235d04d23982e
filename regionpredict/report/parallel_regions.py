"""Parallel regions of OpenMP as a run measured them, beside what hints predict of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from regionpredict.measure.hints_file import Hint, Hints, Place, TeamHint, hints_at
from regionpredict.report.aligned_table import aligned_lines
from regionpredict.trace.factors import RunFactors
from regionpredict.trace.region_split import RegionSplit


def predicted_efficiency(hints: Hints, split: RegionSplit) -> float | None:
    """Speedup over threads of what the region's team runs; None where the hints do not say.

    Of several loops in one team the times on one thread are their weights.
    """
    if split.line is None or not split.file:
        return None
    place = Place(split.file, split.line, None)
    teams: list[TeamHint] = hints_at(hints.teams, place)
    if teams:
        wanted = set(teams[0].regions)
        loops = [region for region in hints.regions if region.id in wanted]
    else:
        loops = hints_at(hints.regions, place)
    if not loops or any(split.threads not in loop.speedup for loop in loops):
        return None
    if len(loops) == 1:
        return loops[0].speedup[split.threads] / split.threads
    return _together(loops, split.threads)


def _together(loops: Sequence[Hint], threads: int) -> float | None:
    alone = [loop.seconds for loop in loops]
    if any(not seconds for seconds in alone):
        return None
    known = [float(seconds or 0.0) for seconds in alone]
    shared = sum(s / loop.speedup[threads] for s, loop in zip(known, loops, strict=True))
    return sum(known) / shared / threads


def region_records(run: RunFactors, hints: Hints | None) -> list[dict[str, Any]]:
    """As JSON has them; `predicted_efficiency` is null where nothing is predicted."""
    return [
        {
            "name": split.name,
            "file": split.file,
            "line": split.line,
            "threads": split.threads,
            "executions": split.executions,
            "seconds": split.seconds,
            "scheduling": split.scheduling,
            "load_balance": split.load_balance,
            "efficiency": split.efficiency,
            "predicted_efficiency": None if hints is None else predicted_efficiency(hints, split),
        }
        for split in run.parallel_regions
    ]


def region_table(runs: Sequence[RunFactors], hints: Hints) -> str:
    """Each run's regions, the longest first: measured factors, and what the hints expect."""
    head = ("region", "threads", "seconds", "scheduling", "LB", "measured", "predicted")
    lines: list[str] = []
    for run in runs:
        rows = [
            (
                f"{PurePath(row['file']).name}:{row['line']}" if row["line"] else row["name"],
                str(row["threads"]),
                f"{row['seconds']:.4g}",
                *(f"{100 * row[key]:.2f}" for key in ("scheduling", "load_balance", "efficiency")),
                "-"
                if row["predicted_efficiency"] is None
                else f"{100 * row['predicted_efficiency']:.2f}",
            )
            for row in region_records(run, hints)
        ]
        if rows:
            lines += ["", f"parallel regions of {run.name}, and {hints.path} for {hints.machine}:"]
            lines += aligned_lines([head, *rows])
    if not lines:
        return "\nno run has parallel regions of OpenMP\n"
    lines += [
        "",
        "measured: the share of the team's time that is used; predicted: speedup over threads,",
        "which also counts that threads slow each other down.",
    ]
    return "\n".join(lines) + "\n"
