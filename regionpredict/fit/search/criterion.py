"""The weights of the model selection; how they were found is in docs/fit.md."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from regionpredict.fit.model.observations import Statistic

_USUAL_REPETITIONS = 5.0
_PRICE_OF_MORE = 1 / 3  # the power of the repetitions by which prices grow where they are many


@dataclass(frozen=True, slots=True)
class Criterion:
    """The weights of the model selection; all in units of minus twice a log-probability.

    `rarity`: a term's rarity counts so much in a model of one term, `pair_rarity` in one of two,
    `grid_rarity` in one of several parameters, `sum_rarity` in a sum of three parts there,
    `line_rarity` in the choice of those to try;
    `growth`: the gain over a constant that a first term must bring; `second`: the price of a
    second term; `thread_overhead`: the same for `log2(p)` or `p` beside `1/p`, the overhead of
    more threads; `occam`: the share of the coefficients' volume that counts;
    `noise_floor`: relative noise that is assumed even where repetitions agree, for `floor_dof`
    degrees of freedom; `second_gain`: the misfit above which pairs of terms are tried at all;
    `ratio`: how much the ratio of constant and coefficient counts; `steadiness`: how many times
    as much rarity counts where the summary is one for disturbed repetitions, so that one of them
    more or less seldom tips a tie between a common term and a rare one, or between one and two.
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
        # Prices are looked up by it, once a fit.
        weights = tuple(getattr(self, name.name) for name in fields(self) if name.compare)
        object.__setattr__(self, "_hash", hash(weights))

    def __hash__(self) -> int:
        return self._hash

    def summarising(self, statistic: Statistic, repetitions: int) -> Criterion:
        """The weights for values that `statistic` summarises, of so many repetitions each.

        The more repetitions, the more the right term gains over others, and the less a price keeps
        it from being found.
        """
        if statistic == "mean":
            return self
        more = max(repetitions / _USUAL_REPETITIONS, 1.0) ** _PRICE_OF_MORE
        return replace(self, rarity=self.steadiness * more * self.rarity, second=more * self.second)


DEFAULT_CRITERION = Criterion()

DOUBTFUL = 0.2
"""Of the variation; where a model leaves more of it, the mean may be as good."""
