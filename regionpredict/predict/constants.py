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
SIZES_TRIED = Constant(5, "sizes", "assumed", "a hint that turns twice does not turn back")
LARGEST_SIZE_TRIED = Constant(
    16.0, "times the assumed size", "assumed", "data beyond all caches behaves alike"
)
SIZE_PRECISION = Constant(0.05, "of the size", "assumed", "finer than sizes are chosen")
CURVE_ERROR = Constant(
    0.41, "predicted / measured - 1", "measured",
    "the loops of LULESH inside one domain, median (docs/accuracy.md, errors, out of the sample)",
)  # fmt: skip
PLAN_ROUNDS = Constant(
    8, "rounds", "derived", "of a plan's improvements: each must gain, and few do after the second"
)
