"""Computes the effect of data that exceed the memory of a NUMA domain: the amount in the next
domain, and the threads that use it.

Linux takes a page from the next domain if a domain is full (zone fallback: Gorman, Understanding
the Linux Virtual Memory Manager, ch. 6). The last touched pages are therefore in the next domain.
They are assumed to be at the end of the index space, which a static schedule assigns to the last
threads. These threads wait with the latency of the other domain, and the region waits for them.
"""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.predict.saturation.constants import USABLE_MEMORY


class Overflow(NamedTuple):
    """The threads of the fullest domain by the location of their pages.

    At the same time, `near` threads use pages in their own domain, and `far` threads use pages in
    the next domain. `last` is the share of the slowest thread's data in the next domain.
    """

    near: float
    far: float
    last: float


def overflowing_share(machine: Machine, touched: float, threads: int) -> float:
    """Returns the share of data of the fullest domain's threads that exceeds the memory of the
    domain.

    `touched` is the number of bytes of all `threads`. Each thread first touches its own part.
    """
    size = machine.memory.size_bytes
    if size is None or machine.domains == 1 or machine.memory.shared_path is not None:
        return 0.0
    own = touched * min(threads, machine.cores_per_domain) / threads
    room = USABLE_MEMORY.value * size.value
    return min(1.0 - 1.0 / machine.domains, 1.0 - room / own) if own > room else 0.0


def overflow_of(share: float, crowd: float, *, static: bool) -> Overflow:
    """Returns how `crowd` threads of a domain use pages if a `share` of their data is in the next
    domain.

    With a static schedule, the last threads use the far pages. With other schedules, each thread
    uses some far pages.

    >>> overflow_of(0.25, 2.0, static=True)
    Overflow(near=1.5, far=1.0, last=0.5)
    >>> overflow_of(0.25, 10.0, static=True)
    Overflow(near=7.5, far=2.5, last=1.0)
    """
    last = min(1.0, share * crowd) if static else share
    return Overflow(max(1.0, (1.0 - share) * crowd), max(1.0, share * crowd), last)


def overflow_note(machine: Machine, touched: float) -> str:
    """Returns a note about data that exceed one domain's memory. Empty if the data fit."""
    size = machine.memory.size_bytes
    if size is None or not overflowing_share(machine, touched, 1):
        return ""
    gib, own = touched / 2**30, USABLE_MEMORY.value * size.value / 2**30
    if touched > machine.domains * USABLE_MEMORY.value * size.value:
        return f"{gib:.0f} GiB of data, {machine.domains * own:.0f} GiB of memory: it would swap"
    return (
        f"{gib:.0f} GiB of data exceed the {own:.0f} GiB of a domain: the last threads' data are "
        "in the next domain"
    )
