"""Checks that the source line of a given value (`FILE:LINE=VALUE`) has a loop or a condition."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from regionpredict.analysis.given_shares import conditions_at, every_condition
from regionpredict.analysis.given_sizes import every_loop, loops_at
from regionpredict.ir import Program
from regionpredict.sizes.share_texts import text_of

_SHOWN = 8


def wrong_at_place(
    program: Program, file: str, line: int, value: int | Fraction
) -> tuple[str, str] | None:
    """Returns an error message and a remedy for an invalid value of a line. None for a valid
    value.
    """
    loops = any(any(loops_at(region, file, line)) for region in program.regions)
    if isinstance(value, int) and loops:
        return None
    conditions = {
        (branch.span, branch.condition)
        for region in program.regions for branch in conditions_at(region, file, line)
    }  # fmt: skip
    if len(conditions) > 1:
        return "several conditions at this line", "put each on a separate line"
    if conditions:
        return _wrong_share(value, loops=loops)
    if loops:
        return (
            "a loop at this line, and no condition with a share",
            "give the loop's iterations, a whole number",
        )
    return _nothing_there(program, file, line, value)


def _wrong_share(value: int | Fraction, *, loops: bool) -> tuple[str, str] | None:
    if 0 <= value <= 1:
        return None
    remedy = "give the share of executions in which the condition holds, for example 0.25 or 25%"
    if loops:
        remedy += "; a whole number is the iterations of the loop at this line"
    return f"{text_of(value)} is not a share between 0 and 1", remedy


def _nothing_there(
    program: Program, file: str, line: int, value: int | Fraction
) -> tuple[str, str]:
    for branch in program.branches:
        names = sorted(branch.condition.names)
        if branch.span.line == line and _same_file(branch.span.file, file) and names:
            message = f"the condition at this line is counted: it is decided by {', '.join(names)}"
            return message, f"give {names[0]}"
    loops = {
        loop.span.line
        for region in program.regions for loop in every_loop(region)
        if _same_file(loop.span.file, file)
    }  # fmt: skip
    conditions = {
        branch.span.line
        for region in program.regions for branch in every_condition(region)
        if _same_file(branch.span.file, file)
    }  # fmt: skip
    if isinstance(value, Fraction) and (conditions or loops):
        message = "no condition in a region at this line"
        if conditions:
            return message, _nearest_lines(conditions, line)
        return message, "an `if` with statements under it, in a parallel loop, has a share"
    if not loops:
        return f"no loop of a region in a file '{file}'", "write FILE:LINE as in the result"
    return "no loop of a region at this line", _nearest_lines(loops, line)


def _nearest_lines(lines: Collection[int], line: int) -> str:
    near = sorted(lines, key=lambda other: (abs(other - line), other))[:_SHOWN]
    return f"the nearest are at: {', '.join(map(str, near))}"


def _same_file(path: str, file: str) -> bool:
    return path == file or path.endswith(f"/{file}")
