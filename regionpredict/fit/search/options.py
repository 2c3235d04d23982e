"""Defines the options of the model search."""

from __future__ import annotations

from dataclasses import dataclass

from regionpredict.fit.model.observations import Statistic
from regionpredict.fit.model.terms import DEFAULT_SPACE, SearchSpace
from regionpredict.fit.search.criterion import DEFAULT_CRITERION, Criterion

NEEDED_POINTS = 5
"""The default minimum number of points: fewer show no growth (Shudler 2018, sec. 2.3)."""

MOST_SEGMENTS = 3
"""The default maximum number of pieces of a series. More pieces would describe a curve instead of
changes of behavior.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a fit, which are arguments of `fit`."""

    statistic: Statistic = "mean"
    space: SearchSpace = DEFAULT_SPACE
    criterion: Criterion = DEFAULT_CRITERION
    max_terms: int = 2
    min_points: int = NEEDED_POINTS
    segments: int = MOST_SEGMENTS
