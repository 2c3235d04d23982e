"""Formats numbers and units as text."""

from __future__ import annotations

from regionpredict.errors import percent as show_share
from regionpredict.errors import plural

__all__ = [
    "plural",
    "show_bytes",
    "show_count",
    "show_factor",
    "show_percent",
    "show_points",
    "show_seconds",
    "show_share",
    "show_size",
    "show_times",
    "threads_text",
]  # fmt: skip

_TIMES = 5  # digits
_LONGEST = 1e12  # a longer number has an exponent
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def show_bytes(size: float | None) -> str:
    """Formats a number of bytes in a unit that gives two or three digits, without a final zero.

    >>> show_bytes(384000000), show_bytes(512), show_bytes(4 << 20), show_bytes(None)
    ('366 MiB', '512 B', '4 MiB', '?')
    """
    if size is None:
        return "?"
    value, unit = float(size), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value /= 1024
        unit += 1
    shown = f"{value:.0f}" if value >= 10 else f"{value:.1f}".removesuffix(".0")
    return f"{shown} {_UNITS[unit]}"


def show_seconds(seconds: float | None, digits: int = 3) -> str:
    """Formats a time in a suitable unit, with three digits or as many as given.

    >>> show_seconds(0.00123), show_seconds(-12.3), show_seconds(4e-8), show_seconds(None)
    ('1.23 ms', '-12.3 s', '40 ns', '?')
    """
    if seconds is None:
        return "?"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= size:
            return f"{seconds / size:.{digits}g} {unit}"
    return f"{seconds / 1e-9:.{digits}g} ns" if seconds else "0 s"


def show_percent(share: float) -> str:
    """Formats a share in percent with one decimal.

    >>> show_percent(0.4212)
    '42.1 %'
    """
    return f"{100 * share:.1f} %"


def show_points(share: float) -> str:
    """Formats a share in percentage points with two decimals.

    >>> show_points(0.4212)
    '42.12'
    """
    return f"{100 * share:.2f}"


def show_factor(ratio: float) -> str:
    """Formats a factor with two decimals.

    >>> show_factor(1.5)
    '1.50x'
    """
    return f"{ratio:.2f}x"


def show_times(ratio: float, digits: int = 1) -> str:
    """Formats a speedup with this many decimals, if it fits into five digits and a point.

    >>> show_times(1.25), show_times(1.25, 2), show_times(12345.6), show_times(87434212.1)
    ('1.2', '1.25', '12346', '8.7e7')
    """
    shown = f"{ratio:.{digits}f}"
    if ratio < 1000:
        return shown
    shown = f"{ratio:.0f}"
    return shown if len(shown) <= _TIMES else _with_exponent(ratio)


def _with_exponent(value: float) -> str:
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def show_count(count: int | None) -> str:
    """Formats an integer, with an exponent if it is long.

    >>> show_count(1024), show_count(120000000), show_count(None)
    ('1024', '1.2e8', '?')
    """
    if count is None:
        return "?"
    return str(count) if abs(count) < 1_000_000 else _with_exponent(count)


def show_size(size: float, digits: int = 15) -> str:
    """Formats a number of elements or processors in groups of three, rounded to this many
    digits.

    >>> show_size(1048576.0), show_size(83601.4, 4), show_size(2.5), show_size(3.2e13)
    ('1,048,576', '83,600', '2.5', '3.2e13')
    """
    rounded = float(f"{size:.{digits}g}")
    return f"{rounded:,.15g}" if abs(rounded) < _LONGEST else _with_exponent(rounded)


def threads_text(packages: int, threads: int | None) -> str:
    """Formats the packages and threads of a hint.

    >>> threads_text(1, 6), threads_text(2, None)
    ('1 package, 6 threads', '2 packages')
    """
    text = plural(packages, "package")
    return text if threads is None else f"{text}, {plural(threads, 'thread')}"
