"""The options of the models, shared by `predict` and `explain`, and what they mean."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import click

from regionpredict.errors import UsageError

MOST_THREADS = 65536  # as many cores as a machine file may have


class _Percent(click.FloatRange):
    """A percentage below 100; `nan`, which is in no range, is refused as well."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


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
        "--within", type=_Percent(0, 100, max_open=True), default=5.0, show_default=True,
        metavar="PERCENT",
        help="How much of the best speed a hint may lose; a package has to gain twice that.",
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
    counts: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(-?\d+)(?:-(\d+))?\s*", part)
        if match is None:
            raise UsageError(f"--threads {text}: not a list", remedy="write 1-24 or 1,2,4")
        low = int(match[1])
        high = int(match[2]) if match[2] else low
        if low < 1:
            raise UsageError(f"--threads {text}: {low} threads", remedy="at least one runs a loop")
        if high < low:
            raise UsageError(
                f"--threads {text}: {high} is below {low}", remedy="write the lower one first"
            )
        if high > MOST_THREADS:
            raise UsageError(
                f"--threads {text}: {high} threads are more than any node has",
                remedy=f"at most {MOST_THREADS}, and no more than the machine's cores",
            )
        counts.update(range(low, high + 1))
    return tuple(sorted(counts))
