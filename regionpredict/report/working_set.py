"""A region's working set in words: what the source tells of it, and nothing that is assumed."""

from __future__ import annotations

from regionpredict.analysis import RegionFacts
from regionpredict.report.quantities import show_bytes


def working_set_line(facts: RegionFacts) -> str:
    """`Working set: 8*n bytes = 24 MiB`; without a value, why there is none."""
    told = facts.working_set
    if told.expr is None and told.value is None:
        return "Working set: not known"
    most = "at most " if told.at_most else ""
    shown = f"Working set: {most}{told.value if told.expr is None else told.expr} bytes"
    if told.value is not None:
        return f"{shown} = {show_bytes(told.value)}"
    open_names = [] if told.expr is None else facts.bindings.unbound(told.expr.names)
    return f"{shown}, no value for {', '.join(open_names)}" if open_names else f"{shown}, not known"
