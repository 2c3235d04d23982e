"""Every number that the density model takes beside the machine: unit, evidence, source."""

from __future__ import annotations

from regionpredict.constant import Constant

ASSUMED_WORKING_SET = Constant(
    10, "largest caches", "measured",
    "the setting of Chatzopoulos 2012, sec. 6.2, for data that does not fit a cache",
)  # fmt: skip
BORDERLINE = Constant(
    0.05, "of the score", "assumed", "a score as near to a boundary as this may lie beyond it"
)
LEAST_CONFIDENCE = Constant(
    0.5, "1", "assumed", "a score on a boundary: both sides are as likely; 1 in an area's middle"
)
PARTIAL_CONFIDENCE = Constant(
    0.7, "of the confidence", "assumed", "what is left where a part of the region is not understood"
)
ASSUMPTION_CONFIDENCE = Constant(
    0.9, "of the confidence", "assumed", "what each assumed size leaves of it"
)
