"""Which names without a value decide the hints of a program, the fewest and strongest first.

Predictions tell which names decide them; a hint is settled once all of these have values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from regionpredict.analysis.bindings import names_of_header
from regionpredict.analysis.entry_trips import entry_trips
from regionpredict.analysis.given_sizes import every_loop, place_of
from regionpredict.ir import Loop, Region
from regionpredict.predict import Prediction


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


def rank_sizes(predictions: Sequence[Prediction]) -> SizeRanking:
    """The ranking of all names without a value in a program's regions."""
    asked = [prediction for prediction in predictions if prediction.status != "skipped"]
    return _ranked([prediction.facts.region for prediction in asked], asked)


def _ranked(regions: Sequence[Region], asked: Sequence[Prediction]) -> SizeRanking:
    places: dict[str, tuple[str, int]] = {}
    for region, prediction in zip(regions, asked, strict=True):
        for name in prediction.unbound:
            places.setdefault(name, _place(region, name))
    order = greedy_order([frozenset(prediction.deciding) for prediction in asked])
    order += sorted(places.keys() - set(order))
    given: set[str] = set()
    unbound = []
    for name in order:
        given.add(name)
        decides = sum(name in prediction.deciding for prediction in asked)
        settled = sum(given.issuperset(prediction.deciding) for prediction in asked)
        unbound.append(UnboundSize(name, *places[name], decides, settled))
    return SizeRanking(
        len(asked), sum(not prediction.deciding for prediction in asked), tuple(unbound)
    )


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
        told = entry_trips(loop)
        if (told is not None and told.name == name) or name in names_of_header(loop):
            yield loop
