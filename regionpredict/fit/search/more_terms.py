"""Fits models with three or more terms, if requested."""

from __future__ import annotations

import numpy as np

from regionpredict.fit.model.observations import Observations
from regionpredict.fit.model.terms import CompiledSpace, FloatArray
from regionpredict.fit.search import one_parameter
from regionpredict.fit.search.criterion import Criterion
from regionpredict.fit.search.one_parameter import Data

_KEPT = 60  # number of models that are extended by another term
_SMALLEST = 1e-10  # determinant of normalized columns below which they count as dependent

Chosen = tuple[int, ...]


def more_terms(
    observations: Observations, space: CompiledSpace, criterion: Criterion, most: int
) -> tuple[float, tuple[tuple[float, int], ...]] | None:
    """Returns the constant, and each coefficient with the index of its term in the search space,
    for up to `most` terms.

    The best models with one and two terms are extended term by term (Shudler 2018, fig. 2.2). Each
    further term must explain more than its price. All coefficients are positive. Returns None if no
    third term explains enough.
    """
    data = Data(
        observations.y[None],
        observations.weights[None],
        np.array([observations.within]),
        np.array([observations.dof]),
    )
    ranked = one_parameter.ranked_models(data, space, criterion)
    starts = [
        tuple(sorted(k for k in pair if k >= 0))
        for pair in zip(ranked.first.tolist(), ranked.second.tolist(), strict=True)
    ]
    beam = [chosen for chosen in starts if chosen][:_KEPT]
    best, least = (
        None,
        min(_score_and_coefficients(observations, space, criterion, chosen)[0] for chosen in beam),
    )
    for size in range(3, most + 1):
        if len(observations.y) < size + 3:  # two more points than coefficients
            break
        longer = {
            tuple(sorted((*chosen, k)))
            for chosen in beam
            for k in range(len(space.terms))
            if k not in chosen
        }
        scored = sorted(
            (_score_and_coefficients(observations, space, criterion, chosen), chosen)
            for chosen in longer
        )
        (score, coefficients), chosen = scored[0]
        if score >= least:
            break
        least = score
        best = (coefficients[0], tuple(zip(coefficients[1:], chosen, strict=True)))
        beam = [chosen for _, chosen in scored[:_KEPT]]
    return best


def _score_and_coefficients(
    observations: Observations, space: CompiledSpace, criterion: Criterion, terms: Chosen
) -> tuple[float, tuple[float, ...]]:
    """Returns minus twice the logarithm of the model's probability, and the model's
    coefficients.
    """
    columns: FloatArray = np.vstack([np.ones(len(observations.y)), space.columns[list(terms)]])
    root = np.sqrt(observations.weights)
    scaled = columns * root
    size = np.sqrt((scaled * scaled).sum(1))
    unit = scaled / size[:, None]
    gram = unit @ unit.T
    if np.linalg.det(gram) < _SMALLEST ** len(terms):
        return np.inf, ()
    solution = np.linalg.solve(gram, unit @ (root * observations.y))
    if (solution[1:] <= 0).any():
        return np.inf, ()
    misfit = float(((root * observations.y - solution @ unit) ** 2).sum())
    count = len(observations.y)
    dof = observations.dof + criterion.floor_dof + count - 2.0
    base = observations.within + criterion.floor_dof * criterion.noise_floor**2
    price = criterion.second * len(terms)
    price += criterion.pair_rarity * float(space.rarity[list(terms)].sum())
    return dof * float(np.log(base + misfit)) + price, tuple((solution / size).tolist())
