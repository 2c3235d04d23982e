"""Parses durations on the command line."""

from __future__ import annotations

import re

from regionpredict.errors import UsageError

_PARTS = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?", re.ASCII)
LONGEST_S = 366 * 86400.0


def parse_duration(text: str, option: str) -> float:
    """Seconds from `90`, `90s`, `10m`, `2h` or `2m30s`. A number without a unit is in seconds.

    Raises UsageError for other text, for zero, and for more than a year.

    >>> parse_duration("2m30s", "--timeout"), parse_duration("1.5h", "--timeout")
    (150.0, 5400.0)
    """
    match = _PARTS.fullmatch(text) if len(text) < 40 else None
    parts = [float(part or 0) for part in match.groups()] if match else [0.0]
    seconds = sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=False))
    if not 0 < seconds <= LONGEST_S:
        raise UsageError(f"{option} {text}: not a time", remedy="write 30s, 10m, 2m30s or 2h")
    return seconds
