"""How much other data is touched between two runs of a region: it drives its own out of caches."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.analysis.facts import RegionFacts
from regionpredict.analysis.footprint import distinct_references, footprint
from regionpredict.analysis.given_sizes import open_trips_name, with_given_trips
from regionpredict.analysis.history.last_writes import History, OpenBytes
from regionpredict.ir import Expr, Region, Span


def with_data_between(
    histories: Sequence[History], facts: Sequence[RegionFacts]
) -> tuple[History, ...]:
    """The histories with the bytes of the arrays that others touch: those that are known, and what
    the others are in sizes that have no value. What no size tells counts nothing."""
    regions = {own_facts.region.span: own_facts for own_facts in facts}
    known: dict[tuple[Span, str], OpenBytes | None] = {}

    def size(place: tuple[Span, str]) -> OpenBytes | None:
        if place not in known:
            span, name = place
            known[place] = _bytes(regions[span], name) if span in regions else None
        return known[place]

    return tuple(
        history._replace(open_between=tuple(filter(None, map(size, history.between)))).at({})
        if history.between
        else history
        for history in histories
    )


def _bytes(facts: RegionFacts, name: str) -> OpenBytes | None:
    """The bytes that a region touches of an array; None where none are, or no size tells."""
    array = next((array for array in facts.region.arrays if array.name == name), None)
    if array is None or array.storage == "private":
        return None
    counted = _counted(facts.region)
    touched = footprint(array, distinct_references(counted).get(name, ()))
    if touched is None:
        return None
    bindings = facts.bindings
    touched = bindings.in_unbound(touched)
    values = {n: Expr.const(bindings.values[n]) for n in touched.names if n in bindings.values}
    touched = touched.substitute(values) if values else touched
    if touched.constant is None and touched.has_unreadable_part:
        return None
    return OpenBytes(facts.region.function, touched)


def _counted(region: Region) -> Region:
    """The region, loops whose iterations no header tells counted by the names that they are asked
    for with: the rows of a table push out as much as they are long."""
    names = {
        open_trips_name(loop): 0 for loop in region.loops()
        if loop.trips is None or loop.trips.has_unreadable_part
    }  # fmt: skip
    return with_given_trips(region, names) if names else region
