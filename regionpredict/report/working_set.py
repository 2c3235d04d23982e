"""A region's working set in words, as known from the source without assumptions."""

from __future__ import annotations

from regionpredict.analysis import RegionFacts
from regionpredict.report.quantities import show_bytes


def working_set_line(facts: RegionFacts) -> str:
    """`Working set: 8*n bytes = 24 MiB`. Without a value, the reason."""
    size = facts.working_set
    if size.expr is None and size.value is None:
        return "Working set: not known"
    most = "at most " if size.at_most else ""
    shown = f"Working set: {most}{size.value if size.expr is None else size.expr} bytes"
    if size.value is not None:
        return f"{shown} = {show_bytes(size.value)}"
    open_names = [] if size.expr is None else facts.bindings.unbound(size.expr.names)
    return f"{shown}, no value for {', '.join(open_names)}" if open_names else f"{shown}, not known"
