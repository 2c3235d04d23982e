"""Chooses values for unknown sizes. All unknown sizes of a region get one common value, so that the
region accesses a target amount of data.

The saturation model uses a multiple of the machine's caches as its target.
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
"""OpenMP runtime calls that return a number of threads (OpenMP 5.2, section 18.2) and no data
size.
"""


_MEMBER_STEPS = frozenset(".>[")


def sizes_origin(loops: Sequence[RegionFacts], unbound: Collection[str]) -> str:
    """Returns the least certain source of the sizes of some loops, one of `SIZE_ORIGINS`. `unbound`
    are additional names without a value.
    """
    missing = {*unbound}.union(*(facts.bindings.unbound(facts.free_names) for facts in loops))
    origins = {facts.bindings.origin for facts in loops}
    if missing - TEAM_SIZES:
        scales = [facts.bindings.typical for facts in loops
                  if facts.bindings.unbound(facts.free_names)]  # fmt: skip
        # If every loop has its sizes, `unbound` are lengths of rows in a run of known size.
        scaled = None not in scales and (
            bool(scales) or not origins.isdisjoint(INTERPRETED_ORIGINS)
        )
        origins.add("typical" if scaled else "large")
    return least_certain_origin(origins)


def with_typical_sizes(
    regions: Sequence[RegionFacts], runs: Mapping[str, float]
) -> tuple[RegionFacts, ...]:
    """Sets the typical size of regions with unknown sizes, for a program whose `main` was
    interpreted. `runs` gives the executions of each region, by id.

    The typical size is the number of elements of the largest region of known size. A size that is
    an element of an array, such as `length[r]`, is the size of one of several parts. The number of
    parts is the number of executions per execution of the largest region.
    """
    counts = {
        facts.region.id: count
        for facts in regions
        if runs.get(facts.region.id) and not facts.bindings.unbound(facts.free_names)
        and (count := _element_count(facts, with_middles(facts.region, facts.bindings.values)))
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
        if (parts := _number_of_parts(facts, fewest, once)) else facts
        for facts in regions
    )  # fmt: skip


def _number_of_parts(facts: RegionFacts, fewest: Mapping[str, float], once: float) -> float:
    """Returns the number of parts into which the data are divided, if the unknown size is the size
    of a part. Returns 0 for a region without unknown sizes.
    """
    unknown = facts.bindings.unbound(facts.free_names)
    whole = any(not name.endswith("]") or name.endswith("[]") for name in unknown)
    parts = min((max(1.0, fewest[name] / once) for name in unknown), default=0.0)
    return min(1.0, parts) if whole else parts


class CommonSizes:
    """Chooses one assumed value for an unknown size that several regions or serial loops use.

    For example, the edge of a grid has the same length in a loop over a face and in a loop over the
    whole grid. Struct members of equal name are assumed to be equal.
    """

    def __init__(self, regions: Sequence[RegionFacts], target: SizeTarget, line_bytes: int) -> None:
        self._regions = regions
        self._names = [common_names(facts) if facts.status != "skipped" else {}
                       for facts in regions]  # fmt: skip
        self._target, self._line_bytes = target, line_bytes
        self._known: dict[int, OpenSize | None] = {}

    def regions(self) -> tuple[RegionFacts, ...]:
        """Returns the regions with common assumed sizes. A size that several regions use gets the
        smallest value that one of these regions needs.
        """
        uses = Counter(common for own in self._names for common in own.values())
        least = self.values({common for common, number in uses.items() if number > 1})
        # The largest value counts, because other regions may limit a region's smaller names.
        most = [max((least[common] for common in own.values() if common in least), default=None)
                for own in self._names]  # fmt: skip
        own = [self._known.get(number) for number in range(len(self._regions))]
        return tuple(
            replace(facts, bindings=replace(facts.bindings, common_size=limit))
            if limit is not None and size is not None and limit < size.value else facts
            for facts, limit, size in zip(self._regions, most, own, strict=True)
        )  # fmt: skip

    def values(self, wanted: Set[str]) -> dict[str, int]:
        """Returns the assumed value of each wanted size, by common name. The smallest value over
        all regions is used.
        """
        least: dict[str, int] = {}
        for number, own in enumerate(self._names):
            if wanted.isdisjoint(own.values()):
                continue
            if number not in self._known:
                facts = self._regions[number]
                sizes = attempt(bound_sizes, facts, self._target, self._line_bytes)
                # The prediction of this region will report the internal error.
                self._known[number] = None if isinstance(sizes, Failure) else sizes.open
            size = self._known[number]
            for name, common in own.items():
                if size is not None and name in size.names:
                    least[common] = min(size.value, least.get(common, size.value))
        return least


def common_names(facts: RegionFacts) -> dict[str, str]:
    """Returns a common name for each unknown size that has the same value in all regions: variables
    of calling functions, struct members and array elements.
    """
    homes = {other.name: f"{other.function}:{other.plain}" for other in facts.region.others
             if other.function}  # fmt: skip
    return {
        name: homes.get(name, name) for name in facts.bindings.unbound(facts.free_names)
        if name in homes or not _MEMBER_STEPS.isdisjoint(name)
    }  # fmt: skip


TYPICAL = "as in the largest loop of the run, or a part of it"


class SizeTarget(NamedTuple):
    """The amount of data in bytes that a region of unknown size is assumed to access, with the
    reason.

    `team` is the assumed number of threads, which is the machine's number of cores. None if no
    machine is known.
    """

    bytes: float
    reason: str
    team: int | None = None


class OpenSize(NamedTuple):
    """The names without a value, and their common assumed value."""

    names: tuple[str, ...]
    value: int


class BoundSizes(NamedTuple):
    """The value of every name, a line of text per assumption, and the common assumed size."""

    values: Values
    guessed: tuple[str, ...]
    open: OpenSize | None


def bound_sizes(facts: RegionFacts, target: SizeTarget, line_bytes: int) -> BoundSizes:
    """Returns a value for every name of a region: its known value, or an assumed value.

    Unknown sizes have a common value n. Bisection finds n so that the region accesses the target
    amount of data. If the data do not grow with n, the number of iterations equals the number of
    elements in that amount. `MOST_WORK` limits n. Names that only shorten a loop (`first` in
    `i <= last - first`) are lower bounds of 0. Divisors of a length (`i < n / parts`) are 1. An
    exponent (`k` in `1 << k`) is the binary logarithm of n, or half of it if a loop also has
    `n >> k` iterations. A loop over an array of constant length
    ends at that length at the latest.
    """
    answers = _size_cache(facts)
    if (target, line_bytes) not in answers:
        answers[target, line_bytes] = _bound_sizes(facts, target, line_bytes)
    return answers[target, line_bytes]


@once_a_region
def _size_cache(facts: RegionFacts) -> dict[tuple[SizeTarget, int], BoundSizes]:
    """Returns the cache of a region's sizes, which several stages share."""
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
    steps = _assumed_steps(facts, missing)
    known = {**known, **steps}
    notes += [f"{name} = {value} (no value given: a step)" for name, value in steps.items()]
    missing = [name for name in missing if name not in steps]
    exponents = _exponents(facts, missing)
    lower, divisors = _lower_bounds(facts, missing, exponents)
    missing = [name for name in missing if name not in lower and name not in divisors]
    least = 0 if missing or not lower else _running_lower_bound(facts, known, lower, divisors)
    known = {**known, **dict.fromkeys(lower, least), **dict.fromkeys(divisors, 1)}
    why = "where the loop runs most often" if least else "a lower bound"
    notes += [f"{', '.join(lower)} = {least} (no value given: {why})"] if lower else []
    notes += [f"{', '.join(divisors)} = 1 (no value given: a divisor)"] if divisors else []
    if not missing:
        bindings = facts.bindings.with_derived(known)
        return _with_middle_notes(facts, with_middles(facts.region, bindings), notes, None)

    lengths = _array_lengths(facts, missing)

    def size(name: str, n: int) -> int:
        value = (n.bit_length() - 1) // exponents[name] if name in exponents else n
        return min(value, lengths.get(name, value))

    def trial(n: int) -> Values:
        bindings = {**known, **{name: size(name, n) for name in missing}}
        return with_middles(facts.region, facts.bindings.with_derived(bindings))

    n, why = _common_size(facts, trial, target, line_bytes)
    sizes = tuple(name for name in missing if size(name, n) == n and name not in exponents)
    if sizes:
        notes.append(f"{', '.join(sizes)} = {n} (no value given: {why})")
    for name in missing:
        if name not in sizes:
            reason = f"an exponent, {why}" if name in exponents else "the length of an array"
            notes.append(f"{name} = {size(name, n)} (no value given: {reason})")
    return _with_middle_notes(facts, trial(n), notes, OpenSize(sizes, n) if sizes else None)


def _exponents(facts: RegionFacts, missing: Sequence[str]) -> dict[str, int]:
    """Returns the missing names that occur in exponents of loop bounds and subscripts, or in bounds
    of loops whose variable is an exponent.

    Each name has a divisor. The exponent is the logarithm of a size, divided by 2 if the power also
    divides a size, as in `n >> k`, else by 1.
    """
    region = facts.region
    loops = (*region.enclosing, *region.loops())
    bounds = [(loop.variable, bound) for loop in loops
              for bound in (loop.start, loop.bound, loop.trips) if bound is not None]  # fmt: skip
    subscripts = [subscript for statement, _ in region.statements()
                  for access in statement.accesses for subscript in access.subscripts]  # fmt: skip
    found: set[str] = set()
    dividing: set[str] = set()
    for expression in {*subscripts, *(bound for _, bound in bounds)}:
        inner = facts.bindings.in_unbound(expression)
        if "exp2" in inner.kinds:
            found.update(*(atom.names for atom in inner.atoms() if atom.kind == "exp2"))
            dividing.update(
                *(
                    atom.args[1].names
                    for atom in inner.atoms()
                    if atom.kind == "floordiv" and "exp2" in atom.args[1].kinds
                )
            )
    if found:
        found.update(*(bound.names for variable, bound in bounds if variable in found))
    return {name: 2 if name in dividing else 1 for name in missing if name in found}


def _array_lengths(facts: RegionFacts, missing: Collection[str]) -> dict[str, int]:
    """Returns an upper bound of each missing name that is the number of iterations of an inner loop
    over an array. The bound is the shortest constant length of a dimension that the loop traverses.
    """
    region = facts.region
    dims = {array.name: array.dims for array in region.arrays}
    lengths: dict[str, int] = {}
    for statement, loops in region.statements():
        inner = {Expr.name(loop.variable): loop.trips for loop in loops[1:]}
        for access in statement.accesses:
            for subscript, extent in zip(
                access.subscripts, dims.get(access.array, ()), strict=False
            ):
                trips = inner.get(subscript)
                length = extent.constant if extent is not None else None
                if trips is None or length is None:
                    continue
                for name in facts.bindings.in_unbound(trips).names.intersection(missing):
                    if facts.bindings.in_unbound(trips) == Expr.name(name):
                        lengths[name] = min(int(length), lengths.get(name, int(length)))
    return lengths


def _common_size(
    facts: RegionFacts, trial: Callable[[int], Values], target: SizeTarget, line_bytes: int
) -> tuple[int, str]:
    """Returns the common value of all unknown sizes, and the reason for this value. `trial(n)`
    gives the value of every name if all unknown sizes are n.
    """
    if facts.bindings.common_size is not None:
        return facts.bindings.common_size, "as in another loop over the same sizes"
    bytes_touched = facts.working_set.expr

    def touched_by_region(n: int) -> float | None:
        bindings = trial(n)
        if bytes_touched is not None:
            return _as_float(bytes_touched.evaluate(bindings))
        nest = loop_nest(facts.region, bindings)
        return None if nest is None else touched_bytes(nest, line_bytes)

    def executed_iterations(n: int) -> float | None:
        return _most_executions(facts, trial(n))

    def elements_of_largest_loop(n: int) -> float | None:
        return _element_count(facts, trial(n))

    why = target.reason
    most = int(LARGEST_TRIAL.value)
    n = None
    if facts.bindings.typical is not None:
        why = TYPICAL
        n = smallest_reaching(elements_of_largest_loop, facts.bindings.typical, 1, most)
    if n is None:
        n = smallest_reaching(touched_by_region, target.bytes, 1, most)
    if n is None:
        wanted = target.bytes / DEFAULT_ELEMENT.value
        n = smallest_reaching(executed_iterations, wanted, 1, most) or int(FALLBACK_SIZE.value)
        why = "its data is the same for all"
    bearable = smallest_reaching(executed_iterations, MOST_WORK.value, 1, n)
    if bearable is not None and bearable < n:
        n, why = bearable, f"{MOST_WORK.value:.0e} iterations of the innermost loop"
    return n, why


def _with_middle_notes(
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


def _lower_bounds(
    facts: RegionFacts, missing: Sequence[str], exponents: Collection[str]
) -> tuple[list[str], list[str]]:
    """Returns the names that shorten at least one loop and lengthen none, as lower bounds and
    divisors. Divisors cannot be 0.
    """
    largest = int(LARGEST_TRIAL.value)
    sizes = {name: largest.bit_length() // 2 if name in exponents else largest for name in missing}
    first = dict.fromkeys(
        (loop.variable for loop in facts.region.loops()), 0
    )  # first values of loops
    base = {**first, **facts.bindings.values, **sizes}
    lower: list[str] = []
    divisors: list[str] = []
    for name in missing:
        longer = shorter = divides = False
        for trips in _trip_counts(facts):
            if name not in trips.names:
                continue
            here, beyond = trips.evaluate(base), trips.evaluate({**base, name: 2 * sizes[name]})
            if here == beyond == 0:  # a known length divided by a large number is 0
                here = trips.evaluate({**base, name: 1})
            if here is None or beyond is None:
                longer = True  # unknown effect, so no lower bound
                continue
            longer |= beyond > here
            shorter |= beyond < here
            divides |= trips.evaluate({**base, name: 0}) is None
        if shorter and not longer:
            (divisors if divides else lower).append(name)
    return lower, divisors


def _running_lower_bound(
    facts: RegionFacts, known: Values, lower: Sequence[str], divisors: Sequence[str]
) -> int:
    """Returns the assumed value of lower bounds: 0 if the parallel loop then has iterations, else
    the power of two with the most iterations.
    """
    trips = facts.region.nest.trips if facts.region.nest is not None else None
    if trips is None:
        return 0

    def runs_with_bound(value: int) -> float:
        values = {**known, **dict.fromkeys(lower, value), **dict.fromkeys(divisors, 1)}
        count = trips.evaluate(with_middles(facts.region, facts.bindings.with_derived(values)))
        return max(0.0, float(count)) if count is not None else 0.0

    powers = [1 << power for power in range(int(LARGEST_TRIAL.value).bit_length())]
    return max((0, *powers), key=runs_with_bound) if runs_with_bound(0) == 0 else 0


def _assumed_steps(facts: RegionFacts, missing: list[str]) -> dict[str, int]:
    """Returns the assumed value of each loop step: a tile size if the name also occurs in a bound,
    else 1.
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


def _trip_counts(facts: RegionFacts) -> list[Expr]:
    in_unbound = facts.bindings.in_unbound
    return [in_unbound(trips) for loop in facts.region.loops() if (trips := loop.trips) is not None]


def _most_executions(facts: RegionFacts, bindings: Values) -> float | None:
    """Returns the largest number of executions of a statement."""
    counts = [
        _as_float(fact.executions.expr.evaluate(bindings))
        if fact.executions.expr is not None
        else None
        for fact in facts.statements
    ]
    known = [number for number in counts if number is not None]
    return max(known) if known else None


def _element_count(facts: RegionFacts, bindings: Values) -> float | None:
    """Returns the number of data elements that a region processes: the executions of its innermost
    statements, without short loops.

    A short loop is the work of one element, such as the corners of a cell.
    """
    counts = []
    for fact, (_, loops) in zip(facts.statements, facts.region.statements(), strict=True):
        executions = fact.executions.expr
        count = _as_float(executions.evaluate(bindings)) if executions is not None else None
        for loop in loops[1:]:
            trips = _as_float(loop.trips.evaluate(bindings)) if loop.trips is not None else None
            if count is not None and trips is not None and 1 < trips < SHORT_LOOP.value:
                count /= trips
        counts += [count] if count is not None else []
    return max(counts, default=None)


def _as_float(value: int | Fraction | None) -> float | None:
    if value is None:
        return None
    return float(value) if value < sys.float_info.max else math.inf
