"""Pairs predictions with measurements of the same regions, as samples for fitting a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from regionpredict.compare.comparable import size_difference
from regionpredict.errors import InputError
from regionpredict.machine import Machine
from regionpredict.measure.hints_file import (
    Hint,
    Hints,
    Place,
    TeamHint,
    common_end,
    match_hint,
)
from regionpredict.measure.summary import RegionSummary
from regionpredict.predict import Point, Prediction, TeamPrediction, points_of, seconds_alone

_WORK = ("compute", "cache", "memory-bandwidth")


@dataclass(frozen=True, slots=True)
class Sample:
    """One region that was both predicted and measured.

    `index` is its position among the predictions, `program` its group in cross-validation, and
    `seconds` the measured time of one execution by thread count.
    """

    index: int
    program: str
    summary: RegionSummary
    seconds: Mapping[int, float]
    campaign: int = 0


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples for a fit. `left_out` counts the unusable measured regions, by reason.

    `statistic` is 'median' or 'least', for the time over several runs.
    """

    samples: tuple[Sample, ...]
    left_out: Mapping[str, int]
    statistic: str = "median"

    @property
    def programs(self) -> tuple[str, ...]:
        """The names of the measured programs, sorted."""
        return tuple(sorted({sample.program for sample in self.samples}))

    @property
    def counts(self) -> tuple[int, ...]:
        """All measured thread counts, in ascending order."""
        return tuple(sorted({n for sample in self.samples for n in sample.seconds}))


def hints_of(
    predictions: Sequence[Prediction], machine: Machine, teams: Sequence[TeamPrediction] = ()
) -> Hints:
    """Converts predictions to hints, like those of `regionpredict predict --format json`."""
    model = predictions[0].model if predictions else "saturation"
    return Hints(
        "the predictions", machine.name, machine.packages, machine.cores_per_package, model,
        tuple(_to_hint(prediction) for prediction in predictions),
        tuple(_team_hint(team) for team in teams),
    )  # fmt: skip


def _team_hint(team: TeamPrediction) -> TeamHint:
    facts = team.facts
    members = tuple(member.facts.region.id for member in facts.members)
    predicted = Hint(
        id=facts.id, file=facts.span.file, line=facts.span.line, loop_line=None,
        function=facts.function, status=team.status, packages=team.packages, threads=team.threads,
        score=None, bottleneck=team.bottleneck, confidence=team.confidence,
        borderline=team.borderline,
        speedup={point.threads: point.value for point in team.speedup}, assumed=team.assumed,
        seconds=team.seconds,
        band={point.threads: (point.low, point.high) for point in team.speedup},
    )  # fmt: skip
    return TeamHint(
        facts.id, facts.span.file, facts.span.line, members, team.threads, predicted=predicted
    )


def _to_hint(prediction: Prediction) -> Hint:
    region = prediction.facts.region
    nest = region.nest
    return Hint(
        id=region.id, file=region.span.file, line=region.span.line,
        loop_line=nest.span.line if nest is not None else None, function=region.function,
        status=prediction.status, packages=prediction.packages, threads=prediction.threads,
        score=prediction.score, bottleneck=prediction.bottleneck,
        confidence=prediction.confidence, borderline=prediction.borderline,
        speedup=dict(prediction.speedup), assumed=prediction.assumed,
        iterations=prediction.facts.iterations.value, over_threads=region.over_threads,
        by_hand=region.by_hand, seconds=seconds_alone(prediction),
        busy={point.threads: _busy_seconds(point) for point in points_of(prediction)},
    )  # fmt: skip


def _busy_seconds(point: Point) -> tuple[float, float]:
    """Returns the busy seconds of a thread: the mean and the maximum over threads."""
    mean = sum(point.terms[name] for name in _WORK)
    return mean, mean + point.terms["imbalance"]


def gather_samples(
    predictions: Sequence[Prediction], hints: Hints, summaries: Sequence[RegionSummary],
    *, statistic: str = "median",
) -> Samples:  # fmt: skip
    """Returns the samples, and the number of unusable measured regions by reason.

    `hints` belong to the `predictions`, in the same order. A program is a folder of sources. If all
    sources are in one folder, each file is a program.
    """
    left_out: Counter[str] = Counter()
    nearest: dict[int, RegionSummary] = {}
    for summary in summaries:
        last = summary.last
        hint = match_hint(hints.regions, Place(last.file, last.line, last.loop_line, last.ordinal))
        index = next((index for index, other in enumerate(hints.regions) if other is hint), -1)
        if hint is not None and index in nearest:
            # Of two files with the same name, the one with more common folders matches.
            rival = nearest[index].last.file
            if common_end(hint.file, rival) >= common_end(hint.file, last.file):
                index = -1
        if index < 0 or index in nearest:
            left_out["not in the given sources"] += 1
        if index >= 0:
            nearest[index] = summary
    matched: list[tuple[int, RegionSummary]] = []
    for index, summary in nearest.items():
        reason = _incomparable_reason(predictions[index], summary)
        if reason:
            left_out[reason] += 1
        else:
            matched.append((index, summary))
    folders = {PurePath(summary.last.file).parent for _, summary in matched}
    by_folder = len(folders) > 1
    return Samples(
        tuple(
            Sample(index, _program_name(summary, by_folder=by_folder), summary,
                   _measured_seconds(summary, statistic))
            for index, summary in matched
        ),
        dict(left_out),
        statistic,
    )  # fmt: skip


def merged_samples(parts: Sequence[tuple[Samples, int]]) -> Samples:
    """Merges samples of several campaigns with one size each, as if they had one list of
    predictions.

    Each part has the number of its predictions, which follow the predictions of the previous parts.
    Raises InputError if the campaigns have different numbers of threads.
    """
    counts = {samples.counts for samples, _ in parts if samples.samples}
    if len(counts) > 1:
        shown = " and on ".join(", ".join(map(str, count)) for count in sorted(counts))
        raise InputError(
            f"measured on {shown} threads",
            remedy="measure all sizes on the same numbers of threads",
        )
    joined: list[Sample] = []
    left_out: Counter[str] = Counter()
    before = 0
    for place, (samples, predictions) in enumerate(parts):
        joined += [
            replace(sample, index=before + sample.index, campaign=place)
            for sample in samples.samples
        ]
        left_out.update(samples.left_out)
        before += predictions
    return Samples(tuple(joined), dict(left_out), parts[0][0].statistic)


def _program_name(summary: RegionSummary, *, by_folder: bool) -> str:
    path = PurePath(summary.last.file)
    return str(path.parent if by_folder else path)


def _measured_seconds(summary: RegionSummary, statistic: str) -> dict[int, float]:
    """Returns the seconds of one execution: the median or minimum over runs of the mean time in
    each run.
    """
    runs = max(1, summary.last.executions)
    return {
        n: (timing.least if statistic == "least" else timing.seconds) / runs
        for n, timing in summary.timings.items()
    }


def _incomparable_reason(prediction: Prediction, summary: RegionSummary) -> str:
    """Returns the reason why prediction and measurement cannot be compared. Empty if they can."""
    facts, last = prediction.facts, summary.last
    if prediction.status == "skipped" or prediction.derivation is None:
        return "not predicted"
    iterations = facts.iterations.value
    if iterations is None or facts.working_set.value is None:
        return "with a size that the source does not give"
    if size_difference(iterations, last, over_threads=facts.region.over_threads):
        return "measured with another size than predicted"
    if last.nowait:
        return "without a barrier at its end (nowait)"
    if 1 not in summary.timings or len(summary.timings) < 2:
        return "not measured on 1 thread and on several"
    if min(timing.least for timing in summary.timings.values()) <= 0:
        return "too short for the clock"
    return ""
