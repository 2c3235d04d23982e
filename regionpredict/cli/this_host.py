"""Resources of this host for a calibration: a compiler, processors, memory."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from regionpredict.errors import InputError, UsageError

COMPILERS = ("gcc", "cc", "clang")


def first_compiler() -> str:
    """The first available of gcc, cc and clang."""
    for compiler in COMPILERS:
        if shutil.which(compiler):
            return compiler
    raise InputError(
        f"no C compiler: none of {', '.join(COMPILERS)} is there",
        remedy="install one, or name yours with --cc",
    )


def allowed_threads(threads: tuple[int, ...]) -> tuple[int, ...]:
    """The hardware threads among `threads` that this process may use, or all if unknown."""
    if not hasattr(os, "sched_getaffinity"):
        return threads
    mine = os.sched_getaffinity(0)
    return tuple(cpu for cpu in threads if cpu in mine) or tuple(sorted(mine))


def places_over_caches(places: str = "cores") -> str:
    """The OMP_PLACES that use one core of each second-level cache first, among the allowed cores.

    Raises UsageError if `places` is not the default, and InputError if no usable core is found.
    """
    from regionpredict.machine.detect import read_sysfs

    if places != "cores":
        raise UsageError(
            f"--places {places} with --bind caches", remedy="leave one out: both say where"
        )
    over = read_sysfs().over_caches
    allowed = set(allowed_threads(over))
    cores = [number for number in over if number in allowed]
    if not cores:
        raise InputError(
            "no core that may be used is one that the host shows",
            remedy="write --places by hand, as {0},{2},{1},{3}",
        )
    return ",".join(f"{{{number}}}" for number in cores)


def free_bytes() -> int:
    """Available memory in bytes, as reported by the kernel, or 1 GiB if unknown."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    match = re.search(r"MemAvailable:\s*(\d+) kB", text)
    return int(match[1]) * 1024 if match else 1024**3
