"""Measures the load of other processes on a host, from the kernel's counters of processor time.

before = read_activity() ... # our own work disturbance(before, read_activity(), own_s)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

STATISTICS = Path("/proc/stat")
OTHERS_BUSY = 0.1
"""The number of cores. A run is disturbed if other processes use more than this.

They may then take a tenth of the time of one of its threads, and a loop waits for its slowest
thread. Assumed: twice the 5 % at which times count as converged.
"""
STOLEN = 0.02
"""Share of the host's processor time. A run on a virtual machine is disturbed if its host takes
more than this, less than the 5 % at which times count as converged.
"""
_RESOLUTION_S = 0.03
"""Less time of other processes counts as none, since the kernel counts in ticks of 10 ms per
core.
"""
_GLANCE_S = 0.25


class Activity(NamedTuple):
    """The processor time of all CPUs since the host was started, in seconds: used, and stolen by a
    host machine. `at` is the time of the reading, in seconds of a monotonic clock.
    """

    busy_s: float
    stolen_s: float
    at: float


class Disturbance(NamedTuple):
    """The load during a run. `others` is the mean number of cores used by other processes. `stolen`
    is the share of processor time taken by the host of this virtual machine.
    """

    others: float
    stolen: float

    @property
    def much(self) -> bool:
        """Whether a run at this load is disturbed."""
        return self.others > OTHERS_BUSY or self.stolen > STOLEN


def parse_activity(text: str, at: float, ticks: float) -> Activity | None:
    """Parses the counters of /proc/stat, with `ticks` per second. None if the text is invalid.

    >>> parse_activity("cpu  100 50 25 900 7 5 20 40 60 0\\n", 3.0, 100.0)
    Activity(busy_s=2.0, stolen_s=0.4, at=3.0)
    """
    fields = text.partition("\n")[0].split()
    if fields[:1] != ["cpu"] or len(fields) < 9 or not all(word.isdigit() for word in fields[1:]):
        return None
    user, nice, system, _idle, _waiting, interrupts, soft, stolen = map(int, fields[1:9])
    return Activity((user + nice + system + interrupts + soft) / ticks, stolen / ticks, at)


def read_activity() -> Activity | None:
    """Reads the host's current counters. None if the system has none."""
    try:
        text = STATISTICS.read_text("ascii", "replace")
    except OSError:
        return None
    return parse_activity(text, time.monotonic(), os.sysconf("SC_CLK_TCK"))


def disturbance(
    before: Activity | None, after: Activity | None, own_s: float, cpus: int | None = None
) -> Disturbance | None:
    """Returns the load between two readings, without `own_s` seconds of this process. None if the
    counters are unknown. `cpus` is the number of the host's CPUs.

    >>> disturbance(Activity(10, 0, 0), Activity(18, 2, 5), own_s=4.0, cpus=4)
    Disturbance(others=0.8, stolen=0.1)
    """
    if before is None or after is None or after.at <= before.at:
        return None
    span = after.at - before.at
    others = after.busy_s - before.busy_s - own_s
    stolen = after.stolen_s - before.stolen_s
    return Disturbance(
        others / span if others > _RESOLUTION_S else 0.0,
        stolen / (span * (cpus or os.cpu_count() or 1)) if stolen > _RESOLUTION_S else 0.0,
    )


def own_seconds() -> float:
    """Returns the processor time of this process and of its finished children."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def wait_for_quiet(
    most_s: float,
    sleep: Callable[[float], None] = time.sleep,
    on_wait: Callable[[float], None] = lambda _: None,
) -> float:
    """Waits until the host is idle, with a time limit. Returns the seconds waited.

    `on_wait` receives the remaining seconds after each check of a busy host.
    """
    begin = time.monotonic()
    while (left := most_s - (time.monotonic() - begin)) > 0:
        before = read_activity()
        sleep(min(_GLANCE_S, left))
        beside = disturbance(before, read_activity(), 0.0)
        if beside is None or not beside.much:
            break
        on_wait(max(0.0, most_s - (time.monotonic() - begin)))
    return time.monotonic() - begin
