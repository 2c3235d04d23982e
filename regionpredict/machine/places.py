"""Parses OMP_PLACES (OpenMP 5.2, sec. 21.1.6): a name such as `cores`, or a list of places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from regionpredict.errors import UsageError
from regionpredict.machine.model import BINDINGS

Place = tuple[int, ...]
"""The numbers of the hardware threads of an OpenMP place."""
PLACE_NAMES = ("threads", "cores", "ll_caches", "numa_domains", "sockets")
MOST_NUMBERS = 65536
_SPAN = r"(?::([0-9]{1,9}))?(?::(-?[0-9]{1,9}))?"
_NUMBERS = re.compile(rf"(!?)([0-9]{{1,9}}){_SPAN}")
_PLACE = re.compile(rf"(!?)\{{([^{{}}]*)\}}{_SPAN}")
_NAME = re.compile(r"([a-z_]+)(?:\(([0-9]{1,9})\))?")


class NamedPlaces(NamedTuple):
    """An abstract place name of OpenMP, and the number of these places (None for all)."""

    name: str
    most: int | None


def parse_places(text: str) -> NamedPlaces | tuple[Place, ...]:
    """Parses a value of OMP_PLACES. Raises UsageError for an invalid value.

    >>> parse_places("{0:2},{4:2}:2:8"), parse_places("sockets(2)")
    (((0, 1), (4, 5), (12, 13)), NamedPlaces(name='sockets', most=2))
    """
    bare = "".join(text.split())
    named = _NAME.fullmatch(bare)
    if named is not None and named[1] in PLACE_NAMES and named[2] != "0":
        return NamedPlaces(named[1], None if named[2] is None else int(named[2]))
    places: list[Place] = []
    for excluded, inside, length, stride in _matches(_PLACE, bare, text):
        first = tuple(_numbers(inside, text))
        moved = [tuple(number + by for number in first) for by in _steps(length, stride, text)]
        places = [place for place in places if place not in moved] if excluded else places + moved
        if sum(map(len, places)) > MOST_NUMBERS:
            raise _invalid_places(text)
    if not places or min(map(min, places)) < 0:
        raise _invalid_places(text)
    return tuple(places)


def _numbers(inside: str, text: str) -> list[int]:
    numbers: list[int] = []
    for excluded, first, length, stride in _matches(_NUMBERS, inside, text):
        own = [int(first) + by for by in _steps(length, stride, text)]
        numbers = [n for n in numbers if n not in own] if excluded else numbers + own
    if not numbers:
        raise _invalid_places(text)
    return numbers


def _matches(pattern: re.Pattern[str], part: str, text: str) -> Iterator[tuple[str, ...]]:
    """Yields the groups of `pattern` in each item of a comma-separated list."""
    at = 0
    while (found := pattern.match(part, at)) is not None:
        yield tuple(group or "" for group in found.groups())
        at = found.end()
        if at == len(part):
            return
        if part[at] != ",":
            break
        at += 1
    raise _invalid_places(text)


def _steps(length: str, stride: str, text: str) -> range:
    """Returns the offsets of `length` items from the first item."""
    count, step = int(length or 1), int(stride or 1)
    if not 0 < count <= MOST_NUMBERS or not step:
        raise _invalid_places(text)
    return range(0, count * step, step)


def _invalid_places(text: str) -> UsageError:
    return UsageError(
        f"'{text}' is not a list of places",
        remedy=f"write {{0}},{{2}} or {{0:4}}:2:4, or one of {', '.join(PLACE_NAMES)}",
    )


def check_binding(text: str) -> str:
    """Returns a valid binding unchanged: one of `BINDINGS`, or a value of OMP_PLACES. Raises
    UsageError for an invalid binding.
    """
    if text not in BINDINGS:
        parse_places(text)
    return text
