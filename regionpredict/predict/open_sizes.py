"""An estimate where sizes are open: what a guess decides is not known.

A hint stands where some number of threads is good at all sizes that were tried. Where none is, it
is left open between the least and the most; the curve is still that of the assumed sizes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from regionpredict.predict.by_size import OpenHint
from regionpredict.predict.estimate import Estimate
from regionpredict.predict.saturation import known_at_all_sizes
from regionpredict.predict.teams import TeamPrediction

AnEstimate = TypeVar("AnEstimate", Estimate, TeamPrediction)


def with_open_sizes(estimate: AnEstimate, hint: OpenHint) -> AnEstimate:
    """The estimate with what trials of its open sizes found."""
    hinted = replace(
        estimate,
        by_size=hint.by_size,
        unbound=hint.unbound,
        deciding=tuple(name for name in hint.unbound if name in hint.deciding),
    )
    if hint.threads is None:
        return replace(
            hinted, packages=None, threads=None, confidence=0.0, borderline=False, range=hint.range,
            threads_per_core=1,
        )  # fmt: skip
    if isinstance(hinted, Estimate):
        return known_at_all_sizes(hinted, hint)
    return replace(hinted, threads=hint.threads, threads_per_core=1)
