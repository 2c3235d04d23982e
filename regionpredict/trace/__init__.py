"""Reads and analyzes event traces. Input: an archive of events. Output: an `EventTrace`, and the
results of its analyses.
"""

from regionpredict.trace.event_trace import (
    NONE,
    Collective,
    Communicator,
    Counter,
    EventTrace,
    Finding,
    Kind,
    Location,
    Operations,
    Paradigm,
    ProcessGrid,
    Region,
    Role,
)
from regionpredict.trace.trace_builder import TraceBuilder

__all__ = [
    "NONE",
    "Collective",
    "Communicator",
    "Counter",
    "EventTrace",
    "Finding",
    "Kind",
    "Location",
    "Operations",
    "Paradigm",
    "ProcessGrid",
    "Region",
    "Role",
    "TraceBuilder",
]
