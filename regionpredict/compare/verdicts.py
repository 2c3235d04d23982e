"""Judges hints by measurements: one verdict per loop or parallel region.

`needed` is the smallest number of packages (or threads) whose time is within the tolerance of the
best time. A hint is right if it equals `needed`. By the rule of the thesis (Chatzopoulos 2012, sec.
6.4), a hint is right if score and utilization are in the same decision area. There is one area per
measured package: `ceil(utilisation * packages)`. Figures 6.4 and 6.6 apply this to two of four
packages.

If fewer packages or threads were measured than the machine has, a larger hint counts as the largest
measured number. A hint between two measured numbers of packages counts as the larger one. If the
larger one is needed, the hint is not judged, since a smaller number may be enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from regionpredict.compare.comparable import check_machine, size_difference, team_difference
from regionpredict.compare.measured_hints import match_measured
from regionpredict.errors import InputError
from regionpredict.measure.hints_file import Hint, Hints
from regionpredict.measure.records import Host
from regionpredict.measure.summary import RegionSummary

CRITERIA = ("best", "utilisation")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The prediction and the measurement of one loop or parallel region.

    `times` are medians in seconds by thread count. `hinted` and `needed` count packages or threads
    (`Comparison.unit`), as far as measured. `right` is None if either is unknown, or if the two
    cannot be compared. `incomparable` gives the reason. `loss` is the time with the hint divided by
    the best time, minus one. `regions` are the ids of a parallel region's loops.
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
    incomparable: str = ""
    regions: tuple[str, ...] = ()

    @property
    def speedup_error(self) -> float | None:
        """Returns the relative error of the predicted speedup at the largest common number of
        threads.
        """
        counts = set(self.predicted_speedup) & set(self.measured_speedup) - {1}
        if not counts or self.incomparable or self.hint.sizes is not None:
            return None
        most = max(counts)
        return self.predicted_speedup[most] / self.measured_speedup[most] - 1

    @property
    def time_ratio(self) -> float | None:
        """Returns the predicted divided by the measured seconds of one execution on one thread.

        For a region with several sizes, the prediction is scaled to its mean iterations.
        """
        run = self.measured.last
        measured = self.times.get(1, 0.0) / max(1, run.executions)
        if self.hint.seconds is None or measured <= 0 or self.incomparable or self.hint.sizes:
            return None
        several = run.counted and self.hint.iterations and run.least_trips != run.most_trips
        mean = run.trips / run.counted / (self.hint.iterations or 1) if several else 1.0
        return self.hint.seconds * mean / measured


@dataclass(frozen=True, slots=True)
class Comparison:
    """All verdicts of a comparison.

    `options` are the measured numbers of `unit`, in ascending order. `verdicts` are for loops,
    `teams` for parallel regions measured as a whole. `most` is the machine's number of packages or
    threads. `other_machine` describes how the measured machine differs from the predicted one, and
    is empty if it does not. `disturbed` has a line per file of measurements with the disturbed
    runs.
    """

    hints: Hints
    unit: str
    options: tuple[int, ...]
    tolerance: float
    criterion: str
    verdicts: tuple[Verdict, ...]
    without_hint: tuple[str, ...]
    not_measured: tuple[str, ...]
    most: int
    other_machine: str = ""
    teams: tuple[Verdict, ...] = ()
    disturbed: tuple[str, ...] = ()

    @property
    def in_part(self) -> bool:
        """Whether the machine has more packages (or threads) than measured."""
        return self.options[-1] < self.most

    @property
    def counted(self) -> tuple[Verdict, ...]:
        """Returns all measured loops and parallel regions without duplicates: the loops, and the
        parallel regions that are not a single loop.
        """
        regions = {verdict.hint.id for verdict in self.verdicts}
        teams = (team for team in self.teams
                 if len(team.regions) > 1 or not regions.issuperset(team.regions))  # fmt: skip
        return (*self.verdicts, *teams)

    @property
    def judged(self) -> tuple[Verdict, ...]:
        """Returns the counted loops and parallel regions whose hints are right or wrong."""
        return tuple(verdict for verdict in self.counted if verdict.right is not None)

    @property
    def median_speedup_error(self) -> float | None:
        """Returns the median over regions of the absolute relative error of the predicted
        speedup.
        """
        errors = [abs(e) for verdict in self.counted if (e := verdict.speedup_error) is not None]
        return median(errors) if errors else None

    @property
    def median_time_ratio(self) -> float | None:
        """Returns the median over regions of the predicted divided by the measured time on one
        thread.
        """
        ratios = [r for verdict in self.counted if (r := verdict.time_ratio) is not None]
        return median(ratios) if ratios else None

    @property
    def most_wrong(self) -> tuple[Verdict, ...]:
        """Returns the wrong verdicts, sorted by lost time, then by wasted threads."""
        wrong = [verdict for verdict in self.judged if not verdict.right]
        return tuple(sorted(wrong, key=_wrongness_order, reverse=True))


def compare(
    hints: Hints, summaries: Sequence[RegionSummary], *, tolerance: float = 0.1,
    criterion: str = "best", statistic: str = "median", host: Host | None = None,
    other_machine: bool = False, teams: Sequence[RegionSummary] = (),
) -> Comparison:  # fmt: skip
    """Judges the hints by measurements of loops and of `teams` (parallel regions) on `host`. None
    means the machine of the hints.

    Raises InputError if no measured region has a hint, if all were measured at other sizes than
    predicted, or if only one thread count was measured. Without `other_machine`, it is also raised
    if the host is not the machine of the hints.
    """
    difference = check_machine(hints, host, other_machine=other_machine)
    matched = match_measured(hints, summaries, teams)
    if not matched.regions and not matched.teams:
        raise InputError(
            f"hints for another program: none of their regions ({len(hints.regions)}) was measured",
            remedy="predict the sources that the measured program was built from", path=hints.path,
        )  # fmt: skip
    measured = [summary for _, summary in (*matched.regions, *matched.teams)]
    counts = sorted({n for summary in measured for n in summary.timings})
    if len(counts) < 2:
        raise InputError(
            f"measured on {counts[0]} thread{'s' * (counts[0] != 1)} alone: nothing to compare",
            remedy="measure with --threads 1,2,...",
        )
    unit, options = _decision_options(hints, counts)
    judge = _Judge(hints, unit, options, tolerance, criterion, statistic)
    different = {
        hint.id: size_difference(hint.iterations, summary.last, over_threads=hint.over_threads)
        for hint, summary in matched.regions
    }
    regions = [
        _Pair(hint, summary, different[hint.id] or _not_judged_reason(hint))
        for hint, summary in matched.regions
    ]
    teams_with_hints = [
        _Pair(hint, summary, team_difference(team, hints.regions, summary.last, different)
              or _not_judged_reason(hint), team.regions)
        for team, summary in matched.teams if (hint := team.predicted) is not None
    ]  # fmt: skip
    _check_sizes([*regions, *teams_with_hints], hints)
    verdicts, whole = (
        tuple(map(judge.verdict, regions)),
        tuple(map(judge.verdict, teams_with_hints)),
    )
    most = hints.packages if unit == "packages" else hints.packages * hints.cores_per_package
    return Comparison(
        hints, unit, tuple(options), tolerance, criterion, verdicts, matched.without_hint,
        matched.not_measured, most, difference, whole,
    )  # fmt: skip


class _Pair(NamedTuple):
    """A hint and its measurement. `different` describes a difference in size. `regions` are the ids
    of a parallel region's loops.
    """

    hint: Hint
    summary: RegionSummary
    different: str
    regions: tuple[str, ...] = ()


def _check_sizes(pairs: Sequence[_Pair], hints: Hints) -> None:
    """Raises InputError if every region was measured at another size than predicted."""
    different = [pair for pair in pairs if pair.different]
    if len(different) < len(pairs):
        return
    first = different[0]
    more = f", and so were {len(different) - 1} more" if len(different) > 1 else ""
    raise InputError(
        f"hints for other sizes: {first.hint.id} was {first.different}{more}",
        remedy="predict with --sizes-from the measurements, and give other sizes with --set"
        if first.different == _ASSUMED
        else "predict with --sizes-from the measurements; regionpredict compare takes "
        "--at-measured-sizes",
        path=hints.path,
    )


def _decision_options(hints: Hints, counts: Sequence[int]) -> tuple[str, dict[int, int]]:
    """Returns the unit of a decision (packages or threads), and its options with the thread count
    of each.
    """
    packages = {
        k: k * hints.cores_per_package
        for k in range(1, hints.packages + 1)
        if k * hints.cores_per_package in counts
    }
    if hints.packages > 1 and len(packages) > 1:
        return "packages", packages
    return "threads", {n: n for n in counts}


def _seconds_by_threads(summary: RegionSummary, statistic: str) -> dict[int, float]:
    """Returns seconds by thread count: the median of the runs, or the minimum, which other
    processes affect less.
    """
    if statistic == "least":
        return {n: timing.least for n, timing in summary.timings.items()}
    return {n: timing.seconds for n, timing in summary.timings.items()}


class _Judge(NamedTuple):
    """The inputs that all verdicts share. `options` are the options of the `unit` with the threads
    of each.
    """

    hints: Hints
    unit: str
    options: dict[int, int]
    tolerance: float
    criterion: str
    statistic: str

    def verdict(self, pair: _Pair) -> Verdict:
        """Judges the hint of a loop or a parallel region."""
        hint, summary, different, regions = pair
        times, options = _seconds_by_threads(summary, self.statistic), self.options
        base = min(times)
        measured = {n: times[base] / t for n, t in times.items() if t > 0} if base == 1 else {}
        most = max(options.values())
        utilisation = measured[most] / most if most in measured else None
        at = {option: times[n] for option, n in options.items() if n in times}
        hinted = _hinted_option(hint, self.hints, self.unit, options, self.criterion)
        needed = None
        if len(at) == len(options):
            best = min(at.values())
            if self.criterion == "best":
                needed = min(o for o, t in at.items() if t <= (1 + self.tolerance) * best)
            elif utilisation is not None:
                needed = _decision_area(utilisation, options)
        if not different and hinted is not None and hinted == needed:
            different = self._undecided_reason(hint)
        known = hinted is not None and needed is not None and hinted in at and not different
        loss = at[hinted] / min(at.values()) - 1 if known and hinted is not None else None
        return Verdict(
            hint, summary, times, hint.speedup, measured, utilisation, hinted, needed,
            hinted == needed if known else None, loss, different, regions,
        )  # fmt: skip

    def _undecided_reason(self, hint: Hint) -> str:
        """Returns the reason why fewer packages than needed may be enough. Empty if the hint can be
        judged.
        """
        wanted = hint.packages
        if self.unit != "packages" or wanted is None or self.criterion != "best":
            return ""
        if wanted in self.options or not min(self.options) < wanted < max(self.options):
            return ""
        return f"hinted {wanted} packages, which were not measured"


_ASSUMED = "predicted with assumed sizes"


def _not_judged_reason(hint: Hint) -> str:
    """Returns the reason why a hint that depends on unknown sizes is not judged.

    A hint that is the same for all sizes is judged. Its speedup and time are not compared, since
    they are for assumed sizes.
    """
    return "" if hint.sizes is None or hint.sizes.steady else _ASSUMED


def _hinted_option(
    hint: Hint, hints: Hints, unit: str, options: dict[int, int], criterion: str
) -> int | None:
    """Returns the hint as one of the options: the closest measured number of threads, the next
    number of packages, or the largest option.
    """
    if hint.status == "skipped":
        return None
    in_part = unit == "packages" and max(options) < hints.packages
    if in_part and criterion == "utilisation" and hints.model == "density":
        return None if hint.score is None else _decision_area(hint.score, options)
    wanted = hint.packages if unit == "packages" else hint.threads
    if wanted is None:
        return None
    if unit == "packages":
        return min((n for n in options if n >= wanted), default=max(options))
    return min(options, key=lambda n: (abs(n - wanted), n))


def _decision_area(share: float, options: dict[int, int]) -> int:
    """Returns the decision area of a utilization or score from 0 to 1. There are as many areas as
    the largest option.

    >>> [_decision_area(u, {1: 6, 2: 12, 3: 18, 4: 24}) for u in (0.1, 0.25, 0.26, 1.2)]
    [1, 1, 2, 4]
    >>> _decision_area(0.375, {1: 6, 2: 12})  # 0.375 of the 12 cores of two packages (figure 6.4)
    1
    """
    parts = max(options)
    wanted = min(max(math.ceil(share * parts - 1e-9), 1), parts)
    return min((n for n in options if n >= wanted), default=parts)


def _wrongness_order(verdict: Verdict) -> tuple[float, int]:
    over = (verdict.hinted or 0) - (verdict.needed or 0)
    return (verdict.loss or 0.0, abs(over))
