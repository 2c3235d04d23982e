"""Measures the weight of each predicted region: its time on one thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regionpredict.errors import InputError
from regionpredict.measure.hints_file import Place, match_hint
from regionpredict.measure.records import Campaign
from regionpredict.measure.summary import summarise, summarise_teams
from regionpredict.predict import Prediction


class _Predicted(NamedTuple):
    """The id and source position of a predicted region."""

    id: str
    file: str
    line: int
    loop_line: int | None


def measured_seconds(
    predictions: Sequence[Prediction], campaign: Campaign, path: str
) -> dict[str, float]:
    """Returns the median total time of each region in a run on one thread (s), by region id.

    Regions that did not run are missing. `path` is the file of the campaign, for error messages.
    Raises InputError if there is no run on one thread, or if none of the regions was measured.
    """
    if 1 not in campaign.threads:
        known = ", ".join(str(count) for count in campaign.threads)
        raise InputError(
            f"no run on 1 thread in it, only on {known}" if known else "it contains no run",
            remedy="measure with --resume --threads 1 into the same file", path=path,
        )  # fmt: skip
    regions = [_predicted_place(prediction) for prediction in predictions]
    seconds: dict[str, float] = {}
    for summary in summarise(campaign):
        last, timing = summary.last, summary.timings.get(1)
        region = match_hint(regions, Place(last.file, last.line, last.loop_line, last.ordinal))
        if region is not None and timing is not None:
            seconds[region.id] = seconds.get(region.id, 0.0) + timing.seconds
    seconds |= _manually_shared(predictions, campaign, seconds)
    if not seconds:
        raise InputError(
            "measurements of another program: none of the predicted regions is in it",
            remedy="predict the sources that it was built from", path=path,
        )  # fmt: skip
    return seconds


def _manually_shared(
    predictions: Sequence[Prediction], campaign: Campaign, known: Mapping[str, float]
) -> dict[str, float]:
    """Returns the time of manually shared loops. The time of the `parallel` outside other loops is
    divided evenly among them.
    """
    inside: dict[_Predicted, list[Prediction]] = {}
    for prediction in predictions:
        region = prediction.facts.region
        if region.parallel is not None and region.context == "inside":
            span = region.parallel.span
            place = _Predicted(f"{span.file}:{span.line}", span.file, span.line, None)
            inside.setdefault(place, []).append(prediction)
    seconds: dict[str, float] = {}
    for summary in summarise_teams(campaign):
        last, timing = summary.last, summary.timings.get(1)
        team = match_hint(list(inside), Place(last.file, last.line, last.loop_line, last.ordinal))
        if team is None or timing is None:
            continue
        regions = [prediction.facts.region for prediction in inside[team]]
        left = timing.seconds - sum(known.get(region.id, 0.0) for region in regions)
        by_hand = [region.id for region in regions if region.by_hand]
        seconds |= dict.fromkeys(by_hand, max(0.0, left) / max(1, len(by_hand)))
    return seconds


def _predicted_place(prediction: Prediction) -> _Predicted:
    region = prediction.facts.region
    loop_line = region.nest.span.line if region.nest is not None else None
    return _Predicted(region.id, region.span.file, region.span.line, loop_line)
