"""What happened to a region's arrays before it runs: who wrote them last, and if anybody did.

New memory costs the first thread that writes to a page a fault. Lines that another core wrote last
come from its cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regionpredict.analysis.first_writes import Before, Followed
from regionpredict.analysis.partition import Part, parts_of
from regionpredict.ir import Program, Region, Span


class LastWrite(NamedTuple):
    """Who wrote an array last before the region, and who has touched it since.

    `parts` say how a worksharing loop dealt it out, None where one thread wrote all of it;
    `region` and `name` are that loop and the array's name in it. `since` are the ways in which
    regions have touched the array after the write: what they fetched is in their caches.
    """

    parts: frozenset[Part] | None
    region: Region | None
    name: str
    since: frozenset[Part]


class History(NamedTuple):
    """`fresh` arrays have never been written before the region's only run; `last` by array.

    An array that is in neither has a history that is not known.
    """

    fresh: frozenset[str] = frozenset()
    last: Mapping[str, LastWrite] = {}


UNKNOWN = History()


def histories(program: Program, followed: Followed) -> tuple[History, ...]:
    """The past of every region's arrays, in the order of the regions.

    Where several calls of a region disagree, the first one counts.
    """
    by_span = {region.span: region for region in program.regions}
    return tuple(
        _history(region, followed.before.get(region.span, ()), by_span)
        for region in program.regions
    )


def _history(
    region: Region, visits: Sequence[Mapping[str, Before]], regions: Mapping[Span, Region]
) -> History:
    if not visits:
        return UNKNOWN
    fresh, last = set(), {}
    for array in region.arrays:
        pasts = [past for visit in visits if (past := visit.get(array.name)) is not None]
        if not pasts:
            continue
        if all(past.fresh for past in pasts):
            fresh.add(array.name)
        found = _last(pasts[0], regions)
        if found is not None:
            last[array.name] = found
    return History(frozenset(fresh), last)


def _last(past: Before, regions: Mapping[Span, Region]) -> LastWrite | None:
    since: frozenset[Part] = frozenset()
    for span, name in past.since:
        if span in regions:
            since |= parts_of(regions[span], "read").get(name, frozenset())
    if past.serial:
        return LastWrite(None, None, "", since)
    if past.last is None or past.last[0] not in regions:
        return None
    span, name = past.last
    parts = parts_of(regions[span], "write").get(name)
    return None if parts is None else LastWrite(parts, regions[span], name, since)
