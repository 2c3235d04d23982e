"""Corrects recorded times by the controlled logical clock, so that causes precede effects.

The method is that of R. Rabenseifner (The controlled logical clock: a global time for trace-based
software monitoring of parallel applications in workstation clusters, PDP 1997). D. Becker, R.
Rabenseifner, F. Wolf and J. Linford extend it to collective operations (Scalable timestamp
synchronization for event traces of message-passing applications, Parallel Computing 35, 2009), D.
Becker, M. Geimer, R. Rabenseifner and F. Wolf to threads (Extending the scope of the controlled
logical clock, Cluster Computing 16, 2013). D. Boehme 2014, section 2.6, uses it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from regionpredict.constant import Constant
from regionpredict.errors import InputError
from regionpredict.trace.event_trace import EventTrace, Finding
from regionpredict.trace.kernels import Kernels, c_struct
from regionpredict.trace.thread_dependencies import Synchronisation

FADE = Constant(
    0.01,
    "1",
    "assumed",
    "a choice of the control variable of Rabenseifner 1997: after a correction, a clock returns "
    "to its own time at this rate, and it speeds up at this rate before one",
)


def correct_clocks_of(
    trace: EventTrace, conditions: Iterable[Synchronisation], kernels: Kernels
) -> EventTrace:
    """Returns the trace with times that satisfy the conditions. A finding gives the number of moved
    events.

    An event that is earlier than a required one gets the time of the required event. Later events
    of its location are moved by an amount that decreases by 1 % of the elapsed time. Earlier events
    are moved by an increasing amount, as far as other locations permit. The order of events on each
    location is kept, and no event becomes earlier. Intervals shrink by at most 1 % and a tick. A
    trace without violations is unchanged. Raises InputError if memory is insufficient.
    """
    events, slots, is_post, count = [], [], [], 0
    for condition in conditions:
        events += [condition.need, condition.post]
        slots += [condition.need_slot + count, condition.post_slot + count]
        is_post += [np.zeros(len(condition.need), np.uint8), np.ones(len(condition.post), np.uint8)]
        count += condition.count
    nothing = np.zeros(0, dtype=np.int64)
    event, slot = np.concatenate([nothing, *events]), np.concatenate([nothing, *slots])
    posts = np.concatenate([nothing.astype(np.uint8), *is_post])
    order = np.lexsort((posts, event))
    event, slot, posts = event[order], slot[order], posts[order]
    left = np.bincount(slot[posts == 1], minlength=count).astype(np.int64)
    first = np.searchsorted(event, trace.starts).astype(np.int64)
    time = trace.time.copy()
    table = c_struct(
        locations=len(trace.locations), marks=len(event), slots=count, starts=trace.starts,
        time=time, first=first, event=event, slot=slot, is_post=posts, left=left, fade=FADE.value,
        unordered=0,
    )  # fmt: skip
    if kernels.load("clock_correction.c").rp_correct(ctypes.byref(table)):
        raise InputError("not enough memory", remedy="filter the trace", path=trace.name)
    moved = int(np.count_nonzero(time != trace.time))
    findings = list(trace.findings)
    if moved:
        most = float((time - trace.time).max()) / trace.ticks_per_second
        findings.append(Finding(f"times corrected, by up to {most:.6g} s", count=moved))
    if table.unordered:
        findings.append(Finding("cyclic conditions, not corrected", count=int(table.unordered)))
    return replace(trace, time=time, findings=tuple(findings))
