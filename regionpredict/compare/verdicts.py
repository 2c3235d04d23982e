"""Hints and measurements -> a verdict a region: is the hinted number what the region can use?

`needed` is the smallest number of packages (or threads) whose time is within the tolerance of
the best one; a hint is right when it is that. By the thesis' own rule (Chatzopoulos 2012, sec.
6.2) it is right when the hint and the utilisation of the whole machine lie in the same area:
`ceil(utilisation * packages)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from regionpredict.errors import InputError
from regionpredict.measure.hints_file import Hint, Hints, Place, match_hint
from regionpredict.measure.summary import RegionSummary

CRITERIA = ("best", "utilisation")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One region's prediction beside its measurement.

    `times` are medians in seconds by thread count. `hinted` and `needed` count packages or
    threads (`Comparison.unit`); `right` is None where either is unknown. `loss` is the time on
    the hinted number over the best one, less one.
    """

    hint: Hint
    measured: RegionSummary
    times: dict[int, float]
    predicted_speedup: dict[int, float]
    measured_speedup: dict[int, float]
    utilisation: float | None
    hinted: int | None
    needed: int | None
    right: bool | None
    loss: float | None

    @property
    def speedup_error(self) -> float | None:
        """Relative error of the predicted speedup on the most threads that both have."""
        counts = set(self.predicted_speedup) & set(self.measured_speedup) - {1}
        if not counts:
            return None
        most = max(counts)
        return self.predicted_speedup[most] / self.measured_speedup[most] - 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """All verdicts; `options` are the numbers of `unit` that were measured, ascending."""

    hints: Hints
    unit: str
    options: tuple[int, ...]
    tolerance: float
    criterion: str
    verdicts: tuple[Verdict, ...]
    without_hint: tuple[str, ...]
    not_measured: tuple[str, ...]

    @property
    def judged(self) -> tuple[Verdict, ...]:
        """The verdicts that are right or wrong."""
        return tuple(verdict for verdict in self.verdicts if verdict.right is not None)

    @property
    def median_speedup_error(self) -> float | None:
        """Median over regions of the absolute relative error of the predicted speedup."""
        errors = [abs(e) for verdict in self.verdicts if (e := verdict.speedup_error) is not None]
        return median(errors) if errors else None

    @property
    def most_wrong(self) -> tuple[Verdict, ...]:
        """The wrong ones, those that lose most time first, then those that waste most."""
        wrong = [verdict for verdict in self.judged if not verdict.right]
        return tuple(sorted(wrong, key=_wrongness, reverse=True))


def compare(
    hints: Hints, summaries: Sequence[RegionSummary], *, tolerance: float = 0.1,
    criterion: str = "best", statistic: str = "median",
) -> Comparison:  # fmt: skip
    """Holds the hints against the measurements.

    Raises InputError where no measured region has a hint, or only one thread count was measured.
    """
    pairs, alone = _pairs(hints, summaries)
    if not pairs:
        raise InputError(
            f"hints for another program: none of their {len(hints.regions)} regions was measured",
            remedy="predict the sources that the measured program was built from", path=hints.path,
        )  # fmt: skip
    counts = sorted({n for _, summary in pairs for n in summary.timings})
    if len(counts) < 2:
        raise InputError(
            f"measured on {counts[0]} threads alone: nothing to compare",
            remedy="measure with --threads 1,2,...",
        )
    unit, options = _options(hints, counts)
    verdicts = tuple(
        _verdict(
            (hint, _times(summary, statistic)),
            summary,
            hints,
            (unit, options),
            tolerance,
            criterion,
        )
        for hint, summary in pairs
    )
    seen = {hint.id for hint, _ in pairs}
    missed = tuple(hint.id for hint in hints.regions if hint.id not in seen)
    return Comparison(hints, unit, tuple(options), tolerance, criterion, verdicts, alone, missed)


def _pairs(
    hints: Hints, summaries: Sequence[RegionSummary]
) -> tuple[list[tuple[Hint, RegionSummary]], tuple[str, ...]]:
    pairs, alone = [], []
    for summary in summaries:
        last = summary.last
        hint = match_hint(hints.regions, Place(last.file, last.line, last.loop_line, last.ordinal))
        if hint is None:
            alone.append(f"{last.file}:{last.line}")
        else:
            pairs.append((hint, summary))
    return pairs, tuple(alone)


def _options(hints: Hints, counts: Sequence[int]) -> tuple[str, dict[int, int]]:
    """The unit of a decision, and its choices with the thread count of each."""
    packages = {
        k: k * hints.cores_per_package
        for k in range(1, hints.packages + 1)
        if k * hints.cores_per_package in counts
    }
    if hints.packages > 1 and len(packages) > 1:
        return "packages", packages
    return "threads", {n: n for n in counts}


def _times(summary: RegionSummary, statistic: str) -> dict[int, float]:
    """Seconds by thread count: the runs' median, or the least, which busy neighbours move less."""
    if statistic == "least":
        return {n: timing.least for n, timing in summary.timings.items()}
    return {n: timing.seconds for n, timing in summary.timings.items()}


def _verdict(
    timed: tuple[Hint, dict[int, float]], summary: RegionSummary, hints: Hints,
    choice: tuple[str, dict[int, int]], tolerance: float, criterion: str,
) -> Verdict:  # fmt: skip
    (hint, times), (unit, options) = timed, choice
    base = min(times)
    measured = {n: times[base] / t for n, t in times.items() if t > 0} if base == 1 else {}
    most = max(options.values())
    utilisation = measured[most] / most if most in measured else None
    at = {option: times[n] for option, n in options.items() if n in times}
    hinted = _hinted(hint, unit, options)
    needed = None
    if len(at) == len(options):
        best = min(at.values())
        if criterion == "best":
            needed = min(option for option, t in at.items() if t <= (1 + tolerance) * best)
        elif utilisation is not None:
            needed = _area(utilisation, unit, hints.packages, options)
    known = hinted is not None and needed is not None and hinted in at
    loss = at[hinted] / min(at.values()) - 1 if known and hinted is not None else None
    return Verdict(
        hint, summary, times, hint.speedup, measured, utilisation, hinted, needed,
        hinted == needed if known else None, loss,
    )  # fmt: skip


def _hinted(hint: Hint, unit: str, options: dict[int, int]) -> int | None:
    """The hint as one of the options; of thread counts the nearest that was measured."""
    if hint.status == "skipped":
        return None
    if unit == "packages":
        return hint.packages
    if hint.threads is None:
        return None
    wanted = hint.threads
    return min(options, key=lambda n: (abs(n - wanted), n))


def _area(utilisation: float, unit: str, packages: int, options: dict[int, int]) -> int:
    """The area of decision that a utilisation from 0 to 1 lies in.

    >>> [_area(u, "packages", 4, {1: 6, 2: 12, 3: 18, 4: 24}) for u in (0.1, 0.25, 0.26, 1.2)]
    [1, 1, 2, 4]
    """
    parts = packages if unit == "packages" else max(options)
    wanted = min(max(math.ceil(utilisation * parts - 1e-9), 1), parts)
    return min((n for n in options if n >= wanted), default=max(options))


def _wrongness(verdict: Verdict) -> tuple[float, int]:
    over = (verdict.hinted or 0) - (verdict.needed or 0)
    return (verdict.loss or 0.0, abs(over))
