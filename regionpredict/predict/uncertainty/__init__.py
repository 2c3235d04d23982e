"""Input: a predicted curve. Output: its expected speedup, interval and confidence, from a fit to
measured runs.

`outlook` gives the expected speedup and interval for each number of threads. `confidence` gives the
probability that a choice is right, and `doubts` the reasons for a lower probability. `fitted`
defines the parameters of a fit, and `constants` contains the shipped values.
"""

from regionpredict.predict.uncertainty.confidence import (
    chance_of,
    chance_without_doubts,
    confidence_of,
    log_odds,
    rounded_confidence,
)
from regionpredict.predict.uncertainty.constants import BAND_SHARE
from regionpredict.predict.uncertainty.doubts import (
    Doubt,
    doubt_of_kind,
    doubts_of_notes,
    merge_doubts,
    weighted_by_share,
)
from regionpredict.predict.uncertainty.fitted import SHIPPED, FittedCurves, Spreads
from regionpredict.predict.uncertainty.outlook import (
    Bounds,
    ExpectedSpeedup,
    Traits,
    at_threads,
    band_of,
    expected_of,
    outlook_of,
    traits_of,
    wider_band,
)

__all__ = [
    "BAND_SHARE",
    "SHIPPED",
    "Bounds",
    "Doubt",
    "ExpectedSpeedup",
    "FittedCurves",
    "Spreads",
    "Traits",
    "at_threads",
    "band_of",
    "chance_of",
    "chance_without_doubts",
    "confidence_of",
    "doubt_of_kind",
    "doubts_of_notes",
    "expected_of",
    "log_odds",
    "merge_doubts",
    "outlook_of",
    "rounded_confidence",
    "traits_of",
    "weighted_by_share",
    "wider_band",
]
