"""Writes of all threads to elements whose index is read from memory: `h[idx[i]]++`, `a[k[i]] = x`.

The source does not show whether two iterations have the same index. Counters usually have equal
indices, and so do several lookups per iteration (`indirect_updates`). A list may have distinct
entries, like a permutation (`possible_races`). Atomic updates are always correct, but take lines
from each other (`through_an_index`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence, Set

from regionpredict.analysis.dependence import (
    Reference,
    parallel_loops,
    root_of,
    unconditional_references,
)
from regionpredict.ir import Access, Expr, Loop, Region, Statement
from regionpredict.ir.expr import Atom
from regionpredict.ir.once_a_region import once_a_region

_COUNTING = re.compile(r"\+\+|--|[-+]= *\d[\w.]*$")
_SAME_VALUE = re.compile(r"[^-+*/%&|^<>=!]= *[-+]?(\d[\w.]*|\w+)$")
_FROM_DATA = frozenset(("ref", "varying", "call"))
"""Atoms for values that the region reads from memory or computes."""
_ONE_TO_ONE = frozenset(("int_add", "int_mul", "int_neg"))


def indirect_updates(region: Region) -> list[Access]:
    """The updates by all threads through an index from memory, one per array.

    A sum into the rows of a list does not count, because such lists name each row once. Sums over a
    part of the data (`for (k = first[i]; k < last[i]; k++) y[of[k]] += v`) do not count, because
    parts are often cut where the rows change. Counters, and several lookups per iteration, count.
    """
    moving = {loop.variable for loop in parallel_loops(region)}
    accesses: dict[str, Access] = {}
    for reference in _shared_writes(region):
        counts = _counts(reference.statement)
        chosen = {loop.variable for loop in reference.loops
                  if counts or not (loop.variable in moving or _of_part(loop, moving))}  # fmt: skip
        if _grows(reference) and _through_memory(reference.access, chosen, reference.loops, region):
            accesses.setdefault(reference.access.array, reference.access)
    return list(accesses.values())


def possible_races(region: Region) -> list[Access]:
    """The writes that conflict only if an index from memory occurs twice, one per array.

    Exceptions are `indirect_updates`, writes of one value (marks), and a list that the region fills
    with distinct entries. Rows and blocks from an index on (`off[i] + j`, `cells[list[i]].v[j]`)
    are exceptions, too, since they belong to one iteration.
    """
    told = {access.array for access in indirect_updates(region)}
    set_here = {name for statement, _ in region.statements() for name in statement.writes}
    accesses: dict[str, Access] = {}
    for reference in _shared_writes(region):
        access, loops = reference.access, reference.loops
        if access.array in told or access.array in accesses:
            continue
        variables = {loop.variable for loop in loops}
        if _same_value(reference.statement, variables | set_here, region):
            continue
        if any(_traverses_row(subscript, variables) for subscript in access.subscripts):
            continue
        if _through_memory(access, variables, loops, region) and not _filled_with_distinct_indices(
            access, region
        ):
            accesses[access.array] = access
    return list(accesses.values())


@once_a_region
def updated_anywhere(region: Region) -> frozenset[str]:
    """The arrays that threads update anywhere, through an index from memory, without protection."""
    possible = {access.array for access in possible_races(region)}
    grown = {one.access.array for one in _shared_writes(region) if _grows(one)}
    return frozenset(access.array for access in indirect_updates(region)) | (possible & grown)


def through_an_index(access: Access, loops: Sequence[Loop], region: Region) -> bool:
    """Whether threads write anywhere in a shared array, through values read from memory."""
    if access.kind != "write" or root_of(access.array) not in region.shared:
        return False
    variables = {loop.variable for loop in loops}
    return _through_memory(access, variables, loops, region, _FROM_DATA)


def _shared_writes(region: Region) -> list[Reference]:
    return [
        reference
        for reference in unconditional_references(region)
        if reference.access.kind == "write" and root_of(reference.access.array) in region.shared
    ]


def _of_part(loop: Loop, moving: Set[str]) -> bool:
    """Whether the loop traverses a part of the data whose start depends on the parallel loop."""
    return loop.start is not None and not loop.start.names.isdisjoint(moving)


def _grows(write: Reference) -> bool:
    """Whether the write's statement reads the element that it writes."""
    return any(
        other.kind == "read" and other.array == write.access.array
        and other.subscripts == write.access.subscripts for other in write.statement.accesses
    )  # fmt: skip


def _counts(statement: Statement) -> bool:
    """Whether a statement adds a constant: `h[k]++`, `h[k] += 1`."""
    return _COUNTING.search(statement.text) is not None


def _same_value(statement: Statement, changing: Collection[str], region: Region) -> bool:
    """Whether every iteration writes the same value: a constant, or a shared variable that nothing
    changes.
    """
    match = _SAME_VALUE.search(statement.text)
    if match is None:
        return False
    name = match[1]
    return name not in statement.reads or (name in region.shared and name not in changing)


def _through_memory(
    access: Access, chosen: Collection[str], loops: Sequence[Loop], region: Region,
    kinds: Collection[str] = ("ref",),
) -> bool:  # fmt: skip
    """Whether the `chosen` variables select the element, and nothing else separates the threads."""
    moving = {loop.variable for loop in parallel_loops(region)}
    return any(_looked_up(subscript, chosen, kinds) for subscript in access.subscripts) and all(
        _of_all(subscript, loops, moving, region) for subscript in access.subscripts
    )


def _looked_up(subscript: Expr, chosen: Collection[str], kinds: Collection[str]) -> bool:
    """Whether the subscript is read from memory and changes with the iteration."""
    return any(
        atom.kind in kinds and not atom.names.isdisjoint(chosen) for atom in subscript.atoms()
    )


def _of_all(
    subscript: Expr, loops: Sequence[Loop], moving: Collection[str], region: Region
) -> bool:
    """Whether no part of it separates threads, such as a worksharing loop's variable, or a private
    variable with the start of a thread's part.
    """
    if any(subscript.coefficient(name) not in (None, Expr.const(0)) for name in moving):
        return False
    inner = {loop.variable for loop in loops}
    return all(root_of(name) in region.shared for name in subscript.names - inner - set(moving))


def _traverses_row(subscript: Expr, variables: Collection[str]) -> bool:
    """Whether loops traverse a row or a block that starts at the value: `off[i] + j`."""
    return any(
        factor in variables if isinstance(factor, str)
        else not _reads(factor) and not factor.names.isdisjoint(variables)
        for monomial in subscript.terms for factor, _ in monomial
    )  # fmt: skip


def _reads(atom: Atom) -> bool:
    """Whether a value in memory is read."""
    inside = (other for arg in atom.args for other in arg.atoms())
    return atom.kind == "ref" or any(other.kind == "ref" for other in inside)


def _filled_with_distinct_indices(access: Access, region: Region) -> bool:
    """Whether the region fills the index lists itself, with a distinct entry per iteration: `k[i] =
    i`.
    """
    lists = {
        atom.label for subscript in access.subscripts for atom in subscript.atoms()
        if atom.kind == "ref"
    }  # fmt: skip
    filled: dict[str, bool] = {}
    for reference in unconditional_references(region):
        write = reference.access
        if write.kind == "write" and write.array in lists:
            before = filled.get(write.array, True)
            filled[write.array] = before and _is_distinct_per_iteration(reference)
    return bool(lists) and all(filled.get(name, False) for name in lists)


def _is_distinct_per_iteration(write: Reference) -> bool:
    """Whether the value is the iteration's number, shifted or scaled, so that all values differ."""
    statement, variables = write.statement, {loop.variable for loop in write.loops}
    plain = all(operation.arithmetic in _ONE_TO_ONE for operation, _ in statement.operations)
    alone = not any(access.kind == "read" for access in statement.accesses)
    value = statement.text.partition("=")[2]
    used = variables & set(re.findall(r"[A-Za-z_]\w*", value))
    own = {name for subscript in write.access.subscripts for name in subscript.names & variables}
    return plain and alone and not statement.calls and len(used) == 1 and used == own
