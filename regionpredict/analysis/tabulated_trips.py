"""Finds loops whose trip count is in a table, such as rows of a sparse matrix or atoms of a cell.

    for (k = row[i]; k < row[i + 1]; k++)       row[i+1]-row[i]
    for (a = 0; a < count[cell[j]]; a++)        count[i]

The source does not give the entries. All loops over the same table have the same average trip
count. They therefore share one size, which is named as in the source.
"""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.ir import Loop
from regionpredict.ir.expr import Atom, entry_name
from regionpredict.ir.folding import Number


class EntryTrips(NamedTuple):
    """The average trip count of a loop over table entries: the entry `name` plus `beyond`
    iterations.
    """

    name: str
    beyond: Number


def entry_trips(loop: Loop) -> EntryTrips | None:
    """Returns the name of a loop's trip count if only a table determines it. None for any other
    loop.

    >>> from regionpredict.ir import Expr, Span
    >>> i = Expr.name("i")
    >>> row = [Expr.atom("ref", i + next, label="row") for next in (0, 1)]
    >>> loop = Loop("k", row[0], row[1], "<=", Expr.const(1), (), Span("f.c", 3))
    >>> entry_trips(loop)
    EntryTrips(name='row[i+1]-row[i]', beyond=1)
    """
    trips = loop.trips
    if trips is None:
        return None
    entries: list[tuple[Atom, Number]] = []
    beyond: Number = 0
    for factors, times in trips.terms.items():
        if not factors:
            beyond = times
            continue
        (factor, power), *others = factors
        if others or power != 1 or not isinstance(factor, Atom) or factor.kind != "ref":
            return None
        entries.append((factor, times))
    entries.sort(key=lambda entry: entry[1])
    if [times for _, times in entries] == [1]:
        return EntryTrips(entry_name(entries[0][0], 0), beyond)
    if [times for _, times in entries] != [-1, 1]:
        return None
    (first, _), (second, _) = entries
    distance = _distance_in_row(first, second)
    if distance is None:
        return None
    return EntryTrips(f"{entry_name(second, distance)}-{entry_name(first, 0)}", beyond)


def _distance_in_row(first: Atom, second: Atom) -> int | None:
    """Returns the distance between two entries in the same row of a table. None if they are in
    different rows, or if the distance is unknown.
    """
    if first.label != second.label or first.args[:-1] != second.args[:-1]:
        return None
    distance = (second.args[-1] - first.args[-1]).constant
    return distance if isinstance(distance, int) and distance > 0 else None
