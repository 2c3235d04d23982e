"""Finds false sharing between array elements that the thread number selects."""

from __future__ import annotations

from collections.abc import Iterator

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.dependence import root_of
from regionpredict.ir import Access, Diagnostic


def narrow_rows(facts: RegionFacts, line_bytes: int) -> Iterator[Diagnostic]:
    """Yields a diagnostic (RP223) for each array in which neighboring threads write elements in one
    cache line of `line_bytes`.

    Each write takes the line from the previous thread (false sharing: Torrellas, Lam and Hennessy
    1994, IEEE Trans. Computers 43(6)).
    """
    narrow: set[str] = set()
    for statement in facts.statements:
        for fact in statement.accesses:
            access = fact.access
            if access.kind != "write" or access.array in narrow:
                continue
            distance = bytes_between_threads(facts, access)
            if distance is not None and 0 < distance < line_bytes:
                narrow.add(access.array)
                message = (
                    f"neighboring threads' writes at {access.text} are {distance} B apart, in "
                    f"one line of {line_bytes} B"
                )
                yield Diagnostic("RP223", access.span, message)


def bytes_between_threads(facts: RegionFacts, access: Access) -> int | None:
    """Returns the distance in bytes between the elements of neighboring threads. None if it is
    unknown, or if no subscript contains the thread number.
    """
    array = facts.region.array(access.array)
    if root_of(access.array) not in facts.region.shared:
        return None
    numbers = facts.bindings.thread_numbers
    size: int | None = array.element_bytes
    for dimension in reversed(range(len(access.subscripts))):
        subscript = access.subscripts[dimension]
        for name in sorted(subscript.names & numbers):
            factor = facts.bindings.whole(subscript.coefficient(name))
            return None if factor is None or size is None else abs(factor) * size
        extent = array.dims[dimension] if dimension < len(array.dims) else None
        length = facts.bindings.whole(extent)
        size = None if length is None or size is None else size * length
    return None
