"""Summarizes runs as each region's time over threads, with confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from regionpredict.machine.calibrate.samples import relative_interval
from regionpredict.measure.records import Campaign, RegionRun, Run

ENOUGH = 0.05
"""A time has converged if its 95 % confidence interval is within 5 % of the mean (Shudler 2018,
sec. 2.2).
"""
LEAST_RUNS = 3
IMPORTANT = 0.01
"""The share of all regions' time from which a region's time must converge."""


class Timing(NamedTuple):
    """The times of a region at one thread count: median and minimum time of a run (s), relative
    half-width of the mean's 95 % confidence interval, and number of runs.
    """

    seconds: float
    least: float
    interval: float
    runs: int


@dataclass(frozen=True, slots=True)
class RegionSummary:
    """The times of a region over thread counts. `last` is one of its runs, for all data except
    times.
    """

    last: RegionRun
    timings: dict[int, Timing]

    def speedup(self, threads: int, base: int = 1) -> float | None:
        """Returns the time on `base` threads divided by the time on `threads`, by medians. None if
        not measured.
        """
        base_timing, timing = self.timings.get(base), self.timings.get(threads)
        if base_timing is None or timing is None or timing.seconds <= 0:
            return None
        return base_timing.seconds / timing.seconds


def summarise(campaign: Campaign) -> tuple[RegionSummary, ...]:
    """Returns every region with its times, in the order of file and line."""
    return _summarize_regions([(run.threads, run.regions) for run in campaign.measured])


def summarise_teams(campaign: Campaign) -> tuple[RegionSummary, ...]:
    """Returns every `parallel` measured as a whole, with its times."""
    return _summarize_regions([(run.threads, run.teams) for run in campaign.measured])


_Timed = tuple[int, tuple[RegionRun, ...]]
"""The threads of a run, and its loops or its parallel regions."""


def _summarize_regions(timed: Sequence[_Timed]) -> tuple[RegionSummary, ...]:
    samples = _samples_by_region(timed)
    last = {region.place: region for _, regions in timed for region in regions}
    return tuple(
        RegionSummary(
            last[place], {threads: _compute_timing(by[threads]) for threads in sorted(by)}
        )
        for place, by in sorted(samples.items())
    )


def _samples_by_region(
    timed: Sequence[_Timed],
) -> dict[tuple[str, int, int], dict[int, list[float]]]:
    samples: dict[tuple[str, int, int], dict[int, list[float]]] = {}
    for threads, regions in timed:
        for region in regions:
            by_threads = samples.setdefault(region.place, {})
            by_threads.setdefault(threads, []).append(region.total_s)
    return samples


def _compute_timing(samples: list[float]) -> Timing:
    return Timing(median(samples), min(samples), relative_interval(samples), len(samples))


def unconverged(runs: Sequence[Run], threads: int, kind: str = "runs") -> tuple[str, ...]:
    """Returns the reasons why the runs on `threads` threads are not sufficient: regions that have
    not converged, or too few runs of this `kind`.

    Only regions with at least 1 % of all regions' time are considered.

    >>> unconverged((), 2)
    ('0 runs of at least 3',)
    """
    own = [run for run in runs if run.threads == threads and not run.warm_up]
    if len(own) < LEAST_RUNS:
        return (f"{len(own)} {kind} of at least {LEAST_RUNS}",)
    regions = _has_unconverged_region([(threads, run.regions) for run in own])
    return (*regions, *_has_unconverged_region([(threads, run.teams) for run in own]))


def _has_unconverged_region(timed: Sequence[_Timed]) -> list[str]:
    """Whether a region with an important share of the time has not converged."""
    samples = {
        place: times for place, by in _samples_by_region(timed).items() for times in by.values()
    }
    whole = sum(median(times) for times in samples.values())
    return [
        f"{file}:{line}" for (file, line, _), times in sorted(samples.items())
        if median(times) >= IMPORTANT * whole and relative_interval(times) > ENOUGH
    ]  # fmt: skip
