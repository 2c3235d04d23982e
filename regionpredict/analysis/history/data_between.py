"""Computes the amount of other data that is accessed between two executions of a region. Such data
evict the region's data from caches.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.analysis.facts import RegionFacts
from regionpredict.analysis.footprint import distinct_references, footprint_bytes
from regionpredict.analysis.given_sizes import open_trips_name, with_given_trips
from regionpredict.analysis.history.last_writes import History, UnknownBytes
from regionpredict.ir import Expr, Region, Span


def with_data_between(
    histories: Sequence[History], facts: Sequence[RegionFacts]
) -> tuple[History, ...]:
    """Adds to the histories the bytes of the other accessed arrays. Bytes of arrays with unknown
    sizes are expressions in names. Arrays without any known size count as zero.
    """
    regions = {own_facts.region.span: own_facts for own_facts in facts}
    known: dict[tuple[Span, str], UnknownBytes | None] = {}

    def size(place: tuple[Span, str]) -> UnknownBytes | None:
        if place not in known:
            span, name = place
            known[place] = _accessed_bytes(regions[span], name) if span in regions else None
        return known[place]

    return tuple(
        history._replace(open_between=tuple(filter(None, map(size, history.between)))).at({})
        if history.between
        else history
        for history in histories
    )


def _accessed_bytes(facts: RegionFacts, name: str) -> UnknownBytes | None:
    """Returns the bytes of an array that a region accesses. None for a private array, and if no
    names determine the bytes.
    """
    array = next((array for array in facts.region.arrays if array.name == name), None)
    if array is None or array.storage == "private":
        return None
    counted = _with_named_trips(facts.region)
    touched = footprint_bytes(array, distinct_references(counted).get(name, ()))
    if touched is None:
        return None
    bindings = facts.bindings
    touched = bindings.in_unbound(touched)
    values = {n: Expr.const(bindings.values[n]) for n in touched.names if n in bindings.values}
    touched = touched.substitute(values) if values else touched
    if touched.constant is None and touched.has_unreadable_part:
        return None
    return UnknownBytes(facts.region.function, touched)


def _with_named_trips(region: Region) -> Region:
    """Gives names to the unknown trip counts of a region's loops. The bytes then depend on these
    names.
    """
    names = {
        open_trips_name(loop): 0 for loop in region.loops()
        if loop.trips is None or loop.trips.has_unreadable_part
    }  # fmt: skip
    return with_given_trips(region, names) if names else region
