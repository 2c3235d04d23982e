"""Finds writes to elements whose index is read from memory: `h[idx[i]]++`, `a[k[i]] = x`.

The source does not show whether two iterations have the same index. Histograms usually have equal
indices, and so do several lookups in one iteration (`indirect_updates`). A list may have distinct
entries, like a permutation (`possible_races`). Atomic updates are always correct, but the threads
take cache lines from each other (`writes_through_index`).
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
"""Kinds of atoms whose values the region reads from memory or computes."""
_ONE_TO_ONE = frozenset(("int_add", "int_mul", "int_neg"))


def indirect_updates(region: Region) -> list[Access]:
    """Returns the updates of shared elements through an index from memory, one per array.

    Counters (`h[k]++`), and several lookups in one iteration, are included. A sum into the rows of
    a list is excluded, because such lists contain each row once. The same holds for counters that
    an inner loop increases several times, such as the end of a row that the iteration fills. Sums
    over a part of the data (`for (k = first[i]; k < last[i]; k++) y[of[k]] += v`) are excluded,
    because parts usually begin where the rows change.
    """
    parallel = {loop.variable for loop in parallel_loops(region)}
    accesses: dict[str, Access] = {}
    for reference in _shared_writes(region):
        counts = _is_counter(reference.statement) and not _repeats_in_loop(reference)
        chosen = {
            loop.variable for loop in reference.loops
            if counts or not (loop.variable in parallel or _is_part(loop, parallel))
        }  # fmt: skip
        if _reads_same_element(reference) and _is_selected_by_memory(
            reference.access, chosen, reference.loops, region
        ):
            accesses.setdefault(reference.access.array, reference.access)
    return list(accesses.values())


def possible_races(region: Region) -> list[Access]:
    """Returns the writes that conflict only if an index from memory occurs twice, one per array.

    Some writes are excluded: `indirect_updates`, writes of one value (flags), and writes through a
    list that the region fills with distinct entries. Rows and blocks that start at an index
    (`off[i] + j`, `cells[list[i]].v[j]`) are also excluded, since they belong to one iteration.
    """
    certain = {access.array for access in indirect_updates(region)}
    set_here = {name for statement, _ in region.statements() for name in statement.writes}
    accesses: dict[str, Access] = {}
    for reference in _shared_writes(region):
        access, loops = reference.access, reference.loops
        if access.array in certain or access.array in accesses:
            continue
        variables = {loop.variable for loop in loops}
        if _writes_same_value(reference.statement, variables | set_here, region):
            continue
        if any(_traverses_row(subscript, variables) for subscript in access.subscripts):
            continue
        if _is_selected_by_memory(
            access, variables, loops, region
        ) and not _filled_with_distinct_indices(access, region):
            accesses[access.array] = access
    return list(accesses.values())


@once_a_region
def arrays_updated_anywhere(region: Region) -> frozenset[str]:
    """Returns the arrays in which threads update arbitrary elements through an index from memory,
    without protection.
    """
    possible = {access.array for access in possible_races(region)}
    updated = {one.access.array for one in _shared_writes(region) if _reads_same_element(one)}
    return frozenset(access.array for access in indirect_updates(region)) | (possible & updated)


def writes_through_index(access: Access, loops: Sequence[Loop], region: Region) -> bool:
    """Whether threads write to arbitrary elements of a shared array, through values from memory."""
    if access.kind != "write" or root_of(access.array) not in region.shared:
        return False
    variables = {loop.variable for loop in loops}
    return _is_selected_by_memory(access, variables, loops, region, _FROM_DATA)


def _shared_writes(region: Region) -> list[Reference]:
    return [
        reference
        for reference in unconditional_references(region)
        if reference.access.kind == "write" and root_of(reference.access.array) in region.shared
    ]


def _is_part(loop: Loop, parallel_variables: Set[str]) -> bool:
    """Whether the loop traverses a part of the data that the parallel loop selects."""
    return loop.start is not None and not loop.start.names.isdisjoint(parallel_variables)


def _reads_same_element(write: Reference) -> bool:
    """Whether the statement of the write reads the element that it writes."""
    return any(
        other.kind == "read" and other.array == write.access.array
        and other.subscripts == write.access.subscripts for other in write.statement.accesses
    )  # fmt: skip


def _is_counter(statement: Statement) -> bool:
    """Whether a statement adds a constant: `h[k]++`, `h[k] += 1`."""
    return _COUNTING.search(statement.text) is not None


def _repeats_in_loop(write: Reference) -> bool:
    """Whether the innermost of several loops writes the same element in every iteration."""
    inner = write.loops[-1].variable
    return len(write.loops) > 1 and not any(inner in s.names for s in write.access.subscripts)


def _writes_same_value(statement: Statement, changing: Collection[str], region: Region) -> bool:
    """Whether every iteration writes the same value: a constant, or a shared variable that does not
    change.
    """
    match = _SAME_VALUE.search(statement.text)
    if match is None:
        return False
    name = match[1]
    return name not in statement.reads or (name in region.shared and name not in changing)


def _is_selected_by_memory(
    access: Access, changing_variables: Collection[str], loops: Sequence[Loop], region: Region,
    kinds: Collection[str] = ("ref",),
) -> bool:  # fmt: skip
    """Whether only an index from memory selects the element. `changing_variables` are the variables
    that change it.
    """
    parallel_variables = {loop.variable for loop in parallel_loops(region)}
    return any(
        _is_lookup(subscript, changing_variables, kinds) for subscript in access.subscripts
    ) and all(
        _is_shared_by_threads(subscript, loops, parallel_variables, region)
        for subscript in access.subscripts
    )


def _is_lookup(
    subscript: Expr, changing_variables: Collection[str], kinds: Collection[str]
) -> bool:
    """Whether the subscript is read from memory and changes with the iteration."""
    return any(
        atom.kind in kinds and not atom.names.isdisjoint(changing_variables)
        for atom in subscript.atoms()
    )


def _is_shared_by_threads(
    subscript: Expr, loops: Sequence[Loop], parallel_variables: Collection[str], region: Region
) -> bool:
    """Whether no part of the subscript separates threads. A subscript separates threads if it
    contains the variable of a worksharing loop, or a private variable with the start of a thread's
    part.
    """
    if any(subscript.coefficient(name) not in (None, Expr.const(0)) for name in parallel_variables):
        return False
    inner = {loop.variable for loop in loops}
    return all(
        root_of(name) in region.shared for name in subscript.names - inner - set(parallel_variables)
    )


def _traverses_row(subscript: Expr, variables: Collection[str]) -> bool:
    """Whether loops traverse a row or a block that starts at an index: `off[i] + j`."""
    return any(
        factor in variables if isinstance(factor, str)
        else not _reads_memory(factor) and not factor.names.isdisjoint(variables)
        for monomial in subscript.terms for factor, _ in monomial
    )  # fmt: skip


def _reads_memory(atom: Atom) -> bool:
    """Whether the expression contains a value from memory."""
    inside = (other for arg in atom.args for other in arg.atoms())
    return atom.kind == "ref" or any(other.kind == "ref" for other in inside)


def _filled_with_distinct_indices(access: Access, region: Region) -> bool:
    """Whether the region itself fills the index lists, with distinct entries: `k[i] = i`."""
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
    """Whether the stored value is the iteration number, possibly shifted or scaled, so that all
    values differ.
    """
    statement, variables = write.statement, {loop.variable for loop in write.loops}
    plain = all(operation.arithmetic in _ONE_TO_ONE for operation, _ in statement.operations)
    alone = not any(access.kind == "read" for access in statement.accesses)
    value = statement.text.partition("=")[2]
    used = variables & set(re.findall(r"[A-Za-z_]\w*", value))
    own = {name for subscript in write.access.subscripts for name in subscript.names & variables}
    return plain and alone and not statement.calls and len(used) == 1 and used == own
