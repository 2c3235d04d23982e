"""What the source shows to be wrong, or contended, when several threads run it: notes with a rule.

Only what is sure is told: dependences that the loop carries (RP221), variables of all threads that
each iteration changes (RP222). Updates through an index from memory (RP224) are right only where no
index comes twice, which the source does not say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from regionpredict.analysis.dependence import (
    MAY_NOT_RUN,
    Reference,
    carried_dependence,
    parallel_loops,
    root_of,
    sure_references,
)
from regionpredict.ir import Access, Diagnostic, Expr, Loop, Node, Region, Statement

RACES = frozenset(("RP221", "RP222", "RP224"))
"""Rules by which a region's result depends on which thread is first: it needs a change, not
threads."""

_COUNTING = re.compile(r"\+\+|--|[-+]= *\d[\w.]*$")


def conflicts(region: Region, trips: int | None) -> list[Diagnostic]:
    """The notes on one region, `trips` being the iterations of its outermost loop if known."""
    if region.nest is None or _alone(region) or (trips is not None and trips < 2):
        return []
    return [*_carried(region, trips), *_shared_scalars(region), *_indirect(region)]


def _alone(region: Region) -> bool:
    """Whether one thread runs it all."""
    for construct in (region, region.parallel):
        clause = construct.clause("num_threads") if construct is not None else None
        if clause is not None and (clause.text or "").strip() == "1":
            return True
    return False


def _carried(region: Region, trips: int | None) -> Iterator[Diagnostic]:
    dependence = carried_dependence(region, trips)
    if dependence is None:
        return
    if dependence.distance:
        gap = abs(dependence.distance)
        apart = "next iteration" if gap == 1 else f"iteration {gap} further"
        message = (
            f"{dependence.write.text} is written and {dependence.other.text} touches the same "
            f"element in the {apart}: the iterations are not independent"
        )
    else:
        message = f"every iteration updates the same {dependence.write.text}, each thread at once"
    yield Diagnostic("RP221", dependence.write.span, message)


def _shared_scalars(region: Region) -> Iterator[Diagnostic]:
    """Variables of all threads that every iteration sets and that are read in the region."""
    own = {loop.variable for loop in parallel_loops(region)}
    read = {name for statement, _ in region.statements() for name in statement.reads}
    told: set[str] = set()
    for name, node in _sets(region):
        if (
            name in region.shared
            and name not in own | told
            and (isinstance(node, Loop) or name in read)
        ):
            told.add(name)
            what = "counts in it" if isinstance(node, Loop) else "sets it"
            message = f"{name} is one variable for all threads, and every iteration {what}"
            yield Diagnostic("RP222", node.span, message)


def _sets(region: Region) -> Iterator[tuple[str, Statement | Loop]]:
    """What surely happens in each iteration: a variable, the statement or loop that sets it."""
    if region.nest is None or region.nest.exits:
        return

    def below(nodes: tuple[Node, ...]) -> Iterator[tuple[str, Statement | Loop]]:
        for node in nodes:
            if isinstance(node, Statement):
                if not any(sign in node.text for sign in MAY_NOT_RUN):
                    yield from ((name, node) for name in sorted(node.writes))
            elif isinstance(node, Loop) and node.kind == "for":
                yield node.variable, node
                if not node.exits:
                    yield from below(node.body)

    yield from below(region.nest.body)


def _indirect(region: Region) -> Iterator[Diagnostic]:
    """Updates of elements whose number is read from memory: `h[idx[i]]++`."""
    for access in indirect_updates(region):
        message = (
            f"{access.text} is updated by all threads at once: right only if no two iterations "
            "find the same index"
        )
        yield Diagnostic("RP224", access.span, message)


def indirect_updates(region: Region) -> list[Access]:
    """The writes, one an array, of what all threads update through an index from memory.

    A sum into the rows of a list is none, as such lists name each row once; counting is, and so is
    what looks up several elements in each iteration.
    """
    moving = {loop.variable for loop in parallel_loops(region)}
    accesses: dict[str, Access] = {}
    for reference in sure_references(region):
        access = reference.access
        if access.kind != "write" or root_of(access.array) not in region.shared:
            continue
        grows = any(
            other.kind == "read" and other.array == access.array
            and other.subscripts == access.subscripts for other in reference.statement.accesses
        )  # fmt: skip
        inner = {loop.variable for loop in reference.loops} - moving
        chosen = inner | moving if _counts(reference.statement) else inner
        if (
            grows
            and any(_looked_up(subscript, chosen) for subscript in access.subscripts)
            and all(
                _of_all(subscript, reference, moving, region) for subscript in access.subscripts
            )
        ):
            accesses.setdefault(access.array, access)
    return list(accesses.values())


def _counts(statement: Statement) -> bool:
    """Whether a statement adds a constant: `h[k]++`, `h[k] += 1`."""
    return _COUNTING.search(statement.text) is not None


def _looked_up(subscript: Expr, moving: set[str]) -> bool:
    """Whether it is read from memory, and changes with the iteration."""
    return any(atom.kind == "ref" and atom.names & moving for atom in subscript.atoms())


def _of_all(subscript: Expr, reference: Reference, moving: set[str], region: Region) -> bool:
    """Whether no part of it keeps threads apart: a worksharing loop's own variable, or a variable
    of which each thread may have its own, as the begin of its part.
    """
    if any(subscript.coefficient(name) not in (None, Expr.const(0)) for name in moving):
        return False
    inner = {loop.variable for loop in reference.loops}
    return all(root_of(name) in region.shared for name in subscript.names - inner - moving)
