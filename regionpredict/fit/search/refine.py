"""Refinement: the exponents are found without a given search space (Shudler 2018, sec. 2.3.1).

The search begins with whole exponents of the parameter, each alone and with one and two
logarithms, and halves the distance to the neighbours of the best one for as long as that
explains the data noticeably better. The model has a constant and one term; exponents may be
negative.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.observations import Statistic
from regionpredict.fit.model.terms import SearchSpace, Term
from regionpredict.fit.search.criterion import Criterion
from regionpredict.fit.search.fitting import fit
from regionpredict.fit.search.options import NEEDED_POINTS

_LOGARITHMS = (0.0, 1.0, 2.0)


def fit_refined(
    points: Sequence[Sequence[float]] | Sequence[float],
    values: Sequence[Sequence[float]],
    *,
    parameter: str = "p",
    statistic: Statistic = "mean",
    low: int = -2,
    high: int = 4,
    depth: int = 6,
    min_points: int = NEEDED_POINTS,
) -> FittedModel:
    """Models one parameter with exponents from `low` to `high`, halved at most `depth` times.

    A finer exponent must earn its rarity: each halving makes a term rarer by one half. Raises
    as `fit` does.

    >>> points = [(p,) for p in (4, 8, 16, 32, 64, 128)]
    >>> str(fit_refined(points, [[2 + 3 * p**0.6875] * 2 for (p,) in points]))
    '2 + 3*p^(11/16)'
    """
    whole = [float(i) for i in range(low, high + 1)]
    known: dict[Term, float] = {
        (i, j): 0.0
        for j in _LOGARITHMS
        for i in whole
        if (i, j) != (0.0, 0.0) and (i >= 0 or j == 0)
    }

    def best_of(terms: dict[Term, float]) -> FittedModel:
        return fit(
            points,
            values,
            parameters=(parameter,),
            statistic=statistic,
            space=SearchSpace.of(terms, rarities=list(terms.values())),
            criterion=_CRITERION,
            max_terms=1,
            min_points=min_points,
            segments=1,
        )

    # Each power of the logarithm is refined by itself: a term with a logarithm can be the best
    # coarse one where the best fine one has none.
    for j in _LOGARITHMS:
        step, previous = 1.0, None
        for level in range(depth):
            model = best_of({term: r for term, r in known.items() if term[1] == j})
            if not model.terms or (model.monomials == previous and level > _PATIENCE):
                break
            previous = model.monomials
            poly = next(iter(model.terms[0][1].values()))[0]
            step /= 2
            for i in (poly - step, poly + step):
                if (i, j) != (0.0, 0.0) and (i >= 0 or j == 0):
                    known.setdefault((i, j), 0.5 * (level + 1))
    return best_of(known)


_PATIENCE = 3
_CRITERION = Criterion(rarity=1.0)
