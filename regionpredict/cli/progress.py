"""The progress line on standard error."""

from __future__ import annotations

import shutil
import sys

import click

_BAR = 20


class ProgressLine:
    """One line that is written over, where standard error is a terminal.

    Where it is none, nothing is written, or with `steps` a line each time that another of so many
    parts of the work is done.
    """

    def __init__(self, steps: int = 0) -> None:
        self.live = sys.stderr.isatty()
        self._steps = steps
        self._step = -1
        self._width = 0

    def show(self, share: float, text: str) -> None:
        """Shows how much of the work is done, from 0 to 1, and what there is to say of it."""
        line = f"[{'#' * round(_BAR * share):<{_BAR}}] {text}"
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            line = line[:width]
            click.echo("\r" + line.ljust(self._width), nl=False, err=True)
            self._width = len(line)
        elif self._steps and int(self._steps * share) > self._step:
            self._step = int(self._steps * share)
            click.echo(line, err=True)

    def end(self) -> None:
        """Leaves the line."""
        if self._width:
            click.echo("", err=True)
        self._width = 0
