"""The estimate of one region on one machine by one model."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

from regionpredict.predict.by_size import HintRange, SizeHint
from regionpredict.predict.curve import SaturationDerivation, Superlinear
from regionpredict.predict.density_form import DensityForm
from regionpredict.predict.uncertainty import Bounds, Doubt
from regionpredict.workload import Diagnostic, RegionFacts
from regionpredict.workload.assumed_sizes import sizes_origin

CUT_SIZES, CUT_NEIGHBOURS, CUT_TRAFFIC = CUT = ("sizes", "neighbours", "traffic")
"""The parts of a prediction that a budget may omit: trials of unknown sizes, trials of evictions by
other loops, and details of the traffic.
"""


class Term(NamedTuple):
    """One summand of a density score: `number` times `weight` (cycles).

    `kind` is 'operation', 'hit', 'miss that hits', 'streaming miss', 'latency miss' or 'irregular
    miss'. A 'miss that hits' is the share of counted misses that hit the cache according to eq.
    4.2. `what` is the operation or the reference.
    """

    kind: str
    what: str
    number: float
    weight: float

    @property
    def good(self) -> bool:
        """Whether the term is part of the good score."""
        return not self.kind.endswith(" miss")

    @property
    def value(self) -> float:
        """The summand in cycles."""
        return self.number * self.weight


@dataclass(frozen=True, slots=True)
class StatementScore:
    """The good score and the bad score of one statement in cycles, with their terms."""

    line: int
    text: str
    terms: tuple[Term, ...]

    @property
    def good(self) -> float:
        """The cost of operations that scale with the number of cores."""
        return sum(term.value for term in self.terms if term.good)

    @property
    def bad(self) -> float:
        """The cost of accesses that use the shared path to memory."""
        return sum(term.value for term in self.terms if not term.good)


@dataclass(frozen=True, slots=True)
class DensityDerivation:
    """The derivation of a density score from the scores of statements and their averages in cycles.

    `counts` are the weights of the statements in the averages. `thresholds` are the boundaries
    between the areas of the score, one fewer than the sockets. `data_bytes` is the working set of
    eq. 4.2, which is assumed if sizes are unknown.
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
    """The hint of one model for a region: the sockets and threads that it can use, with reasons and
    confidence.

    `status` is 'predicted', 'partial' or 'skipped'. `working_set_bytes` is None for unknown sizes.
    `speedup` contains (threads, speedup) pairs, and is empty for a model without a curve. `band` is
    the 80 % interval of each pair. `superlinear` describes a superlinear speedup. Each core runs
    `threads_per_core` of the `threads`. If this is more than one, `shared_core_speedup` is the
    speedup of the hint, which is not part of the curve. `confidence` is the expected share of right
    hints, from 0 to 1, and `doubts` explain it.

    `unbound` are the names without a value, and `deciding` the names that change the hint. All
    results then belong to the assumed sizes. `range` contains the hints at other sizes, and
    `by_size` the thresholds. `cut` lists the parts of the prediction that a budget omitted.
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
    """An estimate with the facts of its region. `idle` says that neither a `main` function nor a
    recorded run reaches the region, although other regions are reached.
    """

    facts: RegionFacts
    idle: bool = False

    @property
    def sizes_from(self) -> str:
        """The least certain source of the region's sizes, one of `SIZE_ORIGINS`."""
        return sizes_origin([self.facts], self.unbound)

    @staticmethod
    def of(estimate: Estimate, facts: RegionFacts, *, idle: bool = False) -> Prediction:
        """Combines an estimate with the facts of its region, and makes the names in its texts
        readable.
        """
        in_words = facts.region.in_words
        own = {field.name: getattr(estimate, field.name) for field in fields(Estimate)}
        own["assumed"] = tuple(dict.fromkeys(map(in_words, estimate.assumed)))
        own["diagnostics"] = tuple(
            note._replace(message=in_words(note.message)) for note in estimate.diagnostics
        )
        return Prediction(**own, facts=facts, idle=idle)

    def in_words(self, text: str) -> str:
        """Replaces internal names in a text about the loop by readable names."""
        return self.facts.region.in_words(text)
