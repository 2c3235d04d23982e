"""Defines --all, --only, --sort and --top: which loops a command shows, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from regionpredict.errors import UsageError

if TYPE_CHECKING:
    from regionpredict.report.view import View

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
_FACTS_ORDERS = ("line", "function", "iterations", "data")
_ORDERS = ("line", "function", "time", "speedup", "sure", "iterations", "data")


def view_options(*, facts: bool = False) -> Decorator:
    """Adds the options. `facts`: the command has no times."""
    orders = _FACTS_ORDERS if facts else _ORDERS

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in (
            click.option(
                "--top", default=None, type=click.IntRange(1), metavar="N",
                help="Show the first N of --sort" + ("." if facts else " (default: time)."),
            ),
            click.option(
                "--sort", default=None, type=click.Choice(orders),
                help="Order of the loops, most important first.",
            ),
            click.option(
                "--only", multiple=True, metavar="PATTERN",
                help="Show only loops of this file, folder, function or FILE:LINE ('solve*').",
            ),
        ):  # fmt: skip
            command = option(command)
        if not facts:
            command = click.option(
                "--all", "every", is_flag=True,
                help="Show every loop in the table.  [default: one screen]",
            )(command)  # fmt: skip
        return command

    return add


def view_of(
    only: Sequence[str], sort: str | None, top: int | None, *, facts: bool = False,
    every: bool = True,
) -> View:  # fmt: skip
    """Returns the view of the options. Without options, the view has one screen unless `every` loop
    is requested.
    """
    from regionpredict.report.view import View

    by_itself = "line" if facts or top is None else "time"
    short = not (every or only or sort or top)
    return View(tuple(only), sort or by_itself, top, short)


def refuse_view(view: View, output_name: str) -> None:
    """Raises UsageError if rows are selected for an output that always covers the whole program."""
    if view.only or view.top is not None or view.sort != "line":
        raise UsageError(
            f"{output_name} describes the whole program",
            remedy="leave --only, --sort and --top out",
        )
