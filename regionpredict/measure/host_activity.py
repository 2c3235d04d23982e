"""What else a host is busy with, by the kernel's counters of processor time.

before = read_activity()
...  # our own work
disturbance(before, read_activity(), own_s)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

STATISTICS = Path("/proc/stat")
OTHERS_BUSY = 0.1
"""Cores. A run beside which others kept so much of the host busy is disturbed: they may have taken
a tenth of the time of one of its threads, and the slowest thread is what a loop waits for.
Assumed: twice the 5 % within which times are called settled."""
STOLEN = 0.02
"""Share of the host's processor time. A virtual machine from which its host took so much is
disturbed: less than the 5 % within which times are called settled."""
_RESOLUTION_S = 0.03
"""Others' time below this is not told from none: the kernel counts in ticks of 10 ms a core."""
_GLANCE_S = 0.25


class Activity(NamedTuple):
    """Processor time of all CPUs since the host was started, in seconds: spent, and kept from it by
    a host of its own; and the time `at` which it was read, in seconds of a monotonic clock."""

    busy_s: float
    stolen_s: float
    at: float


class Disturbance(NamedTuple):
    """What happened beside a run: `others`, how many cores others kept busy on average, and which
    share of the host's processor time was `stolen` by the machine that it is a guest of."""

    others: float
    stolen: float

    @property
    def much(self) -> bool:
        """Whether a run beside it is disturbed."""
        return self.others > OTHERS_BUSY or self.stolen > STOLEN


def parse_activity(text: str, at: float, ticks: float) -> Activity | None:
    """What a text of /proc/stat says, with `ticks` a second; None where it is none.

    >>> parse_activity("cpu  100 50 25 900 7 5 20 40 60 0\\n", 3.0, 100.0)
    Activity(busy_s=2.0, stolen_s=0.4, at=3.0)
    """
    fields = text.partition("\n")[0].split()
    if fields[:1] != ["cpu"] or len(fields) < 9 or not all(word.isdigit() for word in fields[1:]):
        return None
    user, nice, system, _idle, _waiting, interrupts, soft, stolen = map(int, fields[1:9])
    return Activity((user + nice + system + interrupts + soft) / ticks, stolen / ticks, at)


def read_activity() -> Activity | None:
    """The host's counters now; None where the system has none."""
    try:
        text = STATISTICS.read_text("ascii", "replace")
    except OSError:
        return None
    return parse_activity(text, time.monotonic(), os.sysconf("SC_CLK_TCK"))


def disturbance(
    before: Activity | None, after: Activity | None, own_s: float, cpus: int | None = None
) -> Disturbance | None:
    """What others did between two readings, `own_s` seconds of processor time being our own.

    None where the counters are not known. `cpus` is the number of the host's CPUs.

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
    """Processor time of this process and of those that it waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def wait_for_quiet(
    most_s: float,
    sleep: Callable[[float], None] = time.sleep,
    on_wait: Callable[[float], None] = lambda _: None,
) -> float:
    """Waits until others leave the host alone, at most so long; the seconds that it took.

    `on_wait` hears after each look at a busy host for how many seconds more it may wait.
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
