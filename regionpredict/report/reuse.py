"""Describes reuse distances as JSON and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from regionpredict.analysis import RegionFacts
from regionpredict.ir import WITHHELD, Diagnostic
from regionpredict.isolation import Failure, attempt
from regionpredict.report.document import Items
from regionpredict.report.names import several
from regionpredict.report.quantities import show_bytes
from regionpredict.workload import ReuseFact, ReuseShare, reuse_facts, reuse_histogram

_DIGITS = 2
_SHARE_DIGITS = 6
ByArray = Mapping[str, Sequence[ReuseFact | None]]
"""The reuse of all references by array, in source order. None if it is unknown."""


class CountedReuse(NamedTuple):
    """The reuse of the references of every array of a region, and a note if counting failed."""

    by_array: ByArray
    notes: tuple[Diagnostic, ...] = ()


def counted_reuse(facts: RegionFacts, line_bytes: int) -> CountedReuse:
    """Counts the reuse in a region. After an internal error, no distance is known."""
    counted = attempt(reuse_facts, facts, line_bytes)
    by_array: dict[str, list[ReuseFact | None]] = {array.name: [] for array in facts.arrays}
    if not isinstance(counted, Failure):
        for fact in counted:
            by_array[fact.access.array].append(fact)
    known = {
        array.name: by_array[array.name] or [None] * len(array.accesses) for array in facts.arrays
    }
    if not isinstance(counted, Failure):
        return CountedReuse(known)
    message = f"reuse distances: {counted.reason}"
    return CountedReuse(known, (Diagnostic(WITHHELD, facts.region.span, message),))


def access_reuse(fact: ReuseFact | None) -> dict[str, Any] | None:
    """Returns the `reuse_distance` of a reference. Null if no loop could be read."""
    if fact is None:
        return None
    return {
        "expr": None if fact.expr is None else str(fact.expr),
        "lines": None if fact.lines is None else round(fact.lines, _DIGITS),
        "carried_by": fact.carried_by,
        "uses": [_use_record(use) for use in fact.uses if round(use.share, _SHARE_DIGITS)] or None,
    }


def _use_record(use: ReuseShare) -> dict[str, Any]:
    lines = None if use.lines is None else round(float(use.lines), _DIGITS)
    document = {"share": round(use.share, _SHARE_DIGITS), "lines": lines,
                "carried_by": use.carried_by}  # fmt: skip
    return {**document, "spread": True} if use.spread else document


def histogram_document(by_array: ByArray) -> list[dict[str, Any]] | None:
    """Returns the region's histogram. Null if a size has no value."""
    facts = [fact for facts in by_array.values() for fact in facts if fact is not None]
    bars = reuse_histogram(facts)
    shown = [{"below": bar.below, "share": round(bar.share, _SHARE_DIGITS)} for bar in bars]
    return shown or None


def reuse_sentence(fact: ReuseFact, line_bytes: int) -> str:
    """Describes a reuse as `n*n/8 + 2 = 2002 lines (125 KiB) away, carried by i`. Unknown parts are
    left out.
    """
    if fact.expr is None and fact.lines is None:
        known = bool(fact.uses)
        return "no line is used again" if known else "reuse distance not known"
    shown = str(fact.expr) if fact.expr is not None else ""
    value = "" if fact.lines is None else f"{fact.lines:.{_DIGITS}f}".rstrip("0").rstrip(".")
    if shown and value and shown != value:
        shown = f"{shown} = {value}"
    size = f" ({show_bytes(line_bytes * (fact.lines + 1))})" if fact.lines is not None else ""
    where = f"carried by {fact.carried_by}" if fact.carried_by else "in the same iteration"
    unit = "line" if shown in ("", "1") and (value or shown) == "1" else "lines"
    return f"reuse {shown or value} {unit}{size} away, {where}"


def explain_reuse(facts: RegionFacts, line_bytes: int) -> Items:
    """Lists references with equal reuse, then the region's histogram."""
    reuse = attempt(reuse_facts, facts, line_bytes)
    if isinstance(reuse, Failure):
        return Items([f"Reuse distances: {WITHHELD}: {reuse.reason}"])
    alike: dict[tuple[str, str, str], dict[str, None]] = {}
    for fact in reuse:
        key = fact.access.kind, fact.access.array, reuse_sentence(fact, line_bytes)
        alike.setdefault(key, {})[fact.access.text] = None
    lines = [f"{kind} {several(list(texts))}: {sentence}"
             for (kind, _, sentence), texts in alike.items()]  # fmt: skip
    shares = []
    for bar in reuse_histogram(reuse):
        share = f"{100 * bar.share:.1f} %"
        if bar.below is None:
            shares.append(f"{share} first uses")
        elif bar.share >= _SHOWN_SHARE:
            shares.append(f"{share} below {show_bytes(bar.below * line_bytes)}")
    lines += ["of all references " + ", ".join(shares)] if shares else []
    return Items(lines, f"Reuse of lines of {line_bytes} B on one thread, at most")


_SHOWN_SHARE = 0.0005
"""Shares that would be shown as 0.0 % are left out."""
