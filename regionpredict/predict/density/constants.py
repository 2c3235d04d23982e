"""The constants of the density model, except those of the machine, with unit, evidence and
source.
"""

from __future__ import annotations

from regionpredict.constant import Constant

ASSUMED_WORKING_SET = Constant(
    10, "largest caches", "measured",
    "the setting of Chatzopoulos 2012, sec. 6.2, for data that does not fit a cache",
)  # fmt: skip
BORDERLINE = Constant(
    0.05, "of the score", "assumed", "a score this close to a boundary may be on the other side"
)
ALL_OF_DOMAINS = Constant(
    0.751, "of the hints", "measured",
    "that are right: all packages, where each has its memory (docs/accuracy.md, fitted there)",
)  # fmt: skip
FEWER_OF_DOMAINS = Constant(
    0.22, "of the hints", "measured",
    "that are right: fewer packages, where each has its memory (docs/accuracy.md, fitted there)",
)  # fmt: skip
ALL_OF_ONE_PATH = Constant(
    0.536, "of the hints", "measured",
    "that are right: all packages, on one path to memory (docs/accuracy.md, fitted there)",
)  # fmt: skip
FEWER_OF_ONE_PATH = Constant(
    0.475, "of the hints", "measured",
    "that are right: fewer packages, on one path to memory (docs/accuracy.md, fitted there)",
)  # fmt: skip
PARTIAL_CONFIDENCE = Constant(
    0.7,
    "of the confidence",
    "assumed",
    "the remaining confidence if a part of the region is not supported",
)
ASSUMPTION_CONFIDENCE = Constant(
    0.9, "of the confidence", "assumed", "the remaining confidence per assumed size"
)
