"""Forecasts beyond the measured points, where no single formula is certain: `Outlook`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from regionpredict.fit.model.terms import FloatArray


@dataclass(frozen=True, slots=True)
class Outlook:
    """A forecast at `k` points by `f` forecasters. `values` `(k,)` are positive and in the unit of
    the metric. `spread` `(k,)` is the standard deviation of their logarithms. It includes the
    errors of forecasts at measured points, and the disagreement of the forecasters. `opinions` `(f,
    k)` are the values of the individual forecasters, with NaN for no value, and `shares` `(f, k)`
    their weights.
    """

    values: FloatArray
    spread: FloatArray
    forecasters: tuple[str, ...]
    opinions: FloatArray
    shares: FloatArray


Forecast = Callable[[FloatArray], Outlook | None]
"""A function that returns the outlook at points `(k, m)`, or None if the formula is almost
certain.
"""
