"""The refined search space, with exponents outside the default one (Shudler 2018, sec. 2.3.1).

The distance between whole exponents is bisected four times, for each power of the logarithm. A
finer exponent must explain the data better: each bisection makes a term rarer by one half. The
model has a constant and one term. Exponents without a logarithm may be negative.
"""

from __future__ import annotations

from regionpredict.fit.model.terms import CompiledSpace, FloatArray, SearchSpace, Term
from regionpredict.fit.search.criterion import Criterion

_HALVINGS = 4
_LOWEST, _HIGHEST = -2, 5  # whole exponents
_RARER = 0.5  # factor per halving
_LOGARITHMS = (0.0, 1.0, 2.0)

REFINING = Criterion(rarity=1.0)
"""The weights of a search in `REFINED_SPACE`, which has its own rarities."""


def _ruler() -> dict[Term, float]:
    """The terms of all bisections, each with its rarity."""
    rarities: dict[Term, float] = {}
    for level in range(_HALVINGS + 1):
        step = 0.5**level
        for k in range(int((_HIGHEST - _LOWEST) / step) + 1):
            poly = _LOWEST + k * step
            for log2 in _LOGARITHMS:
                if (poly or log2) and (poly >= 0 or not log2):
                    rarities.setdefault((poly, log2), _RARER * level)
    return rarities


_RULER = _ruler()
REFINED_SPACE = SearchSpace.of(_RULER, rarities=list(_RULER.values()))
"""Exponents in sixteenths, from -2 to 5, with up to two logarithms."""


def refined_columns(space: CompiledSpace, x: FloatArray) -> CompiledSpace:
    """`REFINED_SPACE` at the values of `space`, `(n,)`, which caches it."""
    known = space.kept.get("refined")
    if not isinstance(known, CompiledSpace):
        known = space.kept["refined"] = REFINED_SPACE.compiled(x)
    return known
