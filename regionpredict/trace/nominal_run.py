"""A run without noise. Computation takes the time of its cycles, and communication that of a
nominal network.

A cycle counter stops while a process is preempted. Cycles divided by the nominal frequency are
therefore the undisturbed time of a burst (Rosas 2014, sec. 2.4.2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError
from regionpredict.trace.bursts import bursts_of
from regionpredict.trace.event_trace import EventTrace

CYCLES = ("PAPI_TOT_CYC", "CYCLES", "cycles", "perf::CYCLES")


def nominal_work(trace: EventTrace, frequency_hz: float) -> NDArray[np.int64]:
    """The length of the span after each event in ticks, from its cycles if the whole reading is
    useful time, else as recorded. Raises InputError if the trace has no cycle counter.
    """
    counter = next((c for c in trace.counters if c.name in CYCLES and len(c.event)), None)
    if counter is None:
        raise InputError(
            f"{trace.name}: has no counter of cycles ({CYCLES[0]})",
            remedy="record one, or leave --frequency out",
        )
    bursts = bursts_of(trace)
    length = bursts.length.copy()
    total = np.concatenate([[0], np.cumsum(bursts.length)])
    useful = np.concatenate([[0], np.cumsum(np.where(bursts.useful, bursts.length, 0))])
    event = counter.event
    location = np.searchsorted(trace.starts, event, side="right")
    before = np.empty(len(event), dtype=np.int64)
    if len(event):
        before[0] = trace.starts[location[0] - 1]
        same = location[1:] == location[:-1]
        before[1:] = np.where(same, event[:-1], trace.starts[location[1:] - 1])
    whole, own = total[event] - total[before], useful[event] - useful[before]
    counted = np.flatnonzero((whole > 0) & (own == whole))
    ticks = counter.increase[counted] / frequency_hz * trace.ticks_per_second
    factor = np.ones(len(trace))
    spans = (event[counted] - before[counted]).astype(np.int64)
    rows = np.repeat(before[counted] - np.cumsum(spans) + spans, spans) + np.arange(spans.sum())
    factor[rows] = np.repeat(ticks / whole[counted], spans)
    return np.where(bursts.useful, np.rint(length * factor), length).astype(np.int64)
