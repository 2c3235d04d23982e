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


def with_open_sizes(estimate: AnEstimate, found: OpenHint) -> AnEstimate:
    """The estimate with what trials of its open sizes found."""
    told = replace(
        estimate,
        by_size=found.by_size,
        unbound=found.unbound,
        deciding=tuple(name for name in found.unbound if name in found.deciding),
    )
    if found.threads is None:
        return replace(
            told, packages=None, threads=None, confidence=0.0, borderline=False, range=found.range,
            threads_per_core=1,
        )  # fmt: skip
    if isinstance(told, Estimate):
        return known_at_all_sizes(told, found)
    return replace(told, threads=found.threads, threads_per_core=1)
