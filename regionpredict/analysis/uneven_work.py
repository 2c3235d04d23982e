"""Finds parts of a parallel loop's body whose work depends on data and differs between iterations.

    for (k = row[i]; k < row[i + 1]; k++)       rows of a sparse matrix, degrees of a graph
        while (error > eps)                         until the solution converges
        for (...) if (...) break;                   until the search succeeds
        if (count[i] > 0) for (...)                 an inner loop that runs in some iterations only

The source does not show how such work is distributed over the iterations. Bounds that depend on the
loop's variables, as in a triangle, are excluded, since they are counted exactly. Tables that every
iteration reads at the same positions are also excluded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from regionpredict.analysis.dependence import parallel_loops
from regionpredict.analysis.tabulated_trips import entry_trips
from regionpredict.ir import Branch, Loop, Node, Region, Statement


class UnevenLoop(NamedTuple):
    """An inner loop whose work differs between iterations of the parallel loop, with the reason.

    `number` is the position of the loop among all loops of the nest in source order. The nest
    itself has number 0.
    """

    loop: Loop
    number: int
    reason: str


def uneven_loops(region: Region) -> tuple[UnevenLoop, ...]:
    """Returns the outermost loops whose work differs between iterations, in source order."""
    if region.nest is None:
        return ()
    return tuple(_UnevenLoopSearch(region).uneven_in(region.nest.body))


class _UnevenLoopSearch:
    """Finds the uneven loops of a nest, and numbers all loops in source order."""

    def __init__(self, region: Region) -> None:
        self._shared = parallel_loops(region)
        self._moving = {loop.variable for loop in self._shared}
        self._loops_seen = 0  # the nest itself has number 0

    def uneven_in(self, nodes: tuple[Node, ...], condition: str = "") -> Iterator[UnevenLoop]:
        """Yields the uneven loops inside these nodes. `condition` describes the condition under
        which the nodes run.
        """
        before: Statement | None = None
        for node in nodes:
            if isinstance(node, Statement):
                before = node
            elif isinstance(node, Loop):
                yield from self._uneven_in_loop(node, condition)
            elif isinstance(node, Branch):
                decided = condition or _data_condition(node, before)
                for side in node.sides:
                    yield from self.uneven_in(side, decided)
            else:
                yield from self.uneven_in(node.body, condition)

    def _uneven_in_loop(self, loop: Loop, condition: str) -> Iterator[UnevenLoop]:
        self._loops_seen += 1
        number = self._loops_seen
        if any(loop is shared for shared in self._shared):
            yield from self.uneven_in(loop.body)
            return
        reason = self._variation_reason(loop) or condition
        inner = list(self.uneven_in(loop.body))
        if reason:
            yield UnevenLoop(loop, number, reason)
        else:
            yield from inner

    def _variation_reason(self, loop: Loop) -> str:
        """Returns the reason why the trip count varies. Empty if it does not vary, or if it is
        counted exactly.
        """
        at = f"the loop at line {loop.span.line}"
        if loop.trips is None and not loop.averaged:
            return f"{at} runs until a condition on data holds"
        if loop.exits:
            return f"{at} may be left early"
        if loop.averaged:
            return f"of {at} only the average iterations are known"
        bounds = [part for part in (loop.start, loop.bound, loop.step) if part is not None]
        if any(part.names & self._moving for part in bounds):
            self._moving.add(loop.variable)
        atoms = [atom for part in bounds if part.has_unreadable_part for atom in part.atoms()]
        if any(atom.kind == "varying" or atom.names & self._moving for atom in atoms):
            entry = entry_trips(loop)
            what = f"{entry.name} iterations" if entry is not None else "data-dependent iterations"
            return f"{at} has {what}"
        return ""


def skew_targets(region: Region) -> frozenset[str]:
    """Returns the names under which the caller gives the skew of a region. They are the variable of
    its loop or of an inner uneven loop, a table with the trip counts of such a loop, and
    `FILE:LINE` with the whole path.
    """
    if region.nest is None:
        return frozenset()
    loops = [region.nest, *(found.loop for found in uneven_loops(region))]
    targets = {f"{region.span.file}:{region.span.line}"}
    for loop in loops:
        targets |= {loop.variable, f"{loop.span.file}:{loop.span.line}"}
        bounds = [part for part in (loop.start, loop.bound) if part is not None]
        targets |= {atom.label for part in bounds for atom in part.atoms() if atom.kind == "ref"}
    return frozenset(targets)


def is_target(target: str, targets: frozenset[str]) -> bool:
    """Whether a name or `FILE:LINE` is one of the targets. `FILE` may be the end of a path."""
    return target in targets or (
        ":" in target and any(known.endswith(f"/{target}") for known in targets)
    )


def _data_condition(branch: Branch, before: Statement | None) -> str:
    """Returns a description of the condition that selects a branch, if the condition reads
    memory.
    """
    if before is None or before.role != "condition" or not before.accesses:
        return ""
    return f"the condition at line {branch.span.line} depends on data"
