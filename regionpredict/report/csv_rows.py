"""Predictions and facts as CSV with one row per region."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.analysis import RegionFacts
from regionpredict.predict import Prediction
from regionpredict.report.csv_text import csv_text
from regionpredict.report.size_hints import size_sentence

_FACTS = ("id", "file", "line", "function", "directive", "status", "iterations", "iterations_value",
          "working_set", "working_set_bytes")  # fmt: skip
_HINTS = ("score", "miss_probability", "packages", "threads", "bottleneck", "confidence",
          "borderline")  # fmt: skip
_OPEN = ("assumed", "depends_on", "packages_range", "threads_range", "by_size", "threads_per_core",
         "sizes_from")  # fmt: skip


def predictions_csv(predictions: Sequence[Prediction]) -> str:
    """Facts and hints, with a header row and one row per region."""
    rows = []
    for prediction in predictions:
        hints = [getattr(prediction, field) for field in _HINTS]
        between = prediction.range
        rows.append(
            [
                *_facts_row(prediction.facts, prediction.status),
                *hints,
                "; ".join(prediction.assumed),
                "; ".join(prediction.deciding),
                None if between is None else "{}-{}".format(*between.packages),
                None if between is None else "{}-{}".format(*between.threads),
                size_sentence(prediction.by_size, whole=True),
                prediction.threads_per_core if prediction.threads is not None else None,
                prediction.sizes_from,
            ]
        )
    return csv_text((*_FACTS, *_HINTS, *_OPEN), rows)


def facts_csv(facts: Sequence[RegionFacts]) -> str:
    """Facts, with a header row and one row per region."""
    names = {"complete": "predicted"}
    return csv_text(
        _FACTS,
        [
            _facts_row(region_facts, names.get(region_facts.status, region_facts.status))
            for region_facts in facts
        ],
    )


def _facts_row(facts: RegionFacts, status: str) -> list[object]:
    region = facts.region
    return [
        region.id, region.span.file, region.span.line, region.function, "omp " + region.directive,
        status, facts.iterations.expr, facts.iterations.value, facts.working_set.expr,
        facts.working_set.value,
    ]  # fmt: skip
