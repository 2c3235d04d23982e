"""Applies given shares of executions in which a condition holds, and the given skew of work.

`solve.c:17=0.25`, or `25%`, sets the share of executions in which the condition of the `if` at this
line holds. The first branch then runs in 25 % of the executions, and `else` in the rest. A share
has a decimal point or a percent sign. A whole number is the trip count of a loop if there is a loop
at the line. Otherwise, it is a share of 0 or 1.

`skew(row)=9` sets the imbalance of iterations that contain a loop over the table `row`. The longest
iteration takes 9 times the mean. `powerlaw(row)=2.1` sets a power law with this exponent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from regionpredict.analysis.given_sizes import loops_at, place_of, with_given_trips
from regionpredict.analysis.uneven_work import is_target, skew_targets
from regionpredict.errors import UsageError
from regionpredict.ir import Branch, GivenSkew, Loop, Node, Region, Span, Statement

_SKEW = re.compile(r"(skew|powerlaw)\((.+)\)")


def skew_name(name: str) -> tuple[str, str] | None:
    """Returns the two parts of `skew(row)` or `powerlaw(f.c:9)`. None for any other name.

    >>> skew_name("skew(row)"), skew_name("n")
    (('skew', 'row'), None)
    """
    match = _SKEW.fullmatch(name)
    return None if match is None else (match[1], match[2])


class Given(NamedTuple):
    """Values given by the user: whole numbers by name, and shares and skews by name."""

    whole: dict[str, int]
    shares: dict[str, Fraction]

    def all_values(self) -> dict[str, int | Fraction]:
        """Returns all given values. Each name is in only one of the two dictionaries."""
        return {**self.whole, **self.shares}

    def without(self, names: Collection[str]) -> dict[str, int | Fraction]:
        """Returns all values except those for some names."""
        return {name: value for name, value in self.all_values().items() if name not in names}


def split_by_kind(given: Mapping[str, float | Fraction]) -> Given:
    """Splits the given values into whole numbers and shares."""
    parts = Given({}, {})
    for name, value in given.items():
        if isinstance(value, int) and skew_name(name) is None:
            parts.whole[name] = value
        elif math.isfinite(value):
            parts.shares[name] = Fraction(value)
        else:
            raise UsageError(f"{name}={value}: not a number", remedy="give one between 0 and 1")
    return parts


def conditions_at(region: Region, file: str, line: int) -> Iterator[Branch]:
    """Yields the region's `if` statements at a line. The file is given by its path or the end of
    its path.
    """
    for branch in every_condition(region):
        path = branch.span.file
        if branch.span.line == line and (path == file or path.endswith(f"/{file}")):
            yield branch


def every_condition(region: Region) -> Iterator[Branch]:
    """Yields every `if` of the region's nest that contains statements."""
    if region.nest is not None:
        yield from _conditions_inside(region.nest)


def _conditions_inside(node: Node) -> Iterator[Branch]:
    if isinstance(node, Statement):
        return
    if isinstance(node, Branch):
        if node.kind == "if":
            yield node
        inside = [inner for side in node.sides for inner in side]
    else:
        inside = [*node.body]
    for inner in inside:
        yield from _conditions_inside(inner)


def with_given(region: Region, given: Given) -> Region:
    """Returns the region with the given shares of its `if` statements and the given trip counts of
    its loops.

    Invalid shares are ignored here, since another check reports them.
    """
    shares: dict[Span, Fraction] = {}
    region = _with_skew(region, given)
    for name, value in given.all_values().items():
        place = place_of(name)
        if place is None or not 0 <= value <= 1:
            continue
        if isinstance(value, int) and any(loops_at(region, *place)):
            continue
        shares |= {branch.span: Fraction(value) for branch in conditions_at(region, *place)}
    if shares and region.nest is not None:
        region = replace(region, nest=_loop_with_shares(region.nest, shares))
    return with_given_trips(region, given.whole)


def _with_skew(region: Region, given: Given) -> Region:
    """Returns the region with the given skew of one of its loops."""
    for name, value in given.shares.items():
        known = skew_name(name)
        if known is not None and is_target(known[1], skew_targets(region)):
            region = replace(region, skew=GivenSkew(name, known[0], value))
    return region


def _loop_with_shares(loop: Loop, shares: Mapping[Span, Fraction]) -> Loop:
    return replace(loop, body=tuple(_node_with_shares(node, shares) for node in loop.body))


def _node_with_shares(node: Node, shares: Mapping[Span, Fraction]) -> Node:
    if isinstance(node, Statement):
        return node
    if isinstance(node, Loop):
        return _loop_with_shares(node, shares)
    if isinstance(node, Branch):
        sides = tuple(
            tuple(_node_with_shares(part, shares) for part in side) for side in node.sides
        )
        share = shares.get(node.span) if node.kind == "if" else None
        return replace(node, sides=sides, share=share)
    return replace(node, body=tuple(_node_with_shares(part, shares) for part in node.body))
