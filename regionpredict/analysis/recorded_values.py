"""Sizes of a region from a measured run, where the caller and the source give none.

A recorded value has less precedence than the current program. Names that a macro or another name
determines follow these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from regionpredict.analysis.bindings import Bindings, bind, free_names
from regionpredict.analysis.bisection import smallest_reaching
from regionpredict.analysis.facts import RegionFacts, checked_facts
from regionpredict.analysis.given_sizes import trip_name, with_given_trips
from regionpredict.analysis.iterations import iterations
from regionpredict.ir import Definition, Region

_MOST_SOLVED = 1 << 40


@dataclass(frozen=True, slots=True)
class RecordedSize:
    """A value at a region's entries, at least and at most."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class RecordedSizes:
    """The recorded data of one region: names' values, trip count, and number of runs."""

    values: Mapping[str, RecordedSize] = field(default_factory=dict)
    trips: RecordedSize | None = None
    executions: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedFacts:
    """A region's facts with recorded data, and the names that have their value from them."""

    facts: RegionFacts
    names: tuple[str, ...]


def recorded_facts(
    region: Region, definitions: tuple[Definition, ...], given: Mapping[str, int],
    recorded: RecordedSizes,
) -> RecordedFacts:  # fmt: skip
    """The facts of a region, each name without a value bound as the run had it.

    A value that varied is taken at its maximum, as an assumption. A loop that counted its
    iterations has the average per execution. A name that was not recorded is computed if it is the
    only unknown of the trip count.
    """
    sizes = {name: size.most for name, size in recorded.values.items()}
    open_loops = {trip_name(loop) for loop in region.loops()
                  if loop.trips is None or loop.trips.has_unreadable_part}  # fmt: skip
    region = with_given_trips(region, {name: sizes[name] for name in sizes if name in open_loops})
    bindings = bind(region, definitions, given, sizes)
    if recorded.trips is not None:
        solved = _solved(region, bindings, recorded.trips.most)
        if solved is not None:
            sizes |= solved
            bindings = bind(region, definitions, given, sizes)
        elif _is_open(region, bindings) and region.nest is not None and region.collapse == 1:
            trips = {trip_name(region.nest): recorded.trips.most}
            region = with_given_trips(region, trips)
            sizes |= trips
            bindings = bind(region, definitions, given, sizes)
    names = _taken(region, definitions, given, bindings, sizes.keys())
    assumed = (*bindings.assumed, *_recorded_ranges(names, recorded))
    return RecordedFacts(checked_facts(region, replace(bindings, assumed=assumed)), names)


def _taken(
    region: Region, definitions: tuple[Definition, ...], given: Mapping[str, int],
    bindings: Bindings, recorded: Iterable[str],
) -> tuple[str, ...]:  # fmt: skip
    """The names of the region that neither the caller nor the source gives, whatever it follows."""
    without = bind(region, definitions, given).values
    follows = {
        definition.name
        for definition in definitions
        if definition.value.evaluate(bindings.values) is not None
    }
    used = free_names(region)
    return tuple(sorted(
        name for name in recorded if name in used and name not in without and name not in follows
    ))  # fmt: skip


def _recorded_ranges(names: Iterable[str], recorded: RecordedSizes) -> list[str]:
    sizes = [(name, recorded.values.get(name)) for name in names]
    return [
        f"{name} = {size.most} (recorded: from {size.least} to {size.most})"
        for name, size in sizes if size is not None and size.least != size.most
    ]  # fmt: skip


def _is_open(region: Region, bindings: Bindings) -> bool:
    """Whether the trip count depends on values without a name, such as a pointer or a table."""
    return not _is_counted(region) or iterations(region).value(bindings) is None


def _is_counted(region: Region) -> bool:
    trips = None if region.nest is None else region.nest.trips
    return trips is not None and not trips.has_unreadable_part


def _solved(region: Region, bindings: Bindings, trips: int) -> dict[str, int] | None:
    """The only unknown of the trip count, from the count. None for no or several unknowns."""
    runs = iterations(region)
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


def _argument_of(count: Callable[[int], int | None], wanted: int) -> int | None:
    """The smallest argument from 0 on at which a growing function has a value.

    >>> _argument_of(lambda n: n // 2 - 3, 10), _argument_of(lambda n: 4 * n, 10)
    (26, None)
    """
    size = smallest_reaching(count, wanted, 0, _MOST_SOLVED)
    return size if size is not None and count(size) == wanted else None
