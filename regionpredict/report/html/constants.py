"""Defines the thresholds of grades and errors on pages: unit, evidence, source."""

from __future__ import annotations

from regionpredict.constant import Constant

GRADES = Constant(
    4, "grades", "assumed",
    "shares of the time are given in quarters. Half of one is about the median error of "
    "predicted times and speedups on data without influence on the model (docs/accuracy.md), so "
    "a finer grade would be noise",
)  # fmt: skip
LEAST_GOOD_GRADE = Constant(
    0.5, "of the grades", "assumed",
    "a check with less than half of its grades is marked as poor, since more time is lost than "
    "well used. A check with less than all is marked as in between",
)  # fmt: skip
LEAST_SHARE_LISTED = Constant(
    0.01, "of the time", "assumed",
    "places with a smaller share of the program's time are not listed. Runs on quiet machines "
    "differ by a percent or two",
)  # fmt: skip
SPEEDUP_OFF = Constant(
    0.25, "of the measured speedup", "assumed",
    "a predicted speedup that is farther off is called wrong: about twice the median error on "
    "data unknown to the model (docs/accuracy.md)",
)  # fmt: skip
