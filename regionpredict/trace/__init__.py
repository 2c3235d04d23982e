"""Event traces: an archive in, one `EventTrace` out; the analyses go from it to their results."""

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
