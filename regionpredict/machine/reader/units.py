"""Parses numbers with units in a machine file: `32 KiB`, `1.86 GHz`, `126 ns`."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\s*([-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*\Z")

_SCALES: dict[str, dict[str, float]] = {
    "B": {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "kB": 1e3, "MB": 1e6, "GB": 1e9},
    "Hz": {"Hz": 1, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
    "B/s": {"B/s": 1, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12},
    "cycles": {"cycles": 1, "cycle": 1, "cy": 1},
    "ns": {"ns": 1, "us": 1e3},
    "bit": {"bit": 1, "bits": 1},
    "B/cycle": {"B/cycle": 1, "B/cy": 1},
    "cores": {"core": 1, "cores": 1},
    "ways": {"way": 1, "ways": 1},
}


MOST = 1e16
"""The upper limit of any number in bytes, bytes per second, cycles or Hz."""
LEAST = {"B/s": 1e6, "B/cycle": 1e-3}
"""The lower limits of numbers by unit. A smaller number probably has a wrong unit."""


class UnitError(ValueError):
    """Raised if a number cannot be parsed. The text lists the accepted units."""


def accepted(unit: str) -> str:
    """Returns the accepted spellings of a unit as text: `B, KiB, MiB, GiB, kB, MB or GB`."""
    names = list(_SCALES.get(unit, {unit: 1.0}))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def parse(text: str, unit: str, *, plain: float = 1.0, cycles_per_ns: float | None = None) -> float:
    """Parses `text` as a number in `unit`.

    A number without a unit is multiplied by `plain` (1e9 in a table in GB/s). With `cycles_per_ns`,
    a time in ns is converted to cycles. Raises `UnitError`.

    >>> parse("32 KiB", "B"), parse("126 ns", "cycles", cycles_per_ns=1.86)
    (32768.0, 234.36)
    """
    match = _NUMBER.match(text)
    if match is None:
        raise UnitError(f"'{text}' is not a number")
    number, suffix = float(match[1].replace("_", "")), match[2]
    if not suffix:
        return number * plain
    scale = _SCALES.get(unit, {unit: 1.0}).get(suffix)
    if scale is not None:
        return number * scale
    if unit == "cycles" and cycles_per_ns is not None and suffix in _SCALES["ns"]:
        return number * _SCALES["ns"][suffix] * cycles_per_ns
    raise UnitError(f"'{text}' has the unit '{suffix}', not {accepted(unit)}")
