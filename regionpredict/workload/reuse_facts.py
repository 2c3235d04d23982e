"""The reuse distances of a region's references, as expressions and as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, cast

from regionpredict.analysis import RegionFacts
from regionpredict.ir import Access, Expr
from regionpredict.ir.folding import Number
from regionpredict.workload.assumed_sizes import SizeTarget, bound_sizes
from regionpredict.workload.constants import COUNTED_SHARE, TRIAL_DATA
from regionpredict.workload.derived_number import Derived, expression
from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.reuse_distance import ReferenceReuse, ReuseShare, reuse_distances


class ReuseFact(NamedTuple):
    """The distance between a use of a line by one reference and the previous use of the line.

    There are at most `lines` other lines in between. In a larger cache, only first uses miss.
    `expr` is that number in the program's names. `carried_by` is the variable of the loop that
    carries the reuse (None for the same iteration). All three are None if there is no reuse or if
    it is unknown. `lines` is also None if a size is unknown. `uses` are all uses by distance, and
    empty if a size is unknown. In triangular loops, `expr` and `lines` are those of the middle.
    """

    access: Access
    expr: Expr | None
    lines: float | None
    carried_by: str | None
    executions: float | None
    uses: tuple[ReuseShare, ...]


class HistogramBar(NamedTuple):
    """The `share` of a region's references whose distance is less than `below` lines.

    The distance is at least that of the previous bar. None means first accesses.
    """

    below: int | None
    share: float


def reuse_facts(facts: RegionFacts, line_bytes: int) -> tuple[ReuseFact, ...]:
    """One fact for each reference, in source order. Empty if no loop could be read.

    If sizes are unknown, the expressions are valid for large sizes.
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
        return tuple(_unknown(access) for access in accesses)
    shown = {
        reuse_distance.number: reuse_distance
        for reuse_distance in reuse_distances(nest, line_bytes, samples=1)
    }
    whole: dict[int, ReferenceReuse] = {}
    if sizes.open is None and not sizes.guessed:
        slanted = any(loop.depends for loop in nest.loops)
        plain = loop_nest(facts.region, sizes.values) if slanted else None
        whole = shown if plain is None else {
            reuse_distance.number: reuse_distance
            for reuse_distance in reuse_distances(plain, line_bytes)
        }  # fmt: skip
    values = facts.bindings.values
    return tuple(
        _fact(access, shown.get(number), whole.get(number), values, line_bytes)
        for number, access in enumerate(accesses)
    )


def reuse_histogram(facts: Sequence[ReuseFact]) -> tuple[HistogramBar, ...]:
    """The histogram of a region's reuse distances. The limits are powers of two. Empty if
    unknown.
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
                for below, share in _spread(use):
                    bars[below] = bars.get(below, 0.0) + share * executions
    if not total:
        return ()
    shares = [HistogramBar(below, bars[below] / total) for below in sorted(bars)]
    return (*shares, HistogramBar(None, first / total))


def _spread(use: ReuseShare) -> list[tuple[int, float]]:
    """The powers of two and shares of the distances of a use. Distances are less than the power and
    at least half of it.
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


def _unknown(access: Access) -> ReuseFact:
    return ReuseFact(access, None, None, None, None, ())


def _fact(
    access: Access, shown: ReferenceReuse | None, whole: ReferenceReuse | None,
    values: Mapping[str, int | Fraction], line_bytes: int,
) -> ReuseFact:  # fmt: skip
    if shown is None:
        return _unknown(access)
    executions = None if whole is None else whole.executions
    uses = () if whole is None else whole.uses
    # A line used twice by one reference is the end of a row, which does not determine the cache
    # size.
    least = COUNTED_SHARE.value * min(1.0, access.bytes / line_bytes)
    far = max(
        (use for use in shown.uses if use.lines is not None and use.share >= least),
        key=lambda use: use.lines or 0.0, default=None,
    )  # fmt: skip
    if far is None or far.lines is None:
        return ReuseFact(access, None, None, None, executions, uses)
    expr = expression(far.lines)
    known = whole is not None and (expr is None or expr.names <= values.keys())
    lines = max(0.0, float(far.lines)) if known else None
    return ReuseFact(access, expr, lines, far.carried_by, executions, uses)
