"""Finds the messages for which calls of MPI_Probe wait."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.trace.event_trace import EventTrace, Kind
from regionpredict.trace.matching import Matches, matched_rows
from regionpredict.trace.mpi_regions import Call, call_of

_Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Probes:
    """The calls of MPI_Probe in the order of events. `enter` and `leave` are the rows of their
    events. `send` and `receive` are the operations of the probed message.
    """

    enter: _Rows
    leave: _Rows
    send: _Rows
    receive: _Rows


def probes_of(trace: EventTrace, matches: Matches, span: tuple[int, int] | None = None) -> Probes:
    """Returns the calls of MPI_Probe whose message is known. With `span`, only those of the
    locations between these two positions.

    Traces do not record the probed message. It is assumed to be the message of the next receive
    that the location calls or posts. If this message was sent after the probe, the probed message
    is unknown.
    """
    begin, end = trace.starts[list(span)].tolist() if span is not None else (0, len(trace))
    names = [at for at, one in enumerate(trace.regions) if call_of(one.name) == Call.PROBE]
    if not names:
        nothing = np.zeros(0, dtype=np.int64)
        return Probes(nothing, nothing, nothing, nothing)
    inside = np.isin(trace.region[begin:end], names)
    enter, leave = (
        begin + np.flatnonzero(inside & (trace.kind[begin:end] == kind))
        for kind in (Kind.ENTER, Kind.LEAVE)
    )
    receive = matched_rows(trace, matches, (Kind.RECEIVE, Kind.RECEIVE_COMPLETE), span)
    requests = matches.other[receive]
    posted = trace.operations.event[np.where(requests >= 0, requests, receive)]
    order = np.argsort(posted, kind="stable")
    following = np.searchsorted(posted[order], leave)
    known = following < len(order)
    enter, leave, rows = enter[known], leave[known], order[following[known]]
    receive, posted = receive[rows], posted[rows]
    send = matches.mate[receive]
    sent = trace.time[trace.operations.event[send]]
    found = (trace.locations_of(posted) == trace.locations_of(leave)) & (sent <= trace.time[leave])
    return Probes(enter[found], leave[found], send[found], receive[found])
