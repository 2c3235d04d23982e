"""Finds resources of this host for a calibration: a compiler, processors, memory."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from regionpredict.errors import InputError, UsageError

COMPILERS = ("gcc", "cc", "clang")


def first_compiler() -> str:
    """Returns the first available compiler of gcc, cc and clang."""
    for compiler in COMPILERS:
        if shutil.which(compiler):
            return compiler
    raise InputError(
        f"no C compiler: none of {', '.join(COMPILERS)} is there",
        remedy="install one, or name yours with --cc",
    )


def allowed_threads(threads: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the hardware threads among `threads` that this process may use, or all if unknown."""
    if not hasattr(os, "sched_getaffinity"):
        return threads
    mine = os.sched_getaffinity(0)
    return tuple(cpu for cpu in threads if cpu in mine) or tuple(sorted(mine))


def openmp_binding(binding: str, places: str = "cores") -> tuple[str, str]:
    """Returns OMP_PLACES and OMP_PROC_BIND of a binding.

    A binding is a list of places, or a policy that uses `places`. Raises UsageError if both give
    places, or if places are not on this host.
    """
    from regionpredict.machine.places import NamedPlaces, parse_places

    if binding in ("close", "spread"):
        proc_bind = binding
    elif places != "cores":
        raise UsageError(
            f"--places {places} with --bind {binding}",
            remedy="both place the threads; leave one out",
        )
    else:
        proc_bind, places = "close", places_over_caches() if binding == "caches" else binding
    known = parse_places(places)
    mine = set(os.sched_getaffinity(0))
    absent = set[int]() if isinstance(known, NamedPlaces) else {n for p in known for n in p} - mine
    if absent:
        raise UsageError(
            f"places {places}: CPU {min(absent)} is not usable here",
            remedy=f"the CPUs are {', '.join(map(str, sorted(mine)))}",
        )
    return places, proc_bind


def places_over_caches() -> str:
    """Returns the OMP_PLACES that use one core of each second-level cache first, among the allowed
    cores. Raises InputError if no usable core is found.
    """
    from regionpredict.machine.detect import read_sysfs

    over = read_sysfs().over_caches
    allowed = set(allowed_threads(over))
    cores = [number for number in over if number in allowed]
    if not cores:
        raise InputError(
            "none of the usable cores is listed by the host",
            remedy="give the places to --bind, for example {0},{2},{1},{3}",
        )
    return ",".join(f"{{{number}}}" for number in cores)


def free_bytes() -> int:
    """Returns the available memory in bytes as reported by the kernel, or 1 GiB if unknown."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    match = re.search(r"MemAvailable:\s*(\d+) kB", text)
    return int(match[1]) * 1024 if match else 1024**3
