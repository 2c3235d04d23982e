"""How to search for a model."""

from __future__ import annotations

from dataclasses import dataclass

from regionpredict.fit.model.observations import Statistic
from regionpredict.fit.model.terms import DEFAULT_SPACE, SearchSpace
from regionpredict.fit.search.criterion import DEFAULT_CRITERION, Criterion

NEEDED_POINTS = 5
"""Fewer points tell no growth (Shudler 2018, sec. 2.3); a caller who knows better may say so."""

MOST_SEGMENTS = 3
"""Pieces that a series is divided into unasked: more are a curve, not changes of behaviour."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to fit; see `fit`."""

    statistic: Statistic = "mean"
    space: SearchSpace = DEFAULT_SPACE
    criterion: Criterion = DEFAULT_CRITERION
    max_terms: int = 2
    min_points: int = NEEDED_POINTS
    segments: int = MOST_SEGMENTS
