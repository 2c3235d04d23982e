"""Finds hardware counters by the names of PAPI, perf and libpfm4.

PAPI's presets are mapped to generic events of the kernel (perf_event_open(2)), which differ between
processors. Names for one processor are looked up in libpfm4 if it is installed, as in PAPI.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import re
from typing import NamedTuple

from regionpredict.errors import UsageError

MOST_COUNTERS = 3
"""The maximum number of counters per recorded event."""


class Counter(NamedTuple):
    """A hardware counter with its name, and its `type` and `config` for perf_event_open(2)."""

    name: str
    type: int
    config: int


_HARDWARE, _SOFTWARE, _CACHE, _RAW = 0, 1, 3, 4  # PERF_TYPE_*
_MISS, _WRITE = 1 << 16, 1 << 8  # PERF_COUNT_HW_CACHE_RESULT_MISS, _OP_WRITE
_L1D, _L1I, _DTLB, _ITLB = 0, 1, 3, 4  # PERF_COUNT_HW_CACHE_*
PRESETS = {
    "PAPI_TOT_INS": (_HARDWARE, 1), "PAPI_TOT_CYC": (_HARDWARE, 0), "PAPI_REF_CYC": (_HARDWARE, 9),
    "PAPI_BR_INS": (_HARDWARE, 4), "PAPI_BR_MSP": (_HARDWARE, 5), "PAPI_RES_STL": (_HARDWARE, 8),
    "PAPI_L1_DCA": (_CACHE, _L1D), "PAPI_L1_DCM": (_CACHE, _L1D | _MISS),
    "PAPI_L1_LDM": (_CACHE, _L1D | _MISS), "PAPI_L1_STM": (_CACHE, _L1D | _WRITE | _MISS),
    "PAPI_L1_ICM": (_CACHE, _L1I | _MISS), "PAPI_TLB_DM": (_CACHE, _DTLB | _MISS),
    "PAPI_TLB_IM": (_CACHE, _ITLB | _MISS), "PAPI_L3_TCA": (_HARDWARE, 2),
    "PAPI_L3_TCM": (_HARDWARE, 3),
}  # fmt: skip
"""PAPI's preset events, mapped to generic events of the kernel."""
PERF = {
    "instructions": (_HARDWARE, 1), "cycles": (_HARDWARE, 0), "branches": (_HARDWARE, 4),
    "branch-misses": (_HARDWARE, 5), "cache-references": (_HARDWARE, 2),
    "cache-misses": (_HARDWARE, 3), "task-clock": (_SOFTWARE, 1), "page-faults": (_SOFTWARE, 2),
    "context-switches": (_SOFTWARE, 3), "cpu-migrations": (_SOFTWARE, 4),
}  # fmt: skip
"""The names of perf's hardware events."""
DEFAULT = (
    Counter("instructions", 0, 1), Counter("cycles", 0, 0), Counter("cache misses", 0, 3),
)  # fmt: skip
"""The default counters (PERF_TYPE_HARDWARE): instructions and cycles of the core, misses of the
last-level cache.
"""
_RAW_EVENT = re.compile(r"r([0-9a-fA-F]{1,16})")


def named_counters(names: tuple[str, ...]) -> tuple[Counter, ...]:
    """Returns the counters with these names, by default the usual three.

    A name is one of PAPI's presets, a perf event, `rHEX` for a raw event of the processor, or an
    event of libpfm4. Raises UsageError for other names, and for more than three.
    """
    if not names:
        return DEFAULT
    if len(set(names)) > MOST_COUNTERS:
        raise UsageError(
            f"{len(set(names))} counters",
            remedy=f"at most {MOST_COUNTERS} are read with each event",
        )
    return tuple(Counter(name, *_find_event(name)) for name in dict.fromkeys(names))


def preset_name(counter: Counter) -> str:
    """Returns PAPI's name of a counter, or the counter's own name if PAPI has none.

    >>> preset_name(Counter("instructions", 0, 1)), preset_name(Counter("page-faults", 1, 2))
    ('PAPI_TOT_INS', 'page-faults')
    """
    event = counter.type, counter.config
    return next((name for name, preset in PRESETS.items() if preset == event), counter.name)


def _find_event(name: str) -> tuple[int, int]:
    for known, shown in ((PRESETS, name.upper()), (PERF, name)):
        if shown in known:
            return known[shown]
    raw = _RAW_EVENT.fullmatch(name)
    if raw:
        return (_RAW, int(raw[1], 16))
    found = _by_libpfm(name)
    if found is None:
        raise UsageError(
            f"no hardware counter '{name}' is known",
            remedy=f"choose from {', '.join((*PRESETS, *PERF))}; rHEX; or a name of libpfm4",
        )
    return found


class _Encoding(ctypes.Structure):
    """`pfm_perf_encode_arg_t` of libpfm4."""

    _fields_ = (
        ("attr", ctypes.c_void_p), ("fstr", ctypes.c_void_p), ("size", ctypes.c_size_t),
        ("idx", ctypes.c_int), ("cpu", ctypes.c_int), ("flags", ctypes.c_int),
    )  # fmt: skip


_USER = 0x8  # PFM_PLM3
_PERF_EVENTS = 1  # PFM_OS_PERF_EVENT
_ATTR_BYTES = 256  # size of perf_event_attr, with room for later versions


def _by_libpfm(name: str) -> tuple[int, int] | None:
    """Returns type and config of an event of libpfm4. None if the event is unknown, or libpfm4 is
    missing.
    """
    try:
        library = ctypes.CDLL("libpfm.so.4")
    except OSError:
        return None
    if library.pfm_initialize():
        return None
    attr = ctypes.create_string_buffer(_ATTR_BYTES)
    encoding = _Encoding(attr=ctypes.addressof(attr), size=ctypes.sizeof(_Encoding), cpu=-1)
    if library.pfm_get_os_event_encoding(
        name.encode(), _USER, _PERF_EVENTS, ctypes.byref(encoding)
    ):
        return None
    kind = int.from_bytes(attr.raw[0:4], "little")
    return kind, int.from_bytes(attr.raw[8:16], "little")
