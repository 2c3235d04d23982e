"""Defines the weights of the model selection. docs/fit.md explains how they were determined."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from regionpredict.fit.model.observations import Statistic

_USUAL_REPETITIONS = 5.0
_PRICE_OF_MORE = 1 / 3  # exponent of the number of repetitions in the price of more terms


@dataclass(frozen=True, slots=True)
class Criterion:
    """The weights of the model selection, all in units of minus twice a log-probability.

    - `rarity`: weight of a term's rarity in a model with one term
    - `pair_rarity`: the same in a model with two terms
    - `grid_rarity`: the same in a model of several parameters
    - `sum_rarity`: the same in a sum of three parts of several parameters
    - `line_rarity`: the same in the choice of terms to try for several parameters
    - `growth`: the minimum gain of a first term over a constant
    - `second`: the price of a second term
    - `thread_overhead`: the price of `log2(p)` or `p` in addition to `1/p`, as overhead of threads
    - `occam`: the weight of the Occam factor, the volume of possible coefficients
    - `noise_floor`: the minimum relative noise, assumed for `floor_dof` degrees of freedom
    - `second_gain`: the misfit above which pairs of terms are tried
    - `ratio`: weight of the ratio of constant and coefficient
    - `steadiness`: the factor of rarities for summaries of disturbed repetitions. With it, a single
      disturbed repetition rarely decides between two terms, or between one term and two.
    """

    rarity: float = 0.9
    pair_rarity: float = 7.0
    grid_rarity: float = 4.0
    sum_rarity: float = 7.0
    line_rarity: float = 2.4
    growth: float = 6.0
    second: float = 5.0
    thread_overhead: float = -2.0
    occam: float = 0.7
    noise_floor: float = 1e-3
    floor_dof: float = 1.0
    second_gain: float = 6.5
    ratio: float = 1.5
    steadiness: float = 2.7
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # The hash is stored, since each fit looks up cached prices by its criterion.
        weights = tuple(getattr(self, name.name) for name in fields(self) if name.compare)
        object.__setattr__(self, "_hash", hash(weights))

    def __hash__(self) -> int:
        return self._hash

    def for_summaries(self, statistic: Statistic, repetitions: int) -> Criterion:
        """Returns the weights for summaries by `statistic` of this number of repetitions.

        With more repetitions, the correct term gains more over others, so a larger penalty rarely
        excludes it.
        """
        if statistic == "mean":
            return self
        more = max(repetitions / _USUAL_REPETITIONS, 1.0) ** _PRICE_OF_MORE
        return replace(self, rarity=self.steadiness * more * self.rarity, second=more * self.second)


DEFAULT_CRITERION = Criterion()

DOUBTFUL = 0.2
"""The unexplained share of the variation above which the mean may be as good as the model."""
