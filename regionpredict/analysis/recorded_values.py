"""Uses sizes from a measured run of a region if neither the caller nor the source gives them.

Values in the current program take precedence over recorded values. Names that are computed from a
macro or another name are not replaced.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple

from regionpredict.analysis.bindings import Bindings, bind_names, free_names
from regionpredict.analysis.bisection import smallest_reaching
from regionpredict.analysis.facts import RegionFacts, checked_facts
from regionpredict.analysis.given_sizes import trip_name, with_given_trips
from regionpredict.analysis.iterations import executed_statements, iterations_of
from regionpredict.ir import Definition, Expr, Region
from regionpredict.ir.folding import Number

_MOST_SOLVED = 1 << 40


@dataclass(frozen=True, slots=True)
class RecordedSize:
    """The smallest and the largest value of a name at the starts of a region."""

    least: int
    most: int


class RecordedCase(NamedTuple):
    """A number of executions (`entries`) with the same trip count and the same value of each name.
    `trips` is None if iterations were not counted.
    """

    entries: int
    trips: int | None
    values: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RecordedSizes:
    """The recorded data of one region: values of names, trip count, and number of executions.

    `cases` is the distribution of the executions over sizes. It is empty if the distribution is
    unknown, or if there is only one size.
    """

    values: Mapping[str, RecordedSize] = field(default_factory=dict)
    trips: RecordedSize | None = None
    executions: int | None = None
    cases: tuple[RecordedCase, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedFacts:
    """A region's facts with recorded data, and the names that have recorded values.

    `share` is the mean work of all executions relative to the work with these values.
    """

    facts: RegionFacts
    names: tuple[str, ...]
    share: float = 1.0


def recorded_facts(
    region: Region, definitions: tuple[Definition, ...], given: Mapping[str, int],
    recorded: RecordedSizes,
) -> RecordedFacts:  # fmt: skip
    """Returns the facts of a region. Names without a value have the values of the recorded run.

    If a value varied, the value up to which half of the work is done is used. If the distribution
    is unknown, the largest value is used. Both are assumptions. A loop whose iterations were
    counted has the average number per execution. If the trip count has only one unknown name, which
    was not recorded, this name is computed from the trip count.
    """
    # A recorded run takes precedence over an interpreted run without arguments.
    without_defaults = tuple(made for made in definitions if made.origin != "defaults")
    known = bind_names(region, without_defaults, given)
    typical, share = _typical_case(region, definitions, known, recorded)
    computed = _derived_values(definitions, known.values, typical.values)
    sizes = {**typical.values, **computed}
    open_loops = {trip_name(loop) for loop in region.loops()
                  if loop.trips is None or loop.trips.has_unreadable_part}  # fmt: skip
    region = with_given_trips(region, {name: sizes[name] for name in sizes if name in open_loops})
    bindings = bind_names(region, definitions, given, sizes)
    if typical.trips is not None and iterations_of(region).value(bindings) != typical.trips:
        known = bind_names(region, without_defaults, given, sizes)
        solved = _solved_from_count(region, known, typical.trips)
        if solved is not None:
            sizes |= solved
            bindings = bind_names(region, definitions, given, sizes)
        elif _has_unnamed_sizes(region, known) and region.nest is not None and region.collapse == 1:
            trips = {trip_name(region.nest): typical.trips}
            region = with_given_trips(region, trips)
            sizes |= trips
            bindings = bind_names(region, definitions, given, sizes)
    source = tuple(
        made for made in without_defaults if computed.keys().isdisjoint(made.value.names)
    )
    names = _names_to_record(region, source, given, bindings, sizes.keys())
    ranges = _recorded_ranges(names, definitions, sizes, recorded)
    assumed = (*bindings.assumed, *ranges)
    return RecordedFacts(checked_facts(region, replace(bindings, assumed=assumed)), names, share)


def _typical_case(
    region: Region, definitions: Sequence[Definition], known: Bindings, recorded: RecordedSizes
) -> tuple[RecordedCase, float]:
    """Returns the execution at which half of the work is done, with executions in ascending order
    of work. Also returns the mean work relative to the work of this execution.
    """
    most = {name: size.most for name, size in recorded.values.items()}
    if not recorded.cases:
        return RecordedCase(1, recorded.trips.most if recorded.trips else None, most), 1.0

    def work(case: RecordedCase) -> float:
        values = {**known.values, **most, **case.values}
        values |= _derived_values(definitions, values, case.values)
        once = executed_statements(region, values)
        trips = None if region.nest is None else region.nest.trips
        predicted = None if trips is None else trips.evaluate(values)
        return once * (case.trips or 0) if predicted is None and case.trips is not None else once

    done = sorted(((work(case), case.trips or 0, at) for at, case in enumerate(recorded.cases)))
    sums = list(accumulate(once * recorded.cases[at].entries for once, _, at in done))
    own, _, at = done[bisect_left(sums, sums[-1] / 2)]
    typical = recorded.cases[at]
    mean = sums[-1] / sum(case.entries for case in recorded.cases)
    return typical._replace(values={**most, **typical.values}), mean / own if own > 0 else 1.0


def _derived_values(
    definitions: Sequence[Definition], known: Mapping[str, Number], recorded: Mapping[str, int]
) -> dict[str, int]:
    """Returns the values of names from which the source computes recorded names."""
    found: dict[str, int] = {}
    while True:
        made_of = {**recorded, **found}
        values = {**known, **made_of}
        new: dict[str, int] = {}
        for made in definitions:
            unknown = made.value.names - values.keys()
            if made.range is None and made.name in made_of and len(unknown) == 1:
                [name] = unknown
                solved = _smallest_solution(made.value, name, values, made_of[made.name])
                if solved is not None:
                    new[name] = solved
        if not new:
            return found
        found |= new


def _smallest_solution(
    value: Expr, name: str, values: Mapping[str, Number], target_value: int
) -> int | None:
    """Returns the smallest nonnegative value of `name` at which the expression has the value
    `target_value`. The expression must increase with the name.
    """

    def at(size: int) -> int | None:
        number = value.evaluate({**values, name: size})
        return None if number is None else int(number // 1)

    return _argument_of(at, target_value)


def _names_to_record(
    region: Region, definitions: tuple[Definition, ...], given: Mapping[str, int],
    bindings: Bindings, recorded: Iterable[str],
) -> tuple[str, ...]:  # fmt: skip
    """Returns the names of the region without a value from the caller or the source."""
    without = bind_names(region, definitions, given).values
    follows = {
        definition.name
        for definition in definitions
        if definition.value.evaluate(bindings.values) is not None
    }
    used = free_names(region)
    return tuple(sorted(
        name for name in recorded if name in used and name not in without and name not in follows
    ))  # fmt: skip


def _recorded_ranges(
    names: Collection[str], definitions: Sequence[Definition], sizes: Mapping[str, int],
    recorded: RecordedSizes,
) -> list[str]:  # fmt: skip
    """Describes the recorded range of each used name whose value varied in the run."""
    sources = {made.name: made.value.names for made in definitions}
    return [
        f"{name} = {sizes[name]} (recorded: from {size.least} to {size.most})"
        for name, size in recorded.values.items()
        if size.least != size.most
        and (name in names or not sources.get(name, frozenset()).isdisjoint(names))
    ]


def _has_unnamed_sizes(region: Region, bindings: Bindings) -> bool:
    """Whether the trip count depends on values without a name, such as a pointer or a table."""
    return not _is_counted(region) or iterations_of(region).value(bindings) is None


def _is_counted(region: Region) -> bool:
    trips = None if region.nest is None else region.nest.trips
    return trips is not None and not trips.has_unreadable_part


def _solved_from_count(region: Region, bindings: Bindings, trips: int) -> dict[str, int] | None:
    """Returns the only unknown name of the trip count, with its value from the recorded count. None
    if there is not exactly one unknown name.
    """
    runs = iterations_of(region)
    if runs.loops is None or not _is_counted(region):
        return None
    variables = {loop.variable for loop in runs.loops}
    names = {name for loop in runs.loops for name in loop.names} - variables
    unknown = sorted(names - bindings.values.keys())
    if len(unknown) != 1:
        return None

    def count(size: int) -> int | None:
        return runs.value(Bindings({**bindings.values, unknown[0]: size}))

    size = _argument_of(count, trips)
    return None if size is None else {unknown[0]: size}


def _argument_of(count: Callable[[int], int | None], target_value: int) -> int | None:
    """Returns the smallest nonnegative argument at which an increasing function has a value.

    >>> _argument_of(lambda n: n // 2 - 3, 10), _argument_of(lambda n: 4 * n, 10)
    (26, None)
    """
    size = smallest_reaching(count, target_value, 0, _MOST_SOLVED)
    return size if size is not None and count(size) == target_value else None
