"""The options of the models, shared by `predict` and `explain`, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from regionpredict.errors import UsageError

_OPTIONS = (
    click.option(
        "--model", type=click.Choice(["density", "saturation"]), default="saturation",
        show_default=True, help="A speedup curve, or the score of the thesis.",
    ),
    click.option(
        "--threads", default=None, metavar="LIST",
        help="Thread counts of the curve, 1-24 or 1,2,4; all cores by default.",
    ),
    click.option(
        "--first-touch", "first_touch", type=click.Choice(["parallel", "serial"]), default=None,
        help="Who wrote the data first; where not given, as the source shows.",
    ),
    click.option(
        "--within", type=click.FloatRange(0, 100, max_open=True), default=5.0, show_default=True,
        metavar="PERCENT", help="How much of the best speed a hint may lose.",
    ),
)  # fmt: skip


def curve_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --model, --threads, --first-touch and --within."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_model_options(
    model: str, combination: str, threads: str | None, first_touch: str | None
) -> None:
    """Raises UsageError for an option of the other model, which would change nothing."""
    if model == "saturation" and combination != "relative-difference":
        raise UsageError("--combination is the density model's", remedy="add --model density")
    for name, value in (("--threads", threads), ("--first-touch", first_touch)):
        if model == "density" and value is not None:
            raise UsageError(
                f"{name} is the saturation model's", remedy="leave --model density out"
            )


def parse_threads(text: str | None) -> tuple[int, ...]:
    """`1-24` or `1,2,4`, sorted; empty where nothing is given.

    >>> parse_threads("1-3,8"), parse_threads(None)
    ((1, 2, 3, 8), ())
    """
    if text is None:
        return ()
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", part)
        low = int(match[1]) if match else 0
        high = int(match[2]) if match and match[2] else low
        if low < 1 or high < low:
            raise UsageError(f"--threads {text}: not a list", remedy="write 1-24 or 1,2,4")
        found.update(range(low, high + 1))
    return tuple(sorted(found))
