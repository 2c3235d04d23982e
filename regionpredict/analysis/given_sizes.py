"""Applies sizes from the caller to one region: values of names, and trip counts by source location.

`n=64` sets a name everywhere. `solve:n=64` sets the variable `n` of the function `solve` only, also
in regions of other functions that depend on it. `solve.c:17=100` sets the average trip count of the
loop at this line. `row[i+1]-row[i]=100` sets the average trip count of all loops over the entries
of this table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from regionpredict.analysis.tabulated_trips import entry_trips
from regionpredict.ir import Array, Branch, Expr, Loop, Node, Region, Statement
from regionpredict.ir.expr import ONE, ZERO

_LOCATION = re.compile(r"(.+):(\d+)")
_WORD = re.compile(r"\w+")
_NAME_CONTINUES = re.compile(r"[\w']")
_SCOPED = re.compile(r"([^:?]+):([^:].*)")  # after `?`, a `:` belongs to C's conditional


def sizes_in(region: Region, given: Mapping[str, int]) -> dict[str, int]:
    """Returns the sizes that apply to the region. A size for its function takes precedence over a
    size for all functions.

    Trip counts are stored under `trip_name`. The caller may shorten a file to the end of its path.
    """
    sizes: dict[str, int] = {}
    scoped: dict[str, int] = {}
    for name, value in given.items():
        if place := _LOCATION.fullmatch(name):
            scoped |= {trip_name(loop): value for loop in loops_at(region, place[1], int(place[2]))}
        elif part := scope_of(name):
            scoped |= dict.fromkeys(names_here(region, *part), value)
        else:
            sizes[name] = value
            for here in _members_of_others(region, name):
                sizes.setdefault(here, value)
    return {**sizes, **scoped}


def _members_of_others(region: Region, name: str) -> Iterator[str]:
    """Yields the name of `f.n` in a region where `f` is another variable without a member `n`."""
    word = _WORD.match(name)
    if word is None or not name[word.end() :].startswith((".", "->", "[")):
        return
    for other in region.others:
        if other.name != word[0] and other.plain == word[0]:
            yield other.name + name[word.end() :]


def scope_of(name: str) -> tuple[str, str] | None:
    """Returns the function and the name in `solve:n` or `Grid::solve:n`. None without a function.

    >>> scope_of("solve:n"), scope_of("Grid::size()")
    (('solve', 'n'), None)
    """
    hidden = name.replace("::", "\0")
    match = _SCOPED.fullmatch(hidden)
    if match is None:
        return None
    return match[1].replace("\0", "::"), match[2].replace("\0", "::")


def names_here(region: Region, function: str, name: str) -> list[str]:
    """Returns the names that a function's variable has in a region, such as `n'` for `main:n` in
    another function with its own `n`. There are several names if the function is called several
    times.
    """
    if function == region.function:
        return [name]
    word = _WORD.match(name)
    return [
        other.name + name[word.end() :]
        for other in region.others
        if word is not None and other.function == function and other.plain == word[0]
    ]


def functions_owning(region: Region, name: str) -> Iterator[tuple[str, str]]:
    """Yields the functions that own the variable with this name, and its name in each function."""
    for other in region.others:
        rest = name.removeprefix(other.name)
        if other.function and len(rest) < len(name) and not _NAME_CONTINUES.match(rest):
            plain = other.plain + rest
            if name in names_here(region, other.function, plain):
                yield other.function, plain


def qualified_name(region: Region, name: str) -> str | None:
    """Returns the name `main:n` or `n'` for the `n` of another function, in a region with its own
    `n`. None if the name means something else.
    """
    for function, plain in functions_owning(region, name):
        if plain != name and function != region.function:
            return f"{function}:{plain}"
    return None


def place_of(name: str) -> tuple[str, int] | None:
    """Returns the file and line in `solve.c:17`. None for any other text."""
    place = _LOCATION.fullmatch(name)
    return None if place is None else (place[1], int(place[2]))


def trip_name(loop: Loop) -> str:
    """Returns the name under which the caller gives a loop's trip count: `solve.c:17`."""
    return f"{loop.span.file}:{loop.span.line}"


def open_trips_name(loop: Loop) -> str:
    """Returns the name under which the caller gives the trip count of a loop without a counter. It
    is the loop's table, such as `row[i+1]-row[i]`, or otherwise its location.
    """
    entry = entry_trips(loop)
    return trip_name(loop) if entry is None else entry.name


def extent_name(array: Array) -> str:
    """Returns the name under which the caller gives an undeclared array length: `x[]`."""
    return f"{array.name}[]"


def order_name(table: str) -> str:
    """Returns the name under which the caller gives the order of an index table: `list[+1]`. Its
    value is the distance of the elements that neighboring entries select, or 1 for consecutive
    elements.
    """
    return f"{table}[+1]"


def loops_at(region: Region, file: str, line: int) -> Iterator[Loop]:
    """Yields the region's loops at a line. The file is given by its path or the end of its path."""
    for loop in every_loop(region):
        path = loop.span.file
        if loop.span.line == line and (path == file or path.endswith(f"/{file}")):
            yield loop


def every_loop(region: Region) -> tuple[Loop, ...]:
    """Returns the loops around the directive and the loops of its nest."""
    return (*region.enclosing, *region.loops())


def with_given_trips(region: Region, given: Mapping[str, int]) -> Region:
    """Returns the region with the given trip counts of its loops.

    A loop that starts at a table entry (`for (k = row[i]; k < row[i + 1]; k++)`) is assumed to
    continue where it ended in the previous outer iteration.
    """
    here = sizes_in(region, given).keys()
    names = {
        name for loop in every_loop(region) for name in (trip_name(loop), open_trips_name(loop))
        if name in here
    }  # fmt: skip
    if not names:
        return region
    nest = None if region.nest is None else _loop_with_trips(region.nest, names, None)
    enclosing = tuple(_loop_with_trips(loop, names, None) for loop in region.enclosing)
    known = region.diagnostics
    if region.nest is not None and _given_trips(region.nest, names) is not None:
        known = tuple(note for note in known if note.id != "RP102")
    return replace(region, nest=nest, enclosing=enclosing, diagnostics=known)


def _loop_with_trips(loop: Loop, names: set[str], enclosing_function: str | None) -> Loop:
    body = tuple(_node_with_trips(node, names, loop.variable) for node in loop.body)
    trips = _given_trips(loop, names)
    if trips is None:
        return replace(loop, body=body)
    step = loop.step if loop.step is not None and loop.step.constant else ONE
    start = loop.start
    if start is None or start.has_unreadable_part:
        follows = start is not None and enclosing_function is not None
        start = (
            Expr.name(enclosing_function) * trips * step
            if follows and enclosing_function is not None
            else ZERO
        )
    down = (step.constant or 0) < 0
    return replace(
        loop, start=start, bound=start + trips * step, comparison=">" if down else "<",
        step=step, body=body, kind="for", exits=False, averaged=_has_varying_trips(loop),
    )  # fmt: skip


def _has_varying_trips(loop: Loop) -> bool:
    """Whether the trip count of a loop varies, so that a single number can only be a mean."""
    bounds = [part for part in (loop.start, loop.bound) if part is not None]
    return loop.trips is None or loop.exits or any(part.has_unreadable_part for part in bounds)


def _given_trips(loop: Loop, names: set[str]) -> Expr | None:
    """Returns the given trip count of a loop. A number for the loop's location takes precedence
    over a number for its table.
    """
    if trip_name(loop) in names:
        return Expr.name(trip_name(loop))
    entry = entry_trips(loop)
    return (
        Expr.name(entry.name) + entry.beyond if entry is not None and entry.name in names else None
    )


def _node_with_trips(node: Node, names: set[str], enclosing_function: str) -> Node:
    if isinstance(node, Loop):
        return _loop_with_trips(node, names, enclosing_function)
    if isinstance(node, Statement):
        return node
    if isinstance(node, Branch):
        sides = tuple(
            tuple(_node_with_trips(part, names, enclosing_function) for part in side)
            for side in node.sides
        )
        return replace(node, sides=sides)
    return replace(
        node, body=tuple(_node_with_trips(part, names, enclosing_function) for part in node.body)
    )
