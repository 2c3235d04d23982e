"""Excludes regions that are too large for any machine at the given sizes.

One name may be the length of a vector in one region, and the edge of a matrix in another. A size
that is too large for one region does not affect the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from regionpredict.analysis import RegionFacts
from regionpredict.errors import InputError
from regionpredict.ir import Diagnostic
from regionpredict.workload.address_space import check_sizes


def with_possible_sizes(facts: Sequence[RegionFacts]) -> tuple[RegionFacts, ...]:
    """Returns the facts of all regions, in order. Regions that are too large have the status
    'skipped'.

    Raises InputError for the first such region if no other region remains.
    """
    checked: list[RegionFacts] = []
    refusals: list[InputError] = []
    for own in facts:
        refusal = _refusal_message(own)
        if refusal is not None:
            refusals.append(refusal)
        checked.append(own if refusal is None else _skipped_region(own, refusal))
    if refusals and all(own.status == "skipped" for own in checked):
        raise refusals[0]
    return tuple(checked)


def _refusal_message(facts: RegionFacts) -> InputError | None:
    if facts.status == "skipped":
        return None
    try:
        check_sizes(facts)
    except InputError as refusal:
        return refusal
    return None


def _skipped_region(facts: RegionFacts, refusal: InputError) -> RegionFacts:
    message = f"{refusal.message}; {refusal.remedy}"
    note = Diagnostic("RP115", facts.region.span, message)
    return replace(facts, status="skipped", diagnostics=(*facts.diagnostics, note))
