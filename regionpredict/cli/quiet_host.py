"""Waits until the host is idle, and reports the load during measurements."""

from __future__ import annotations

import time
from collections.abc import Callable

import click

from regionpredict.cli.durations import parse_duration

_LOOKED_AFTER_S = 3.0
"""Minimum time between two checks. A check takes a quarter of a second."""


def patience(text: str) -> float | None:
    """Parses --quiet-wait to seconds. None for `none`."""
    return None if text == "none" else parse_duration(text, "--quiet-wait")


def waiting(most_s: float) -> str:
    """Returns the text of the progress line while the command waits for an idle host.

    >>> waiting(29.6)
    'other processes use this host: waiting, 30 s at most'
    """
    return f"other processes use this host: waiting, {most_s:.0f} s at most"


def note_once() -> Callable[[str], None]:
    """Returns a function that reports once, on standard error, why the measurement waits."""
    said: list[str] = []

    def tell(what: str) -> None:
        if not said:
            click.echo(f"note: host: {what}", err=True)
        said.append(what)

    return tell


class QuietHost:
    """Waits for an idle host before measurements, at most `most_s` seconds in total.

    With 0, it never waits. `on_wait` receives the reason for waiting.
    """

    def __init__(self, most_s: float, on_wait: Callable[[str], None] = lambda _: None) -> None:
        from regionpredict.measure.host_activity import own_seconds, read_activity

        self._left = most_s
        self._on_wait = on_wait
        self._looked = -_LOOKED_AFTER_S
        self._before = read_activity()
        self._own = own_seconds()

    def wait(self) -> float:
        """Waits until the host is idle, within the remaining time. Returns the seconds waited."""
        from regionpredict.measure.host_activity import wait_for_quiet

        now = time.monotonic()
        if self._left <= 0 or now - self._looked < _LOOKED_AFTER_S:
            return 0.0
        took = wait_for_quiet(self._left, on_wait=lambda most_s: self._on_wait(waiting(most_s)))
        self._looked = now + took
        self._left -= max(0.0, took - _GLANCE_S)
        return took

    def remark(self) -> str:
        """Describes the load since the last wait, if it may distort measurements. Otherwise
        empty.
        """
        from regionpredict.measure.host_activity import disturbance, own_seconds, read_activity

        beside = disturbance(self._before, read_activity(), own_seconds() - self._own)
        if beside is None or not beside.much:
            return ""
        return (
            f"other processes kept {beside.others:.1f} cores busy on average, "
            f"{100 * beside.stolen:.0f} % of the time was stolen: measurements may be inaccurate"
        )


_GLANCE_S = 0.3
"""The duration of one check on an idle host, in seconds. It does not count as waiting."""
