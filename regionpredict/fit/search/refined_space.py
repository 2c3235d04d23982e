"""Defines the refined search space, with more exponents than the default space (Shudler 2018, sec.
2.3.1).

The distance between whole exponents is bisected four times, for each power of the logarithm. A
finer exponent must explain the data better, since each bisection increases the rarity by 0.5. The
model has a constant and one term. Exponents without a logarithm may be negative.
"""

from __future__ import annotations

from regionpredict.fit.model.terms import CompiledSpace, FloatArray, SearchSpace, Term
from regionpredict.fit.search.criterion import Criterion

_HALVINGS = 4
_LOWEST, _HIGHEST = -2, 5  # range of the exponents
_RARER = 0.5  # increase of the rarity per bisection
_LOGARITHMS = (0.0, 1.0, 2.0)

REFINING = Criterion(rarity=1.0)
"""The weights of a search in `REFINED_SPACE`, whose terms have separate rarities."""


def _bisected_terms() -> dict[Term, float]:
    """Returns the terms of all bisections with their rarities."""
    rarities: dict[Term, float] = {}
    for level in range(_HALVINGS + 1):
        step = 0.5**level
        for k in range(int((_HIGHEST - _LOWEST) / step) + 1):
            poly = _LOWEST + k * step
            for log2 in _LOGARITHMS:
                if (poly or log2) and (poly >= 0 or not log2):
                    rarities.setdefault((poly, log2), _RARER * level)
    return rarities


_RULER = _bisected_terms()
REFINED_SPACE = SearchSpace.of(_RULER, rarities=list(_RULER.values()))
"""Exponents in sixteenths, from -2 to 5, with up to two logarithms."""


def refined_columns(space: CompiledSpace, x: FloatArray) -> CompiledSpace:
    """Returns `REFINED_SPACE` evaluated at the parameter values `x` `(n,)`. The result is cached in
    `space`.
    """
    known = space.kept.get("refined")
    if not isinstance(known, CompiledSpace):
        known = space.kept["refined"] = REFINED_SPACE.compiled(x)
    return known
