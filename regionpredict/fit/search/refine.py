"""`fit_refined`: models with exponents outside the search space (Shudler 2018, sec. 2.3.1)."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.observations import Statistic
from regionpredict.fit.search.fitting import fit
from regionpredict.fit.search.options import NEEDED_POINTS
from regionpredict.fit.search.refined_space import REFINED_SPACE, REFINING


def fit_refined(
    points: Sequence[Sequence[float]] | Sequence[float],
    values: Sequence[Sequence[float]],
    *,
    parameter: str = "p",
    statistic: Statistic = "mean",
    min_points: int = NEEDED_POINTS,
) -> FittedModel:
    """Fits a constant and one term of `REFINED_SPACE` to a series of one parameter. Raises the same
    errors as `fit`.

    >>> points = [(p,) for p in (4, 8, 16, 32, 64, 128)]
    >>> str(fit_refined(points, [[2 + 3 * p**0.6875] * 2 for (p,) in points]))
    '2 + 3*p^(11/16)'
    """
    return fit(
        points,
        values,
        parameters=(parameter,),
        statistic=statistic,
        space=REFINED_SPACE,
        criterion=REFINING,
        max_terms=1,
        min_points=min_points,
        segments=1,
    )
