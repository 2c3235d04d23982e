"""What is expected beyond the measured points, where no single formula is sure: `Outlook`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from regionpredict.fit.model.terms import FloatArray


@dataclass(frozen=True, slots=True)
class Outlook:
    """The forecast at `k` points: `values` `(k,)`, in the unit of the metric, all positive.

    `spread` `(k,)` is the standard deviation of its logarithm: how far off the same forecast was
    at measured points it had not seen, and how far its forecasters disagree. `forecasters` names
    them; `opinions` is `(f, k)`, NaN where one has none, and `shares` `(f, k)` what each counted.
    """

    values: FloatArray
    spread: FloatArray
    forecasters: tuple[str, ...]
    opinions: FloatArray
    shares: FloatArray


Forecast = Callable[[FloatArray], Outlook | None]
"""The outlook at points `(k, m)`; None where the formula is as good as certain."""
