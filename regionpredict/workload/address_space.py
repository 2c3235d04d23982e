"""Rejects sizes that no 64-bit machine can have."""

from __future__ import annotations

import sys
from decimal import Decimal
from fractions import Fraction

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.footprint import distinct_references, footprint_bytes
from regionpredict.errors import InputError
from regionpredict.workload.constants import ADDRESS_SPACE, LARGEST_COUNT, MOST_EXECUTIONS


def check_sizes(facts: RegionFacts) -> None:
    """Raises InputError if the region counts beyond 64 bits, if no machine can finish its
    executions, or if it accesses more than 128 TiB.

    Only sizes given by the user can be that large.
    """
    span = facts.region.span
    iterations = facts.iterations.value
    whole = facts.working_set.value
    touched = _known_bytes(facts) if whole is None else whole
    executions = max((fact.executions.value or 0 for fact in facts.statements), default=0)
    what = ""
    if iterations is not None and iterations > LARGEST_COUNT.value:
        what = f"{_count_text(iterations)} iterations do not fit 64 bits"
    elif executions > MOST_EXECUTIONS.value:
        what = f"no machine can execute its innermost loop {_count_text(executions)} times"
    elif touched > ADDRESS_SPACE.value:
        what = (
            f"its data of {_count_text(touched)} bytes is more than a process can address, 128 TiB"
        )
    if what:
        sizes = {n: v for n, v in facts.bindings.values.items() if n.isidentifier()}
        largest = max(sizes, key=lambda name: sizes[name], default="")
        raise InputError(
            what,
            remedy=f"{largest} = {sizes[largest]} is too large" if largest else "check the sizes",
            path=span.file,
            line=span.line,
        )


def _count_text(count: int | Fraction) -> str:
    """Formats a count with three digits, even if it is larger than any floating-point number."""
    return f"{float(count) if count < sys.float_info.max else Decimal(int(count)):.3g}"


def _known_bytes(facts: RegionFacts) -> int | Fraction:
    """Returns the bytes of all arrays with known sizes."""
    references = distinct_references(facts.region)
    total: int | Fraction = 0
    for array in facts.region.arrays:
        if array.storage != "private":
            size = footprint_bytes(array, references.get(array.name, ()))
            total += max(0, facts.bindings.number(size) or 0)
    return total
