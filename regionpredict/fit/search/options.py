"""The options of the search for a model."""

from __future__ import annotations

from dataclasses import dataclass

from regionpredict.fit.model.observations import Statistic
from regionpredict.fit.model.terms import DEFAULT_SPACE, SearchSpace
from regionpredict.fit.search.criterion import DEFAULT_CRITERION, Criterion

NEEDED_POINTS = 5
"""Fewer points show no growth (Shudler 2018, sec. 2.3), but a caller may override it."""

MOST_SEGMENTS = 3
"""Default maximum number of pieces of a series. More would describe a curve, not changes of
behavior.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a fit. See `fit`."""

    statistic: Statistic = "mean"
    space: SearchSpace = DEFAULT_SPACE
    criterion: Criterion = DEFAULT_CRITERION
    max_terms: int = 2
    min_points: int = NEEDED_POINTS
    segments: int = MOST_SEGMENTS
