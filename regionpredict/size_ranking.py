"""Which names without a value decide the hints of a program, the fewest and strongest first.

Each is tried over a range of sizes, the others as assumed. A hint that comes out differently is
decided by the name, and settled once all names that decide it have values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from regionpredict.analysis import RegionFacts, facts_of
from regionpredict.analysis.bindings import free_names
from regionpredict.analysis.given_sizes import every_loop, place_of, with_given_trips
from regionpredict.errors import InputError
from regionpredict.ir import Loop, Region
from regionpredict.machine import Machine
from regionpredict.pipeline import Past, Predictions, predict_region
from regionpredict.predict import size_target
from regionpredict.workers import spread
from regionpredict.workload.assumed_sizes import bound_sizes
from regionpredict.workload.nest_lowering import loop_nest

TRIED_SIZES = tuple(10**power for power in range(1, 9))
"""A tenfold each: from a loop that no second thread helps to a vector of 0.8 GB."""
_REGIONS_A_PROCESS = 2


class UnboundSize(NamedTuple):
    """A name without a value.

    `file` and `line` are the loop's that it first bounds, else the region's; `decides` how many
    hints differ with it alone, `settled` how many hints no guess decides once it and the names
    before it in the ranking have values.
    """

    name: str
    file: str
    line: int
    decides: int
    settled: int


class SizeRanking(NamedTuple):
    """`settled` of the `regions` that have a hint are decided by no guess as it is."""

    regions: int
    settled: int
    unbound: tuple[UnboundSize, ...]


class _Unbound(NamedTuple):
    """A region's names without a value, and those of them that decide its hint."""

    names: tuple[str, ...]
    deciding: frozenset[str]


def rank_sizes(result: Predictions, processes: int = 1) -> SizeRanking:
    """The ranking of all names without a value in a program's regions."""
    chosen = [
        (one.facts, past)
        for one, past in zip(result.predictions, result.pasts, strict=True)
        if one.status != "skipped"
    ]
    ask = partial(_unbound_of, machine=result.machine)
    asked = spread(ask, chosen, min(processes, len(chosen) // _REGIONS_A_PROCESS))
    regions = [facts.region for facts, _ in chosen]
    return _ranked(regions, asked)


def _unbound_of(work: tuple[RegionFacts, Past], *, machine: Machine) -> _Unbound:
    facts, past = work
    values = bound_sizes(facts, size_target(machine), machine.line_bytes).values
    nest = loop_nest(facts.region, values)
    known = facts.bindings.values
    names = sorted(free_names(facts.region) - known.keys())
    names += nest.unbound if nest is not None else ()

    def hint(name: str, size: int) -> tuple[int | None, int | None] | None:
        bindings = replace(facts.bindings, values={**values, name: size})
        trial = facts_of(with_given_trips(facts.region, {name: size}), bindings)
        try:
            made = predict_region(trial, machine, placement=past.placement, history=past.history)
        except InputError:  # beyond 64 bits
            return None
        return made.packages, made.threads

    deciding = set()
    for name in names:
        hints = {hint(name, size) for size in TRIED_SIZES} - {None}
        if len(hints) > 1:
            deciding.add(name)
    return _Unbound(tuple(names), frozenset(deciding))


def _ranked(regions: Sequence[Region], asked: Sequence[_Unbound]) -> SizeRanking:
    places: dict[str, tuple[str, int]] = {}
    for region, one in zip(regions, asked, strict=True):
        for name in one.names:
            places.setdefault(name, _place(region, name))
    order = greedy_order([one.deciding for one in asked])
    order += sorted(places.keys() - set(order))
    given: set[str] = set()
    unbound = []
    for name in order:
        given.add(name)
        decides = sum(name in one.deciding for one in asked)
        settled = sum(one.deciding <= given for one in asked)
        unbound.append(UnboundSize(name, *places[name], decides, settled))
    return SizeRanking(len(asked), sum(not one.deciding for one in asked), tuple(unbound))


def greedy_order(deciding: Sequence[frozenset[str]]) -> list[str]:
    """The names in the order in which each settles the most hints that are open before it.

    Where none settles one by itself, the one that decides most of those that are open.

    >>> greedy_order([frozenset("n"), frozenset("n"), frozenset("mk"), frozenset("m")])
    ['n', 'm', 'k']
    """
    order: list[str] = []
    left = [set(names) for names in deciding if names]
    while left:
        open_names = sorted(set().union(*left))
        best = max(
            open_names,
            key=lambda name: (left.count({name}), sum(name in names for names in left)),
        )
        order.append(best)
        left = [rest for names in left if (rest := names - {best})]
    return order


def _place(region: Region, name: str) -> tuple[str, int]:
    if place := place_of(name):
        return place
    span = next(_bounded_by(every_loop(region), name), region).span
    return span.file, span.line


def _bounded_by(loops: Sequence[Loop], name: str) -> Iterator[Loop | Region]:
    for loop in loops:
        if any(e is not None and name in e.names for e in (loop.start, loop.bound, loop.step)):
            yield loop
