"""Excludes each region that no machine can run at the given sizes.

The same name may be the length of a vector and the edge of a matrix. If a size is too large for one
region, the other regions are not affected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from regionpredict.analysis import RegionFacts
from regionpredict.errors import InputError
from regionpredict.ir import Diagnostic
from regionpredict.workload.address_space import check_sizes


def with_possible_sizes(facts: Sequence[RegionFacts]) -> tuple[RegionFacts, ...]:
    """The facts in order. A region that is too large is skipped.

    Raises InputError for the first region if no region remains.
    """
    checked: list[RegionFacts] = []
    refusals: list[InputError] = []
    for own in facts:
        refusal = _refusal(own)
        if refusal is not None:
            refusals.append(refusal)
        checked.append(own if refusal is None else _skipped(own, refusal))
    if refusals and all(own.status == "skipped" for own in checked):
        raise refusals[0]
    return tuple(checked)


def _refusal(facts: RegionFacts) -> InputError | None:
    if facts.status == "skipped":
        return None
    try:
        check_sizes(facts)
    except InputError as refusal:
        return refusal
    return None


def _skipped(facts: RegionFacts, refusal: InputError) -> RegionFacts:
    message = f"{refusal.message}; {refusal.remedy}"
    note = Diagnostic("RP115", facts.region.span, message)
    return replace(facts, status="skipped", diagnostics=(*facts.diagnostics, note))
