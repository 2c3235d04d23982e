"""Work that threads do one after the other: bodies of `critical`, `ordered`, `single`, `master`.

A region is taken apart: what all threads do at once stays, and each kind of serial body becomes a
region of its own, whose time on one thread is then put together with the rest:

- `single`, `master`, `masked`: the others wait, T = P(p) + S (Amdahl 1967).
- `critical`: threads that work for Z between two visits queue for a place of service time s; a
  closed queue with one server, by mean value analysis (Reiser and Lavenberg 1980), and never
  faster than S. Eyerman and Eeckhout 2010 say the same of it: contention grows with the share of
  the time spent inside.
- `ordered`: a chunk's bodies begin when the chunk before has done its last; only what comes
  before a chunk's first body overlaps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from regionpredict.analysis import RegionFacts
from regionpredict.ir.region import Branch, Loop, Node, Statement, Synchronisation

KINDS = {
    "critical": "critical", "ordered": "ordered", "single": "single", "master": "single",
    "masked": "single",
}  # fmt: skip


class SerialBody(NamedTuple):
    """All runs of one kind of serial body: `visits` in all, `seconds` on one thread."""

    kind: str
    visits: float
    seconds: float


def apart(facts: RegionFacts) -> tuple[RegionFacts, dict[str, RegionFacts]]:
    """The region without its serial bodies, and one that has only those, by kind."""
    nest = facts.region.nest
    if nest is None or not (kinds := _kinds(nest.body)):
        return facts, {}
    found = {}
    for kind in sorted(kinds):
        body = _kept(nest.body, kind, inside=False)
        found[kind] = _with(facts, replace(nest, body=body))
    return _with(facts, replace(nest, body=_emptied(nest.body))), found


def added_by_turns(
    bodies: Mapping[str, SerialBody], threads: int, busy: float, one: float, lock: float,
    chunk: float,
) -> float:  # fmt: skip
    """Seconds that serial bodies add to `busy` seconds of the busiest thread.

    `one` are the seconds of the parallel work on one thread, `lock` those of handing the right to
    enter from one to the next, `chunk` the iterations of a piece.
    """
    added = 0.0
    for one_kind in bodies.values():
        entering = 0.0 if one_kind.kind == "single" else one_kind.visits * lock
        body = one_kind._replace(seconds=one_kind.seconds + entering)
        if body.kind == "critical":
            added += queued(threads, busy, body) - busy
        elif body.kind == "ordered":
            added += in_turn(threads, busy, one, body, chunk) - busy
        else:
            added += body.seconds
    return added


def queued(threads: int, busy: float, body: SerialBody) -> float:
    """Seconds until all threads have done `busy` seconds of their own and all visits.

    >>> whole = SerialBody("critical", 100.0, 2.0)
    >>> queued(1, 0.0, whole), queued(8, 0.0, whole)
    (2.0, 2.0)
    """
    if not body.visits or not body.seconds:
        return busy
    service = body.seconds / body.visits
    between = busy * threads / body.visits
    length = 0.0
    rate = 0.0
    for customers in range(1, threads + 1):
        response = service * (1.0 + length)
        rate = customers / (between + response)
        length = rate * response
    return body.visits / rate


def in_turn(threads: int, busy: float, one: float, body: SerialBody, chunk: float) -> float:
    """Seconds of a loop whose iterations run a body in order, dealt out in chunks.

    A chunk of c iterations takes c (P + S)/n; of it the work before its first body overlaps with
    the chunk before.

    >>> in_turn(4, 0.25, 1.0, SerialBody("ordered", 1000.0, 0.1), 1.0)
    0.275
    """
    if threads == 1 or not body.visits:
        return busy + body.seconds
    each = one / body.visits
    chunks = body.visits / max(1.0, chunk)
    chain = one + body.seconds - chunks * each
    return max(busy + body.seconds / threads, chain + each)


# -- taking a region apart ------------------------------------------------------------------------


def _kinds(nodes: tuple[Node, ...]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, Synchronisation) and node.kind in KINDS and node.body:
            found.add(KINDS[node.kind])
        elif isinstance(node, (Loop, Synchronisation)):
            found |= _kinds(node.body)
        elif isinstance(node, Branch):
            for side in node.sides:
                found |= _kinds(side)
    return found


def _kept(nodes: tuple[Node, ...], kind: str, *, inside: bool) -> tuple[Node, ...]:
    """Only the bodies of one kind, in the loops and branches around them."""
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, Synchronisation):
            here = inside or KINDS.get(node.kind) == kind
            if not here and node.kind in KINDS:
                continue
            # An inner body of another kind is part of the outer one.
            found += _kept(node.body, kind, inside=here)
        elif isinstance(node, Loop):
            body = _kept(node.body, kind, inside=inside)
            found += [replace(node, body=body)] if body else []
        elif isinstance(node, Branch):
            sides = tuple(_kept(side, kind, inside=inside) for side in node.sides)
            found += [replace(node, sides=sides)] if any(sides) else []
        elif inside:
            found.append(node)
    return tuple(found)


def _emptied(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The same with nothing in serial bodies, whose number still counts."""
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, Statement):
            found.append(node)
        elif isinstance(node, Synchronisation) and node.kind in KINDS:
            found.append(replace(node, body=()))
        elif isinstance(node, Branch):
            found.append(replace(node, sides=tuple(_emptied(side) for side in node.sides)))
        else:
            found.append(replace(node, body=_emptied(node.body)))
    return tuple(found)


def _with(facts: RegionFacts, nest: Loop) -> RegionFacts:
    """The facts of the statements that are left, in their new loops."""
    region = replace(facts.region, nest=nest)
    known = {id(fact.statement): fact for fact in facts.statements}
    statements = tuple(
        replace(known[id(statement)], loops=loops) for statement, loops in region.statements()
    )
    return replace(facts, region=region, statements=statements)
