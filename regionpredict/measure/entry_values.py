"""Selects the values that a measured region records when it starts, as C text.

These are the names in the region's loops and subscripts, as shown in predictions. The front end
finds them in the file. Recording must not change the program. A pointer is therefore dereferenced
only if its memory is accessible, and a function is called only if the header of the loop calls it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from regionpredict.analysis.bindings import free_names
from regionpredict.analysis.given_sizes import trip_name
from regionpredict.analysis.manually_shared_regions import manually_shared_regions
from regionpredict.frontend import (
    SourceRequest,
    default_frontend,
    join,
    read_alone,
    request_of_call,
)
from regionpredict.ir import Definition, Region, Span
from regionpredict.isolation import Failure, run_isolated
from regionpredict.measure.inner_loops import NO_VALUE
from regionpredict.measure.regions import MeasuredLoop

Place = tuple[str, int]
"""The file and line of a directive."""
VALUES_FILE = "regionpredict-values"
"""The file name in compiler errors about recorded values. The line of an error is the number of the
value, from 1.
"""
_ADDRESS = 5  # the pointer class of gcc's and clang's type classes
_PART = re.compile(r"->|\.|\[\w+\]")
_PLACE = re.compile(r"[A-Za-z_]\w*(?:(?:->|\.)[A-Za-z_]\w*|\[\w+\])*")
_OF_OBJECT = re.compile(r"[A-Za-z_]\w*\.(.+)")
_CALL = re.compile(r"[A-Za-z_][\w.>-]*\([\w, ]*\)")
_MOST = 32  # maximum number of values per region


class NamesAt(NamedTuple):
    """The names that the loop of a directive depends on, by file and line of the directive.

    `loops` has the names of each loop in order, and `teams` those of manually shared loops.
    `shared` has the source positions of these loops. Their parallel region records their iterations
    by their names.
    """

    loops: Mapping[Place, list[list[str]]] = MappingProxyType({})
    teams: Mapping[Place, list[str]] = MappingProxyType({})
    shared: Mapping[str, Place] = MappingProxyType({})


NO_NAMES = NamesAt()


class EntryValues(NamedTuple):
    """The names whose values a region records, and the C expression of each.

    The value of a loop that counts its iterations is read at the end of the region. A name with two
    expressions occurs twice, and the second is for a compiler that rejects the first.
    """

    names: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()


def names_at(path: str, argv: Sequence[str], folder: str) -> NamesAt:
    """Returns the names that the regions of a source depend on. `argv` is the compiler call for the
    source `path` in `folder`. Empty if the front end cannot read the file.
    """
    request = request_of_call(path, argv, folder)
    [names] = run_isolated(_names_in_source, [request], 1)
    return NO_NAMES if isinstance(names, Failure) else names


def _names_in_source(request: SourceRequest) -> NamesAt:
    part = read_alone(request, default_frontend())
    if any(
        region.by_hand for region, _ in part.regions
    ):  # the call graph relates manually shared loops to their parallel regions
        part = read_alone(request, default_frontend(), flows=True)
    program = join([part], default_frontend())
    callers = manually_shared_regions(program)
    loops: dict[Place, list[list[str]]] = {}
    teams: dict[Place, set[str]] = {}
    shared: dict[str, Place] = {}
    for region in program.regions:
        if not region.by_hand:
            asked = free_names(region) | _uncounted_loops(region)
            names = [*sorted(asked), *_derived_names(region, program.definitions[region.id])]
            loops.setdefault(_place_of_span(region.span), []).append(names)
            continue
        assert region.nest is not None
        shared[trip_name(region.nest)] = _place_of_span(region.nest.span)
        for span in callers.get(region.id, ()):
            # The value of a passed argument is not visible in the caller.
            here = region.parallel is not None and region.parallel.span == span
            own = free_names(region) if here else frozenset()
            teams.setdefault(_place_of_span(span), set()).update(own, [trip_name(region.nest)])
    return NamesAt(loops, {place: sorted(names) for place, names in teams.items()}, shared)


def _place_of_span(span: Span) -> Place:
    return os.path.normpath(os.path.join(os.getcwd(), span.file)), span.line  # noqa: PTH109, PTH118


def _uncounted_loops(region: Region) -> set[str]:
    """Returns the loops inside the region with unknown iterations, by name."""
    inner = (loop for loop in region.loops() if loop is not region.nest)
    return {trip_name(loop) for loop in inner
            if loop.trips is None or loop.trips.has_unreadable_part}  # fmt: skip


def _derived_names(region: Region, definitions: Sequence[Definition]) -> list[str]:
    """Returns names of the region's function that the source computes from others, such as a
    parameter `x` of `smooth(grid.x)`.

    The region can read `x`, but not `grid.x`. The names are declared before the region. Other
    variables with the same name have a prime in the region.
    """
    return sorted({
        made.name for made in definitions
        if made.value.names and made.range is None
        and made.span.file == region.span.file and made.span.line <= region.span.line
    } - free_names(region))  # fmt: skip


def names_of(loop: MeasuredLoop, names: NamesAt) -> Sequence[str]:
    """Returns the names that a measured loop, or the manually shared loops of a parallel region,
    depend on.
    """
    if loop.is_team:
        return names.teams.get((loop.file, loop.line), [])
    here = names.loops.get((loop.file, loop.line), [])
    return here[min(loop.ordinal, len(here)) - 1] if here else []


def entry_values(
    loop: MeasuredLoop, names: Sequence[str], counted: Collection[str] = (), *, cpp: bool = False
) -> EntryValues:
    """Returns the values of these names that a measured loop records at its entry. `counted` are
    the loops that count their iterations. In C++, `grid.n` may be the member `n` of a method's own
    object.

    >>> loop = MeasuredLoop(0, 9, "/a/f.c", "f.c", 3, 4, 5, "parallel for", (), "(cells ( s ))")
    >>> entry_values(loop, ["n", "cells(s)", "rand()", "f.c:9", "f.c:10"], ["f.c:9"]).names
    ('n', 'cells(s)', 'f.c:9')
    """
    known = {name: NO_VALUE if name in counted else _c_expression(name, loop) for name in names}
    chosen = [(name, text) for name, text in known.items() if text is not None][:_MOST]
    for name, _ in list(chosen) if cpp else ():
        of_object = _OF_OBJECT.fullmatch(name)
        own = _c_expression(f"this->{of_object[1]}", loop) if of_object is not None else None
        chosen += [(name, own)] if own is not None else []
    return EntryValues(tuple(name for name, _ in chosen), tuple(text for _, text in chosen))


def _c_expression(name: str, loop: MeasuredLoop) -> str | None:
    """Returns a C expression for the value of a name at the start of the loop. None if it is not
    safe to read.
    """
    if _PLACE.fullmatch(name):
        number = f"(__builtin_classify_type({name})=={_ADDRESS}?{NO_VALUE}:(long long)({name}))"
        checks = [
            f"regionpredict_readable(&({part}),sizeof({part})<8?sizeof({part}):8)"
            for part in _access_prefixes(name)
        ]
        return f"({'&&'.join(checks)}?{number}:{NO_VALUE})" if checks else number
    if _CALL.fullmatch(name) and "".join(name.split()) in "".join(loop.trips.split()):
        return f"(long long)({name})"
    return None


def _access_prefixes(name: str) -> list[str]:
    """Returns the memory accesses on the way to a value, from the first dereference on.

    >>> _access_prefixes("s->m[1]"), _access_prefixes("n")
    (['s->m', 's->m[1]'], [])
    """
    return [name[: match.end() if match.group()[0] == "[" else _end_of_name(name, match.end())]
            for match in _PART.finditer(name)]  # fmt: skip


def _end_of_name(text: str, at: int) -> int:
    match = re.compile(r"\w+").match(text, at)
    return match.end() if match else at
