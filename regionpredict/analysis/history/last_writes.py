"""Determines the use of a region's arrays before it runs, in particular their last writers.

In new memory, the first thread that writes to a page causes a page fault. A cache line that another
core wrote last is transferred from the cache of this core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regionpredict.analysis.history.data_distribution import Part, parts_of
from regionpredict.analysis.history.first_writes import Before, WriteHistory
from regionpredict.ir import Expr, Program, Region, Span


class LastWrite(NamedTuple):
    """The last writer of an array before the region, and the loops that used the array later.

    `parts` is the distribution over threads in the worksharing loop. It is None if one thread wrote
    the whole array. `since` are the distributions of later reads. The data are then in the readers'
    caches.
    """

    parts: frozenset[Part] | None
    since: frozenset[Part]


class UnknownBytes(NamedTuple):
    """The bytes of an array in a function, as an expression in names without values."""

    function: str
    bytes: Expr


class History(NamedTuple):
    """The history of a region's arrays.

    `fresh` arrays are in new memory in each run, and the region writes them first. `last` maps
    arrays to their last writers. An array in neither of them has an unknown history. `repeats` says
    that the region runs again on its data. `untouched` arrays were never used before. `between` are
    the other arrays, by region and name, that are accessed after the region's own arrays.
    `bytes_between` are their known bytes, and `open_between` are arrays of unknown size.
    """

    fresh: frozenset[str] = frozenset()
    last: Mapping[str, LastWrite] = {}
    repeats: bool = False
    untouched: frozenset[str] = frozenset()
    between: tuple[tuple[Span, str], ...] = ()
    bytes_between: float = 0.0
    open_between: tuple[UnknownBytes, ...] = ()

    def at(self, values: Mapping[str, int]) -> History:
        """Returns the history for these values of names, which apply to all functions."""
        if not self.open_between:
            return self
        known, unknown = self.bytes_between, []
        for part in self.open_between:
            number = part.bytes.evaluate(values)
            if number is None:
                unknown.append(part)
            else:
                known += max(0.0, float(int(number)))
        return self._replace(bytes_between=known, open_between=tuple(unknown))


UNKNOWN = History()


def histories_of_regions(program: Program, followed: WriteHistory) -> tuple[History, ...]:
    """Returns the history of every region's arrays, in the order of the regions.

    If several calls of a region have different histories, the first one is used.
    """
    loops = _LoopDistributions(program.regions)
    past = []
    for region in program.regions:
        history = _history_of_region(region, followed.before.get(region.span, ()), loops)
        repeats = region.span in followed.repeats or bool(region.enclosing)
        # A second run uses the same memory, unless a loop allocates it each time.
        fresh = history.fresh if region.span in followed.steady or not repeats else frozenset[str]()
        past.append(history._replace(
            fresh=fresh, repeats=repeats, untouched=history.untouched if repeats else frozenset(),
            between=tuple(followed.between.get(region.span, {}).values()),
        ))  # fmt: skip
    return tuple(past)


class _LoopDistributions:
    """The distribution of arrays over threads by each worksharing loop. The key is the location of
    the loop's directive.
    """

    def __init__(self, regions: Sequence[Region]) -> None:
        self.regions = {region.span: region for region in regions}
        self._known: dict[tuple[Span, str], dict[str, frozenset[Part]]] = {}

    def parts(self, span: Span, name: str, kind: str) -> frozenset[Part] | None:
        """Returns how the loop distributes its reads or writes of the array over threads. None if
        it does not access the array, or if the distribution is unknown.
        """
        region = self.regions.get(span)
        if region is None:
            return None
        parts = self._known.get((span, kind))
        if parts is None:
            parts = self._known[span, kind] = parts_of(region, kind)
        return parts.get(name)


def _history_of_region(
    region: Region, visits: Sequence[Mapping[str, Before]], loops: _LoopDistributions
) -> History:
    if not visits:
        return UNKNOWN
    fresh, last, untouched = set(), {}, set()
    for array in region.arrays:
        if array.storage == "private":
            continue
        name = array.name.rstrip("'")  # the name in the function, without the mark of ambiguity
        pasts = [past for visit in visits
                 if (past := visit.get(array.name) or visit.get(name)) is not None]  # fmt: skip
        if not pasts:
            continue
        if all(past.fresh for past in pasts):
            fresh.add(array.name)
        if not all(past.touched for past in pasts):
            untouched.add(array.name)
        writer = _last_write(pasts[0], loops)
        if writer is not None:
            last[array.name] = writer
    return History(frozenset(fresh), last, untouched=frozenset(untouched))


def _last_write(past: Before, loops: _LoopDistributions) -> LastWrite | None:
    since: frozenset[Part] = frozenset()
    for span, name in past.since:
        since |= loops.parts(span, name, "read") or frozenset()
    if past.serial:
        return LastWrite(None, since)
    parts = loops.parts(*past.last, "write") if past.last is not None else None
    return None if parts is None else LastWrite(parts, since)
