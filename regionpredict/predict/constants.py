"""Every number by which a curve becomes a hint: unit, evidence, source."""

from __future__ import annotations

from regionpredict.constant import Constant

WITHIN = Constant(
    0.05, "of the best speed", "assumed",
    "what a hint may lose, where nothing else is asked for (`--within`): repeated runs of a region "
    "differ by as much",
)  # fmt: skip
SATURATED = Constant(
    0.9, "of the best speed", "assumed", "a curve that reaches it is called saturated there"
)
EFFICIENT = Constant(
    0.8, "of the ideal speedup", "assumed",
    "from this efficiency on nothing keeps the threads from scaling",
)  # fmt: skip
