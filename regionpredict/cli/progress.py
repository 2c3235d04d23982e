"""Shows progress lines on standard error."""

from __future__ import annotations

import shutil
import sys
import time

import click

_BAR = 20
_PATIENCE_S = 2.0
"""Seconds of work before a progress bar appears."""
_PACE_S = 0.1


class ProgressLine:
    """A progress line, overwritten in place on a terminal. Otherwise nothing is written, or with
    `steps`, one line per completed part of the work.
    """

    def __init__(self, steps: int = 0) -> None:
        self.live = sys.stderr.isatty()
        self._steps = steps
        self._step = -1
        self._width = 0
        self._share = 0.0

    def show(self, share: float, text: str) -> None:
        """Shows the progress, a share from 0 to 1, with a text."""
        self._share = share
        line = f"{_bar_text(share)} {text}"
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            line = line[:width]
            click.echo("\r" + line.ljust(self._width), nl=False, err=True)
            self._width = len(line)
        elif self._steps and int(self._steps * share) > self._step:
            self._step = int(self._steps * share)
            click.echo(line, err=True)

    def meanwhile(self, text: str) -> None:
        """Shows why the command waits, in place of the progress."""
        self.show(self._share, text)

    def end(self) -> None:
        """Ends the progress line."""
        if self._width:
            click.echo("", err=True)
        self._width = 0


def _bar_text(share: float) -> str:
    return f"[{'#' * round(_BAR * share):<{_BAR}}]"


class StageLine:
    """Shows the progress of a prediction's stages: a line on a terminal, shown after two seconds
    and removed at the end.

    The line bypasses the recording of `sys.stderr` for the result cache.
    """

    def __init__(self) -> None:
        stream = sys.__stderr__
        self._stream = stream if stream is not None and stream.isatty() else None
        self._next = time.monotonic() + _PATIENCE_S
        self._width = 0

    def __call__(self, what: str, done: int, pieces: int) -> None:
        """Shows `predicting 40 of 153`, at most ten times a second."""
        now = time.monotonic()
        if self._stream is None or now < self._next or not pieces:
            return
        self._next = now + _PACE_S
        text = f"{_bar_text(done / pieces)} {what} {done} of {pieces}"
        text = text[: shutil.get_terminal_size().columns - 1]
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def __enter__(self) -> StageLine:
        return self

    def __exit__(self, *exception: object) -> None:
        """Removes the progress line."""
        if self._stream is not None and self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
        self._width = 0
