"""Lists the factors that lower the confidence of a hint."""

from __future__ import annotations

from regionpredict.predict import Estimate, TeamEstimate


def why_this_confidence(estimate: Estimate | TeamEstimate) -> list[str]:
    """A line per doubt with the remaining confidence. Empty if there is no doubt."""
    if not estimate.doubts:
        return []
    lines = [
        f"  {100 * known.factor:3.0f} %  {known.id}: {known.reason}" for known in estimate.doubts
    ]
    return ["Factors of the confidence:", *lines]
