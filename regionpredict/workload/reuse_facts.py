"""Computes the reuse distances of a region's references as formulas and as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, cast

from regionpredict.analysis import RegionFacts
from regionpredict.ir import Access, Expr
from regionpredict.ir.folding import Number
from regionpredict.workload.assumed_sizes import SizeTarget, bound_sizes
from regionpredict.workload.constants import COUNTED_SHARE, TRIAL_DATA
from regionpredict.workload.derived_number import Derived, formula_of
from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.reuse_distance import ReferenceReuse, ReuseShare, reuse_distances


class ReuseFact(NamedTuple):
    """The reuse distance of one reference.

    `lines` is the largest number of other lines between two uses of a line. In a larger cache, only
    first uses miss. `expr` is the formula of `lines` in the program's names. `carried_by` is the
    variable of the loop that carries the reuse, or None for reuse in one iteration. All three are
    None without reuse and for unknown addresses. `lines` is also None for unknown sizes. `uses` are
    all reuse distances, and empty for unknown sizes. In triangular loops, `expr` and `lines` belong
    to the middle iteration.
    """

    access: Access
    expr: Expr | None
    lines: float | None
    carried_by: str | None
    executions: float | None
    uses: tuple[ReuseShare, ...]


class HistogramBar(NamedTuple):
    """The `share` of a region's references whose reuse distance is below `below` lines, and not
    below the limit of the previous bar. `below` is None for first accesses.
    """

    below: int | None
    share: float


def reuse_facts(facts: RegionFacts, line_bytes: int) -> tuple[ReuseFact, ...]:
    """Returns one reuse fact per reference, in source order. Empty if the region has no readable
    loop.

    With unknown sizes, the formulas are valid for large sizes.
    """
    if facts.status == "skipped" or facts.region.nest is None:
        return ()
    accesses = [access for statement, _ in facts.region.statements()
                for access in statement.accesses]  # fmt: skip
    sizes = bound_sizes(facts, SizeTarget(TRIAL_DATA.value, "large"), line_bytes)
    named = {
        name: cast("Number", Derived(float(value), Expr.name(name)))
        for name, value in sizes.values.items()
    }
    nest = loop_nest(facts.region, named)
    if nest is None or nest.assumed:
        return tuple(_unknown_reuse(access) for access in accesses)
    by_formula = {
        reuse_distance.number: reuse_distance
        for reuse_distance in reuse_distances(nest, line_bytes, samples=1)
    }
    by_number: dict[int, ReferenceReuse] = {}
    if sizes.open is None and not sizes.guessed:
        slanted = any(loop.depends for loop in nest.loops)
        plain = loop_nest(facts.region, sizes.values) if slanted else None
        by_number = by_formula if plain is None else {
            reuse_distance.number: reuse_distance
            for reuse_distance in reuse_distances(plain, line_bytes)
        }  # fmt: skip
    values = facts.bindings.values
    return tuple(
        _reuse_fact(access, by_formula.get(number), by_number.get(number), values, line_bytes)
        for number, access in enumerate(accesses)
    )


def reuse_histogram(facts: Sequence[ReuseFact]) -> tuple[HistogramBar, ...]:
    """Returns the histogram of a region's reuse distances, with powers of two as limits. Empty if a
    number of executions is unknown.
    """
    if any(fact.executions is None for fact in facts):
        return ()
    bars: dict[int, float] = {}
    first = total = 0.0
    for fact in facts:
        executions = fact.executions or 0.0
        total += executions
        for use in fact.uses:
            if use.lines is None:
                first += use.share * executions
            else:
                for below, share in _reuse_histogram(use):
                    bars[below] = bars.get(below, 0.0) + share * executions
    if not total:
        return ()
    shares = [HistogramBar(below, bars[below] / total) for below in sorted(bars)]
    return (*shares, HistogramBar(None, first / total))


def _reuse_histogram(use: ReuseShare) -> list[tuple[int, float]]:
    """Returns the histogram of one reuse as (upper limit, share). Each limit is a power of two, and
    distances are at least half of it.
    """
    lines = max(0.0, use.lines or 0.0)
    last = 1 << int(lines).bit_length()
    if not use.spread:
        return [(last, use.share)]
    bars, below, done = [], 1, 0.0
    while below <= last:
        part = min(1.0, below / max(1.0, lines))
        bars.append((below, use.share * (part - done)))
        below, done = 2 * below, part
    return bars


def _unknown_reuse(access: Access) -> ReuseFact:
    return ReuseFact(access, None, None, None, None, ())


def _reuse_fact(
    access: Access, by_formula: ReferenceReuse | None, by_number: ReferenceReuse | None,
    values: Mapping[str, int | Fraction], line_bytes: int,
) -> ReuseFact:  # fmt: skip
    if by_formula is None:
        return _unknown_reuse(access)
    executions = None if by_number is None else by_number.executions
    uses = () if by_number is None else by_number.uses
    # Small shares of reuse come from the ends of rows and do not determine the cache size.
    least = COUNTED_SHARE.value * min(1.0, access.bytes / line_bytes)
    far = max(
        (use for use in by_formula.uses if use.lines is not None and use.share >= least),
        key=lambda use: use.lines or 0.0, default=None,
    )  # fmt: skip
    if far is None or far.lines is None:
        return ReuseFact(access, None, None, None, executions, uses)
    expr = formula_of(far.lines)
    known = by_number is not None and (expr is None or expr.names <= values.keys())
    lines = max(0.0, float(far.lines)) if known else None
    return ReuseFact(access, expr, lines, far.carried_by, executions, uses)
