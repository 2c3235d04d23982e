"""Defines `--plot FILE`, an option of every command with a figure."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from regionpredict.atomic_file import write_file
from regionpredict.errors import UsageError, one_line, with_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

F = TypeVar("F", bound=Callable[..., Any])


def plot_option(figure_description: str) -> Callable[[F], F]:
    """Returns the option --plot. `figure_description` describes the figure."""
    return click.option(
        "--plot", default=None, metavar="FILE", callback=_checked_file,
        help=f"Draw {figure_description} into FILE: .png, .pdf or .svg.",
    )  # fmt: skip


def _checked_file(
    ctx: click.Context, parameter: click.Parameter, target: str | None
) -> Path | None:
    """Checks the name of the figure's file before anything is computed."""
    if target is None:
        return None
    from regionpredict.report.plots import FORMATS

    if Path(target).suffix.lower().lstrip(".") not in FORMATS:
        raise UsageError(
            f"--plot {target}: unknown picture format",
            remedy=f"use a name that ends in {', '.join('.' + form for form in FORMATS)}",
        )
    if not can_draw():
        raise UsageError("drawing needs matplotlib", remedy=with_extra("plot"))
    return Path(target)


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def write_plot(target: Path, figure: Figure) -> None:
    """Writes the figure of --plot, and reports the file on standard error."""
    write_drawing(target, figure)
    click.echo(f"written: {one_line(str(target))}", err=True)


def write_drawing(target: Path, figure: Figure) -> None:
    """Writes a figure in the format of its file's suffix. Raises InputError if it cannot be
    written.
    """
    from regionpredict.report.plots import figure_bytes

    write_file(target, figure_bytes(figure, target.suffix.lower().lstrip(".")))
