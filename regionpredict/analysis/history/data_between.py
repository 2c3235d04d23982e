"""How much other data is touched between two runs of a region: it drives its own out of caches."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.analysis.facts import RegionFacts
from regionpredict.analysis.footprint import distinct_references, footprint
from regionpredict.analysis.history.last_writes import History
from regionpredict.ir import Span


def with_data_between(
    histories: Sequence[History], facts: Sequence[RegionFacts]
) -> tuple[History, ...]:
    """The histories with the bytes of the arrays that others touch; what is not known counts 0."""
    regions = {own_facts.region.span: own_facts for own_facts in facts}
    known: dict[tuple[Span, str], float] = {}

    def size(place: tuple[Span, str]) -> float:
        if place not in known:
            span, name = place
            known[place] = _bytes(regions[span], name) if span in regions else 0.0
        return known[place]

    return tuple(
        history._replace(bytes_between=sum(map(size, history.between))) if history.between
        else history
        for history in histories
    )  # fmt: skip


def _bytes(facts: RegionFacts, name: str) -> float:
    array = next((array for array in facts.region.arrays if array.name == name), None)
    if array is None or array.storage == "private":
        return 0.0
    touched = footprint(array, distinct_references(facts.region).get(name, ()))
    return float(max(0, facts.bindings.whole(touched) or 0))
