"""Reads the topology of this host from Linux's sysfs (`devices/system`) and `/proc/cpuinfo`."""

from __future__ import annotations

import mmap
import re
from collections.abc import Mapping
from pathlib import Path

from regionpredict.errors import InputError
from regionpredict.machine.detect.topology import (
    HardwareThread,
    ThreadCache,
    Topology,
    assemble,
)
from regionpredict.machine.reader import Identity

SYSTEM = Path("/sys/devices/system")
CPUINFO = Path("/proc/cpuinfo")
_SIZE = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_WIDTHS = (("avx512f", 512), ("avx", 256), ("sse2", 128), ("asimd", 128), ("vsx", 128))


def read_sysfs(system: Path = SYSTEM, cpuinfo: Path = CPUINFO) -> Topology:
    """Reads the topology of the host from these paths of sysfs and cpuinfo.

    Raises InputError if the host hides its topology.
    """
    folder = system / "cpu"
    numbers = sorted(
        int(path.name[3:]) for path in folder.glob("cpu[0-9]*") if path.name[3:].isdigit()
    )
    online = cpu_list(_text(folder / "online")) if (folder / "online").is_file() else set(numbers)
    domains = {
        number: int(path.name[4:])
        for path in sorted((system / "node").glob("node[0-9]*"))
        for number in cpu_list(_text(path / "cpulist"))
    }
    shown = [number for number in numbers if number in online]
    shown = [number for number in shown if (folder / f"cpu{number}" / "topology").is_dir()]
    if not shown:
        raise InputError(
            "this host hides its topology",
            remedy="write the machine file by hand (docs/machines.md), or give its hwloc XML",
            path=str(folder),
        )
    facts = _cpuinfo(cpuinfo)
    flags = facts.get("flags", facts.get("Features", "")).split()
    return assemble(
        [_thread(folder / f"cpu{number}", number, domains) for number in shown],
        name=facts.get("model name", "this host"),
        source=str(system),
        clock_hz=_clock(folder / f"cpu{shown[0]}", facts),
        simd_bits=next((bits for flag, bits in _WIDTHS if flag in flags), None),
        memory_bytes=_memory(system / "node"),
        page_bytes=mmap.PAGESIZE if system == SYSTEM else None,
        identity=identity_of(facts),
        virtual="hypervisor" in flags,
    )


def identity_of(facts: Mapping[str, str]) -> Identity | None:
    """Returns the identity of the processor from the keys and values of cpuinfo. None if it is
    missing.

    >>> identity_of({"vendor_id": "GenuineIntel", "cpu family": "6", "model": "85"})
    Identity(vendor='GenuineIntel', family=6, model=85)
    >>> identity_of({"CPU implementer": "0x46", "CPU architecture": "8", "CPU part": "0x001"})
    Identity(vendor='0x46', family=-1, model=1)
    """
    try:
        if "CPU implementer" in facts:
            return Identity(facts["CPU implementer"].lower(), -1, int(facts["CPU part"], 0))
        return Identity(facts["vendor_id"], int(facts["cpu family"]), int(facts["model"]))
    except (KeyError, ValueError):
        return None


def cpu_list(text: str) -> set[int]:
    """Parses a list of numbers in sysfs format.

    >>> sorted(cpu_list("0-2,8"))
    [0, 1, 2, 8]
    """
    numbers: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first.strip().isdigit():
            numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def _thread(folder: Path, number: int, domains: dict[int, int]) -> HardwareThread:
    topology = folder / "topology"
    siblings = cpu_list(_text(topology / "thread_siblings_list")) or {number}
    package = max(0, _number(topology / "physical_package_id", 0))
    caches = [_cache(index, number) for index in sorted((folder / "cache").glob("index[0-9]*"))]
    return HardwareThread(
        number=number,
        package=package,
        domain=domains.get(number, package),
        core=frozenset(siblings),
        caches=tuple(cache for cache in caches if cache is not None),
        speed=_number(folder / "cpu_capacity", 0)
        or _number(folder / "acpi_cppc" / "highest_perf", 0)
        or _number(folder / "cpufreq" / "cpuinfo_max_freq", 0)
        or None,
    )


def _cache(folder: Path, number: int) -> ThreadCache | None:
    """Reads a data cache or a unified cache. None for an instruction cache, and for a cache without
    a size.
    """
    if _text(folder / "type") not in ("Data", "Unified"):
        return None
    match = re.fullmatch(r"(\d+)([KMG]?)", _text(folder / "size"))
    level = _number(folder / "level", 0)
    if match is None or level == 0:
        return None
    return ThreadCache(
        level=level,
        size=int(match[1]) * _SIZE[match[2]],
        line=_number(folder / "coherency_line_size", 0),
        ways=_number(folder / "ways_of_associativity", 0),
        threads=frozenset(cpu_list(_text(folder / "shared_cpu_list")) or {number}),
    )


def _clock(folder: Path, facts: dict[str, str]) -> float | None:
    """Returns the base clock in Hz from the driver, from the name of the processor, or from the
    current clock.
    """
    base = _number(folder / "cpufreq" / "base_frequency", 0)
    if base:
        return base * 1e3
    named = re.search(r"@ *([\d.]+) *GHz", facts.get("model name", ""))
    if named is not None:
        return float(named[1]) * 1e9
    if "cpu MHz" in facts:
        return float(facts["cpu MHz"]) * 1e6
    most = _number(folder / "cpufreq" / "cpuinfo_max_freq", 0)
    return most * 1e3 if most else None


def _memory(folder: Path) -> int:
    """Returns the memory of all NUMA domains in bytes, from lines such as
    `Node 0 MemTotal: 65840000 kB`. 0 if unknown.
    """
    totals = (re.search(r"MemTotal:\s*(\d+) kB", _text(path))
              for path in sorted(folder.glob("node[0-9]*/meminfo")))  # fmt: skip
    return sum(1024 * int(match[1]) for match in totals if match)


def _cpuinfo(path: Path) -> dict[str, str]:
    """Returns the keys and values of the first processor in cpuinfo."""
    facts: dict[str, str] = {}
    for line in _text(path).splitlines():
        key, colon, value = line.partition(":")
        if colon:
            facts.setdefault(key.strip(), value.strip())
    return facts


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path, default: int) -> int:
    text = _text(path)
    return int(text) if re.fullmatch(r"-?\d+", text) else default
