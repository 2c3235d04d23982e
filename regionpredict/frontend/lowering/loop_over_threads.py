"""Recognizes a worksharing loop over threads in which each thread executes a block of another loop.

    int nt = omp_get_max_threads();
    #pragma omp parallel for private(i, first, last)
    for (t = 0; t < nt; t++) {
        first = t * n / nt, last = (t + 1) * n / nt;
        for (i = first; i < last; i++)              becomes the worksharing loop, from 0 while < n
            y[i] = x[i];
    }

The outer loop has one iteration per thread, for any number of threads. The blocks of the inner loop
correspond to `schedule(static)` (`thread_partition`).
"""

from __future__ import annotations

from dataclasses import replace

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.call_trees import CallTrees
from regionpredict.frontend.lowering.definitions import definitions_of
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.hand_shared import (
    thread_count_replacements,
    with_one_thread_definitions,
    with_used_arrays,
)
from regionpredict.frontend.lowering.loop_headers import read_header
from regionpredict.frontend.lowering.region_builder import RegionBuilder
from regionpredict.frontend.lowering.region_sites import LoopSite
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.lowering.thread_numbers import ThreadNumbers
from regionpredict.frontend.lowering.thread_partition import (
    TEAM,
    Partition,
    shared_loop,
)
from regionpredict.frontend.syntax import (
    Compound,
    Decl,
    For,
    Function,
    RangeFor,
    Stmt,
    While,
    every_statement,
)
from regionpredict.ir import Clause, Definition, Diagnostic, Expr, Loop, Region
from regionpredict.ir.region import THREAD_NUMBER


def loop_over_threads(
    unit: LinkedUnit, function: Function, site: LoopSite, region: Region,
    defined: tuple[Definition, ...], trees: CallTrees, numbers: ThreadNumbers,
) -> tuple[Region, tuple[Definition, ...]] | None:  # fmt: skip
    """Returns a region that shares the iterations of the inner loop. Returns None if `region` is
    not a loop over the threads.
    """
    if not isinstance(site.loop, For) or not _has_iteration_per_thread(region, defined):
        return None
    header = read_header(site.loop, Context(unit), Frame({}))
    inner = None if header is None else _only_loop(site.loop.body, header.decl, numbers)
    if header is None or inner is None:
        return None
    builder = RegionBuilder(unit, function, site.directive.pragma, region.span, trees)
    blocks = builder.build(
        inner, site.context, site.enclosing, site.team,
        preceding=site.loop.body, initial_values={header.decl: Expr.name(THREAD_NUMBER)},
    )  # fmt: skip
    known = definitions_of(unit, function, builder.context, site.directive)
    if blocks.nest is None:
        return None
    shared = shared_loop(blocks.nest, thread_count_replacements(known))
    if shared is None or shared[1].schedule != "static":
        return None
    return _region_of_inner_loop(blocks, *shared), with_one_thread_definitions(blocks, known)


def _has_iteration_per_thread(region: Region, defined: tuple[Definition, ...]) -> bool:
    """Returns whether the loop has one iteration per thread."""
    nest = region.nest
    if nest is None or nest.trips is None:
        return False
    return nest.start == 0 and nest.trips.substitute(
        thread_count_replacements(defined)
    ) == Expr.name(TEAM)


def _only_loop(body: Stmt, counter: Decl, numbers: ThreadNumbers) -> For | None:
    """Returns the only loop in the body, if its header depends on the outer loop's counter. Returns
    None otherwise.
    """
    items = body.items if isinstance(body, Compound) else (body,)
    loops = [item for item in items if _contains_loop(item)]
    if len(loops) != 1 or not isinstance(loops[0], For):
        return None
    (loop,) = loops
    assert isinstance(loop, For)
    return (
        loop if numbers.header_depends(loop, numbers.dependent_variables(body, [counter])) else None
    )


def _contains_loop(statement: Stmt) -> bool:
    return any(isinstance(inner, (For, While, RangeFor)) for inner in every_statement(statement))


def _region_of_inner_loop(region: Region, nest: Loop, partition: Partition) -> Region:
    whole = partition.whole
    message = "each iteration is a thread with a block of the inner loop: read as the inner loop"
    return replace(
        with_used_arrays(region),
        nest=replace(nest, start=whole.start, bound=whole.bound, step=whole.step),
        clauses=(
            Clause("schedule", partition.schedule),
            *(clause for clause in region.clauses if clause.name != "schedule"),
        ),
        diagnostics=(*region.diagnostics, Diagnostic("RP116", region.span, message)),
        over_threads=True,
    )
