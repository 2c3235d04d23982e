"""What a model says of one region on one machine."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

from regionpredict.predict.by_size import HintRange, SizeHint
from regionpredict.predict.curve import SaturationDerivation, Superlinear
from regionpredict.predict.density_form import DensityForm
from regionpredict.predict.uncertainty import Bounds, Doubt
from regionpredict.workload import Diagnostic, RegionFacts
from regionpredict.workload.assumed_sizes import sizes_origin

CUT_SIZES, CUT_NEIGHBOURS = CUT = ("sizes", "neighbours")
"""What a budget may leave out: sizes without a value, and data that others push out."""


class Term(NamedTuple):
    """One addend of a score: `number` times `weight` (cycles).

    `kind` is 'operation', 'hit', 'miss that hits' (the share that eq. 4.2 leaves in the cache), or
    'streaming miss', 'latency miss', 'irregular miss'; `what` the operation or the reference.
    """

    kind: str
    what: str
    number: float
    weight: float

    @property
    def good(self) -> bool:
        """Whether it adds to the good score."""
        return not self.kind.endswith(" miss")

    @property
    def value(self) -> float:
        """The addend, in cycles."""
        return self.number * self.weight


@dataclass(frozen=True, slots=True)
class StatementScore:
    """The good and bad score of one statement, with the terms they are the sums of, in cycles."""

    line: int
    text: str
    terms: tuple[Term, ...]

    @property
    def good(self) -> float:
        """Activity that gains from more processors."""
        return sum(term.value for term in self.terms if term.good)

    @property
    def bad(self) -> float:
        """Activity that presses on the shared memory path."""
        return sum(term.value for term in self.terms if not term.good)


@dataclass(frozen=True, slots=True)
class DensityDerivation:
    """How the density model came to its score: statements, averages (cycles), probability.

    `counts` says how much each statement counts in the averages, `thresholds` are the boundaries
    between the areas, one fewer than the packages that can be chosen. `data_bytes` is the working
    set of eq. 4.2, an assumption where the source tells none.
    """

    statements: tuple[StatementScore, ...]
    good: float
    bad: float
    form: DensityForm
    cache_bytes: int
    data_bytes: int
    thresholds: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many packages and threads a region can use by one model, why, and how sure that is.

    `status` is 'predicted', 'partial' or 'skipped'. `working_set_bytes` is what the source and the
    sizes tell, None where they do not, whatever the model took instead. `speedup` holds (threads,
    times faster) pairs, empty for a model that gives no curve; `band`, in the same order, between
    what four of five measured speedups lie, `superlinear` where and why one is larger than its
    threads. `threads` has `threads_per_core` on each core that it uses; of several,
    `shared_core_speedup` is how many times faster they are, which the curve does not have.
    `confidence` is the share of such hints that are right, from 0 to 1, and `doubts` why it is no
    larger.

    `unbound` are the names without a value, `deciding` those of them by which the hint turns.
    The hint is then that of the assumed sizes, as is all else; others lie in `range`, and `by_size`
    are the hints over the size without a value. `cut` are the kinds of trials, of `CUT`, of which
    the budget left some out.
    """

    model: str
    status: str
    score: float | None
    miss_probability: float | None
    working_set_bytes: int | None
    speedup: tuple[tuple[int, float], ...]
    packages: int | None
    threads: int | None
    bottleneck: str | None
    confidence: float
    borderline: bool
    assumed: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    derivation: DensityDerivation | SaturationDerivation | None = None
    by_size: tuple[SizeHint, ...] = ()
    unbound: tuple[str, ...] = ()
    deciding: tuple[str, ...] = ()
    range: HintRange | None = None
    band: tuple[Bounds, ...] = ()
    superlinear: Superlinear | None = None
    threads_per_core: int = 1
    shared_core_speedup: float | None = None
    doubts: tuple[Doubt, ...] = ()
    cut: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction(Estimate):
    """An estimate together with the facts of its region, for those who show it; `idle`: no `main`
    comes to it, while it comes to others."""

    facts: RegionFacts
    idle: bool = False

    @property
    def sizes_from(self) -> str:
        """Where its sizes are from, one of `SIZE_ORIGINS`."""
        return sizes_origin([self.facts], self.unbound)

    @staticmethod
    def of(estimate: Estimate, facts: RegionFacts, *, idle: bool = False) -> Prediction:
        """The prediction that an estimate makes of the region with these facts."""
        return Prediction(
            **{field.name: getattr(estimate, field.name) for field in fields(Estimate)},
            facts=facts,
            idle=idle,
        )
