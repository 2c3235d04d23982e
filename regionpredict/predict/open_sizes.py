"""Updates an estimate with the results of trials of its unknown sizes.

If one number of threads is good at all tried sizes, it becomes the hint. Otherwise, the hint of the
assumed sizes remains. The range then contains the other hints, and the confidence is multiplied by
the share of sizes at which the hint is right.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from regionpredict.predict.by_size import OpenHint
from regionpredict.predict.estimate import CUT_SIZES, Estimate
from regionpredict.predict.saturation import known_at_all_sizes
from regionpredict.predict.teams import TeamPrediction
from regionpredict.predict.uncertainty import Doubt, rounded_confidence

AnEstimate = TypeVar("AnEstimate", Estimate, TeamPrediction)


def with_open_sizes(estimate: AnEstimate, hint: OpenHint) -> AnEstimate:
    """Returns the estimate, updated with the results of trials of its unknown sizes."""
    hinted = replace(
        estimate,
        by_size=hint.by_size,
        unbound=hint.unbound,
        deciding=tuple(name for name in hint.unbound if name in hint.deciding),
        cut=tuple(dict.fromkeys((*([CUT_SIZES] if hint.cut else []), *estimate.cut))),
    )
    if hint.threads is None:
        names = ", ".join(hinted.deciding or hint.unbound)
        sizes = Doubt("sizes", hint.share, f"the hint is another one at other sizes ({names})")
        guessed = replace(
            hinted, confidence=rounded_confidence(estimate.confidence * hint.share),
            range=hint.range, doubts=(*estimate.doubts, sizes),
        )  # fmt: skip
        if hint.usual is None:
            return guessed
        return replace(
            guessed, packages=hint.usual.packages, threads=hint.usual.threads, threads_per_core=1,
            shared_core_speedup=None,
        )  # fmt: skip
    if isinstance(hinted, Estimate):
        return known_at_all_sizes(hinted, hint)
    return replace(hinted, threads=hint.threads, threads_per_core=1)
