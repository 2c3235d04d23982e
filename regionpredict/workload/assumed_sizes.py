"""Values for unknown sizes. All have one value, which is chosen for a given amount of data.

The caller chooses this amount. The saturation model uses a multiple of the machine's caches.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.bindings import (
    INTERPRETED_ORIGINS,
    least_certain_origin,
    middle_of,
    names_inside,
    with_middles,
)
from regionpredict.analysis.bisection import smallest_reaching
from regionpredict.ir import Expr
from regionpredict.ir.once_a_region import once_a_region
from regionpredict.isolation import Failure, attempt
from regionpredict.workload.cache_traffic import touched_bytes
from regionpredict.workload.constants import (
    DEFAULT_ELEMENT,
    FALLBACK_SIZE,
    LARGEST_TRIAL,
    LEAST_TYPICAL,
    MOST_WORK,
    SHORT_LOOP,
    TILE_SIZE,
)
from regionpredict.workload.nest_lowering import loop_nest

Values = Mapping[str, int | Fraction]

TEAM_SIZES = frozenset(
    ("omp_get_num_threads()", "omp_get_max_threads()", "omp_get_num_procs()")
)  # fmt: skip
"""Names whose values come from the OpenMP runtime (OpenMP 5.2, section 18.2). They are not data
sizes.
"""


_MEMBER_STEPS = frozenset(".>[")


def sizes_origin(loops: Sequence[RegionFacts], unbound: Collection[str]) -> str:
    """The least certain source of the sizes of some loops, one of `SIZE_ORIGINS`. `unbound` are
    further names without a value.
    """
    missing = {*unbound}.union(*(facts.bindings.unbound(facts.free_names) for facts in loops))
    origins = {facts.bindings.origin for facts in loops}
    if missing - TEAM_SIZES:
        scales = [facts.bindings.typical for facts in loops
                  if facts.bindings.unbound(facts.free_names)]  # fmt: skip
        # Without such a loop, it is a row of unknown length in a run of known size.
        scaled = None not in scales and (
            bool(scales) or not origins.isdisjoint(INTERPRETED_ORIGINS)
        )
        origins.add("typical" if scaled else "large")
    return least_certain_origin(origins)


def with_typical_sizes(
    regions: Sequence[RegionFacts], runs: Mapping[str, float]
) -> tuple[RegionFacts, ...]:
    """The regions of a program whose `main` was executed. Regions of unknown size get the number of
    elements of the largest region of known size. `runs` are the executions of the regions, by id.

    The sizes of one program have a common scale. A loop over the elements of a material has at most
    as many iterations as a loop over all elements. A size that is an element of an array
    (`length[r]`) is the size of one of several parts. The number of parts is the number of
    executions per execution of the largest region.
    """
    counts = {
        facts.region.id: count
        for facts in regions
        if runs.get(facts.region.id) and not facts.bindings.unbound(facts.free_names)
        and (count := _elements(facts, with_middles(facts.region, facts.bindings.values)))
    }  # fmt: skip
    typical = max(counts.values(), default=0.0)
    if typical < LEAST_TYPICAL.value:
        return tuple(regions)
    once = max(runs[name] for name, count in counts.items() if count == typical)
    fewest: dict[str, float] = {}
    for facts in regions:
        for name in facts.bindings.unbound(facts.free_names):
            often = runs.get(facts.region.id, 0.0) or once
            fewest[name] = min(often, fewest.get(name, often))
    return tuple(
        replace(facts, bindings=replace(facts.bindings, typical=typical / parts))
        if (parts := _parts(facts, fewest, once)) else facts
        for facts in regions
    )  # fmt: skip


def _parts(facts: RegionFacts, fewest: Mapping[str, float], once: float) -> float:
    """The number of parts of the data, if the region's unknown size is the size of a part. 0 if
    there is no unknown size.
    """
    unknown = facts.bindings.unbound(facts.free_names)
    whole = any(not name.endswith("]") or name.endswith("[]") for name in unknown)
    parts = min((max(1.0, fewest[name] / once) for name in unknown), default=0.0)
    return min(1.0, parts) if whole else parts


class CommonSizes:
    """One assumed value for an unknown size that several regions, or serial loops, have in common.

    For example, an edge of a grid is as long in a loop over one face as in a loop over the whole
    grid. Members of structs with the same name are assumed to be equal, and so are variables of
    calling functions.
    """

    def __init__(self, regions: Sequence[RegionFacts], target: SizeTarget, line_bytes: int) -> None:
        self._regions = regions
        self._names = [common_names(facts) if facts.status != "skipped" else {}
                       for facts in regions]  # fmt: skip
        self._target, self._line_bytes = target, line_bytes
        self._known: dict[int, OpenSize | None] = {}

    def regions(self) -> tuple[RegionFacts, ...]:
        """The regions with their assumed sizes. If several regions use a size, it has the value of
        the region for which it determines most data.
        """
        uses = Counter(common for own in self._names for common in own.values())
        least = self.values({common for common, number in uses.items() if number > 1})
        # The largest of a region's names decides, because others may be small elsewhere.
        most = [max((least[common] for common in own.values() if common in least), default=None)
                for own in self._names]  # fmt: skip
        own = [self._known.get(number) for number in range(len(self._regions))]
        return tuple(
            replace(facts, bindings=replace(facts.bindings, common_size=limit))
            if limit is not None and size is not None and limit < size.value else facts
            for facts, limit, size in zip(self._regions, most, own, strict=True)
        )  # fmt: skip

    def values(self, wanted: Set[str]) -> dict[str, int]:
        """The assumed values of the given sizes in a region, by common name. If there are several
        values, the smallest is used.
        """
        least: dict[str, int] = {}
        for number, own in enumerate(self._names):
            if wanted.isdisjoint(own.values()):
                continue
            if number not in self._known:
                facts = self._regions[number]
                sizes = attempt(bound_sizes, facts, self._target, self._line_bytes)
                # The region's own prediction reports an internal error.
                self._known[number] = None if isinstance(sizes, Failure) else sizes.open
            size = self._known[number]
            for name, common in own.items():
                if size is not None and name in size.names:
                    least[common] = min(size.value, least.get(common, size.value))
        return least


def common_names(facts: RegionFacts) -> dict[str, str]:
    """The unknown sizes that are equal in all regions, each with a common name."""
    homes = {other.name: f"{other.function}:{other.plain}" for other in facts.region.others
             if other.function}  # fmt: skip
    return {
        name: homes.get(name, name) for name in facts.bindings.unbound(facts.free_names)
        if name in homes or not _MEMBER_STEPS.isdisjoint(name)
    }  # fmt: skip


TYPICAL = "as in the largest loop of the run, or a part of it"


class SizeTarget(NamedTuple):
    """The assumed amount of data of a region with unknown size, in bytes, with its description.

    `team` is the default number of threads of a program, which is the machine's number of cores.
    None if no machine is known. The number is then unknown like a size.
    """

    bytes: float
    reason: str
    team: int | None = None


class OpenSize(NamedTuple):
    """The names without a value, and the common value that is assumed for them."""

    names: tuple[str, ...]
    value: int


class BoundSizes(NamedTuple):
    """The value of every name, a line for each assumption, and the assumed size, if there is
    one.
    """

    values: Values
    guessed: tuple[str, ...]
    open: OpenSize | None


def bound_sizes(facts: RegionFacts, target: SizeTarget, line_bytes: int) -> BoundSizes:
    """The value of every name. A name has its known value, a number of threads from the target, or
    the common value n of the unknown names.

    Bisection finds n so that the region accesses the target amount of data. If the data do not grow
    with n, the number of iterations equals the number of elements in that amount. If the work grows
    faster than the data, it limits n (`MOST_WORK`). Names that only shorten a loop (`first` in
    `i <= last - first`) are lower bounds and have the value 0. Divisors of a length
    (`i < n / parts`) have the value 1.
    """
    answers = _known_before(facts)
    if (target, line_bytes) not in answers:
        answers[target, line_bytes] = _bound_sizes(facts, target, line_bytes)
    return answers[target, line_bytes]


@once_a_region
def _known_before(facts: RegionFacts) -> dict[tuple[SizeTarget, int], BoundSizes]:
    """The sizes that are known in a region. Several stages need them."""
    return {}


def _bound_sizes(facts: RegionFacts, target: SizeTarget, line_bytes: int) -> BoundSizes:
    known: Values = facts.bindings.values
    missing = facts.bindings.unbound(facts.free_names)
    if not missing:
        return BoundSizes(with_middles(facts.region, known), (), None)
    team = target.team
    of_team = [name for name in missing if name in TEAM_SIZES] if team is not None else []
    known = known if team is None else {**known, **dict.fromkeys(of_team, team)}
    notes = [f"{name} = {team} (no value given: all cores)" for name in of_team]
    missing = [name for name in missing if name not in of_team]
    steps = _steps(facts, missing)
    known = {**known, **steps}
    notes += [f"{name} = {value} (no value given: a step)" for name, value in steps.items()]
    missing = [name for name in missing if name not in steps]
    lower, divisors = _lower_bounds(facts, missing)
    missing = [name for name in missing if name not in lower and name not in divisors]
    least = 0 if missing or not lower else _least_running(facts, known, lower, divisors)
    known = {**known, **dict.fromkeys(lower, least), **dict.fromkeys(divisors, 1)}
    why = "where the loop runs most often" if least else "a lower bound"
    notes += [f"{', '.join(lower)} = {least} (no value given: {why})"] if lower else []
    notes += [f"{', '.join(divisors)} = 1 (no value given: a divisor)"] if divisors else []
    if not missing:
        bindings = facts.bindings.with_derived(known)
        return _bound(facts, with_middles(facts.region, bindings), notes, None)

    def trial(n: int) -> Values:
        bindings = {**known, **dict.fromkeys(missing, n)}
        return with_middles(facts.region, facts.bindings.with_derived(bindings))

    n, why = _common_size(facts, trial, target, line_bytes)
    names = ", ".join(missing)
    notes.append(f"{names} = {n} (no value given: {why})")
    return _bound(facts, trial(n), notes, OpenSize(tuple(missing), n))


def _common_size(
    facts: RegionFacts, trial: Callable[[int], Values], target: SizeTarget, line_bytes: int
) -> tuple[int, str]:
    """The value of all unknown sizes, and the reason for it. `trial` gives the value of every name
    if they all have a given size.
    """
    if facts.bindings.common_size is not None:
        return facts.bindings.common_size, "as in another loop over the same sizes"
    bytes_touched = facts.working_set.expr

    def touched(n: int) -> float | None:
        bindings = trial(n)
        if bytes_touched is not None:
            return _number(bytes_touched.evaluate(bindings))
        nest = loop_nest(facts.region, bindings)
        return None if nest is None else touched_bytes(nest, line_bytes)

    def executed(n: int) -> float | None:
        return _executions(facts, trial(n))

    def elements(n: int) -> float | None:
        return _elements(facts, trial(n))

    why = target.reason
    most = int(LARGEST_TRIAL.value)
    n = None
    if facts.bindings.typical is not None:
        why = TYPICAL
        n = smallest_reaching(elements, facts.bindings.typical, 1, most)
    if n is None:
        n = smallest_reaching(touched, target.bytes, 1, most)
    if n is None:
        wanted = target.bytes / DEFAULT_ELEMENT.value
        n = smallest_reaching(executed, wanted, 1, most) or int(FALLBACK_SIZE.value)
        why = "its data is the same for all"
    bearable = smallest_reaching(executed, MOST_WORK.value, 1, n)
    if bearable is not None and bearable < n:
        n, why = bearable, f"{MOST_WORK.value:.0e} iterations of the innermost loop"
    return n, why


def _bound(
    facts: RegionFacts, bindings: Values, notes: Sequence[str], open_size: OpenSize | None
) -> BoundSizes:
    middles = [
        f"{loop.variable} = {bindings[loop.variable]} (the middle of the loop around the region)"
        for loop in facts.region.enclosing
        if loop.variable in bindings.keys() - facts.bindings.values.keys()
        and loop.variable in names_inside(facts.region)
        and middle_of(loop, bindings) is not None
    ]
    return BoundSizes(bindings, (*notes, *middles), open_size)


def _lower_bounds(facts: RegionFacts, missing: list[str]) -> tuple[list[str], list[str]]:
    """The names that shorten at least one loop and lengthen none. They are divisors, or lower
    bounds, which may be 0.
    """
    size = int(LARGEST_TRIAL.value)
    first = dict.fromkeys(
        (loop.variable for loop in facts.region.loops()), 0
    )  # first values of loops
    base = {**first, **facts.bindings.values, **dict.fromkeys(missing, size)}
    lower: list[str] = []
    divisors: list[str] = []
    for name in missing:
        longer = shorter = divides = False
        for trips in _trips(facts):
            if name not in trips.names:
                continue
            here, beyond = trips.evaluate(base), trips.evaluate({**base, name: 2 * size})
            if here == beyond == 0:  # a known length divided by a large number is 0
                here = trips.evaluate({**base, name: 1})
            if here is None or beyond is None:
                longer = True  # unknown, so not a lower bound
                continue
            longer |= beyond > here
            shorter |= beyond < here
            divides |= trips.evaluate({**base, name: 0}) is None
        if shorter and not longer:
            (divisors if divides else lower).append(name)
    return lower, divisors


def _least_running(
    facts: RegionFacts, known: Values, lower: Sequence[str], divisors: Sequence[str]
) -> int:
    """The value of lower bounds. It is 0 if a loop runs with this value. Otherwise, it is the power
    of two with the most iterations. For example, the diagonals of a matrix start at 2. If the loop
    never runs, it is 0.
    """
    trips = facts.region.nest.trips if facts.region.nest is not None else None
    if trips is None:
        return 0

    def runs(value: int) -> float:
        values = {**known, **dict.fromkeys(lower, value), **dict.fromkeys(divisors, 1)}
        count = trips.evaluate(with_middles(facts.region, facts.bindings.with_derived(values)))
        return max(0.0, float(count)) if count is not None else 0.0

    powers = [1 << power for power in range(int(LARGEST_TRIAL.value).bit_length())]
    return max((0, *powers), key=runs) if runs(0) == 0 else 0


def _steps(facts: RegionFacts, missing: list[str]) -> dict[str, int]:
    """The names of loop steps. A name that also occurs in a bound is the tile size. Any other is
    1.
    """
    stepped: set[str] = set()
    bounds: set[str] = set()
    in_unbound = facts.bindings.in_unbound
    for loop in facts.region.loops():
        stepped |= in_unbound(loop.step).names if loop.step is not None else frozenset()
        for bound in (loop.start, loop.bound):
            bounds |= in_unbound(bound).names if bound is not None else frozenset()
    tile = int(TILE_SIZE.value)
    return {name: tile if name in bounds else 1 for name in missing if name in stepped}


def _trips(facts: RegionFacts) -> list[Expr]:
    in_unbound = facts.bindings.in_unbound
    return [in_unbound(trips) for loop in facts.region.loops() if (trips := loop.trips) is not None]


def _executions(facts: RegionFacts, bindings: Values) -> float | None:
    """The total number of iterations of the innermost loops."""
    counts = [
        _number(fact.executions.expr.evaluate(bindings))
        if fact.executions.expr is not None
        else None
        for fact in facts.statements
    ]
    known = [number for number in counts if number is not None]
    return max(known) if known else None


def _elements(facts: RegionFacts, bindings: Values) -> float | None:
    """The number of elements. It is the number of iterations of the innermost loops, without short
    loops. A short loop is the work of one element, such as the corners of a cell or the entries of
    a sparse row.
    """
    counts = []
    for fact, (_, loops) in zip(facts.statements, facts.region.statements(), strict=True):
        executions = fact.executions.expr
        count = _number(executions.evaluate(bindings)) if executions is not None else None
        for loop in loops[1:]:
            trips = _number(loop.trips.evaluate(bindings)) if loop.trips is not None else None
            if count is not None and trips is not None and 1 < trips < SHORT_LOOP.value:
                count /= trips
        counts += [count] if count is not None else []
    return max(counts, default=None)


def _number(value: int | Fraction | None) -> float | None:
    if value is None:
        return None
    return float(value) if value < sys.float_info.max else math.inf
