"""Records of results as a dictionary, in milliseconds where a test counts in them."""

from __future__ import annotations

from regionpredict.trace.profile import TraceResult


def by_place(result: TraceResult, metric: str, unit: float = 1.0) -> dict[str, float]:
    """`callpath/rank` -> value, those that are not 0."""
    return {
        f"{record.callpath}/{record.location}": record.value / unit
        for record in result.records
        if record.metric == metric and record.value
    }
