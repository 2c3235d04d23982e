"""Which values a measured region records at its entries, as C text.

They are the names that the region's loops and subscripts depend on, in the words in which a
prediction shows them: what the front end reads of the file tells them. A program must not notice
that they are read, so a value behind a pointer is read only where its memory can be, and a function
is called only where the loop's own header calls it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from regionpredict.analysis.bindings import free_names
from regionpredict.analysis.given_sizes import trip_name
from regionpredict.frontend import SourceRequest, default_frontend, read_alone, request_of_call
from regionpredict.ir import Region
from regionpredict.isolation import Failure, isolated
from regionpredict.measure.inner_loops import NO_VALUE, line_of
from regionpredict.measure.regions import MeasuredLoop

Place = tuple[str, int]
"""File and line of a directive."""
VALUES_FILE = "regionpredict-values"
"""Errors of the compiler name this file, and as line the number of the value, from 1."""
_ADDRESS = 5  # of gcc's and clang's classes of types
_PART = re.compile(r"->|\.|\[\w+\]")
_PLACE = re.compile(r"[A-Za-z_]\w*(?:(?:->|\.)[A-Za-z_]\w*|\[\w+\])*")
_CALL = re.compile(r"[A-Za-z_][\w.>-]*\([\w, ]*\)")
_MOST = 32  # of one region


class EntryValues(NamedTuple):
    """The names of a region whose values are recorded, and the C expression of each; a loop that
    counts its own iterations has its value when the region ends."""

    names: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()


def names_at(path: str, words: Sequence[str], folder: str) -> Mapping[Place, list[list[str]]]:
    """By file and line of a directive: the names that each region there depends on, in order.

    `words` are the compiler's, called in `folder` on the source `path`. Empty where the front end
    cannot read the file.
    """
    request = request_of_call(path, words, folder)
    [names] = isolated(_names, [request], 1)
    return {} if isinstance(names, Failure) else names


def _names(request: SourceRequest) -> dict[Place, list[list[str]]]:
    part = read_alone(request, default_frontend())
    names: dict[Place, list[list[str]]] = {}
    for region, _ in part.regions:
        place = os.path.normpath(os.path.join(os.getcwd(), region.span.file)), region.span.line  # noqa: PTH109, PTH118
        names.setdefault(place, []).append(sorted(free_names(region) | _open_loops(region)))
    return names


def _open_loops(region: Region) -> set[str]:
    """The loops inside the region whose iterations nothing tells, by their names."""
    inner = (loop for loop in region.loops() if loop is not region.nest)
    return {trip_name(loop) for loop in inner
            if loop.trips is None or loop.trips.has_unreadable_part}  # fmt: skip


def entry_values(
    loop: MeasuredLoop, names: Mapping[Place, list[list[str]]],
    counted: Collection[int | None] = (),
) -> EntryValues:  # fmt: skip
    """What a measured loop records at its entries; `counted` are the lines of loops inside it that
    count their iterations.

    >>> place = ("/a/f.c", 3)
    >>> loop = MeasuredLoop(0, 9, "/a/f.c", "f.c", 3, 4, 5, "parallel for", (), "(cells ( s ))")
    >>> entry_values(loop, {place: [["n", "cells(s)", "rand()", "f.c:9"]]}).names
    ('n', 'cells(s)')
    """
    here = names.get((loop.file, loop.line), [])
    if not here:
        return EntryValues()
    known = {name: NO_VALUE if line_of(name) in counted else _expression(name, loop)
             for name in here[min(loop.ordinal, len(here)) - 1]}  # fmt: skip
    chosen = [(name, text) for name, text in known.items() if text is not None][:_MOST]
    return EntryValues(tuple(name for name, _ in chosen), tuple(text for _, text in chosen))


def _expression(name: str, loop: MeasuredLoop) -> str | None:
    """C that gives the value of a name where the loop begins; None where reading it is not safe."""
    if _PLACE.fullmatch(name):
        number = f"(__builtin_classify_type({name})=={_ADDRESS}?{NO_VALUE}:(long long)({name}))"
        checks = [
            f"regionpredict_readable(&({part}),sizeof({part})<8?sizeof({part}):8)"
            for part in _prefixes(name)
        ]
        return f"({'&&'.join(checks)}?{number}:{NO_VALUE})" if checks else number
    if _CALL.fullmatch(name) and "".join(name.split()) in "".join(loop.trips.split()):
        return f"(long long)({name})"
    return None


def _prefixes(name: str) -> list[str]:
    """The places on the way to a value, from the first that is behind something.

    >>> _prefixes("s->m[1]"), _prefixes("n")
    (['s->m', 's->m[1]'], [])
    """
    return [name[: match.end() if match.group()[0] == "[" else _end_of_name(name, match.end())]
            for match in _PART.finditer(name)]  # fmt: skip


def _end_of_name(text: str, at: int) -> int:
    match = re.compile(r"\w+").match(text, at)
    return match.end() if match else at
