"""Defines the options for the part of a trace to analyze, and for reading it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from regionpredict.trace.selection import Selection

F = TypeVar("F", bound=Callable[..., Any])
_NUMBER = r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"


@dataclass(frozen=True, slots=True)
class Reading:
    """The parameters of reading a trace: its `archive`, the texts of its options, and whether
    clocks are corrected.
    """

    archive: str
    ranks: str | None = None
    time: str | None = None
    call_path: str | None = None
    correct_clocks: bool = False
    processes: int | None = None
    scheduler: str | None = None
    application: int | None = None

    def selection(self) -> Selection:
        """Returns the selection of the options. Raises UsageError for an invalid one."""
        from regionpredict.trace.selection import Selection

        return Selection(
            ranks=None if self.ranks is None else _parse_ranks(self.ranks),
            time_s=None if self.time is None else _parse_span(self.time),
            call_path=self.call_path,
        )


PART = (
    click.option("--ranks", metavar="LIST", help="Only these ranks, for example 0-3,8."),
    click.option(
        "--time", metavar="FROM-TO", help="Only this span, in seconds since the first event."
    ),
    click.option(
        "--call-path",
        metavar="PATH",
        help="Only this call path and its callees, for example main/solve.",
    ),
    click.option(
        "--application",
        type=click.IntRange(1),
        metavar="N",
        help="Only the N-th application of a Paraver trace.",
    ),
)
_OPTIONS = (
    click.argument("archive", type=click.Path()),
    *PART,
    click.option(
        "--correct-clocks",
        is_flag=True,
        help="Correct clocks, so that no message arrives before it was sent.",
    ),
    click.option(
        "-j",
        "--processes",
        type=click.IntRange(1),
        help="Read and analyze rank by rank, in this number of processes.",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Read rank by rank on a Dask cluster, for example tcp://node:8786.",
    ),
)


def reading_options(function: F) -> F:
    """Adds the argument ARCHIVE and its options, passed to the command as `reading`."""

    @functools.wraps(function)
    def command(**options: Any) -> Any:
        own = {name: options.pop(name) for name in Reading.__dataclass_fields__}
        return function(reading=Reading(**own), **options)

    for option in reversed(_OPTIONS):
        command = option(command)
    return command  # type: ignore[return-value]


def part_options(function: F) -> F:
    """Adds `--ranks`, `--time`, `--call-path` and `--application`, passed to the command
    separately.
    """
    for option in reversed(PART):
        function = option(function)
    return function


def _parse_ranks(text: str) -> frozenset[int]:
    from regionpredict.errors import UsageError

    ranks: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part.strip())
        first, last = (0, -1) if match is None else (int(match[1]), int(match[2] or match[1]))
        if first > last:
            raise UsageError(f"--ranks: '{part}' is not a rank", remedy="write 0-3,8")
        if last - first > 10**7:
            raise UsageError(f"--ranks: '{part}' are too many", remedy="leave it out for all")
        ranks |= set(range(first, last + 1))
    return frozenset(ranks)


def _parse_span(text: str) -> tuple[float, float]:
    from regionpredict.errors import UsageError

    match = re.fullmatch(rf"({_NUMBER})?-({_NUMBER})?", text.strip())
    if match is None or not any(match.groups()):
        raise UsageError(
            f"--time: '{text}' is not a span",
            remedy=("write FROM-TO in seconds, for example 1.5-2, -2 or 1.5-"),
        )
    first, last = float(match[1] or 0), float(match[2] or "inf")
    if first >= last:
        raise UsageError(f"--time: '{text}' ends before it begins", remedy="write FROM-TO")
    return first, last
