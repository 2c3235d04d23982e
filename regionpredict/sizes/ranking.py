"""Ranks unknown names by the number of hints that they decide.

Each prediction lists the names that decide its hint. The hint is known if all these names have
values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import chain
from typing import NamedTuple

from regionpredict.analysis.bindings import names_of_header
from regionpredict.analysis.given_sizes import (
    every_loop,
    functions_owning,
    place_of,
    qualified_name,
    scope_of,
)
from regionpredict.analysis.tabulated_trips import entry_trips
from regionpredict.ir import Loop, Region
from regionpredict.predict import Prediction

_ELEMENT = re.compile(r"\[[^\]]*[A-Za-z_]")


class UnboundSize(NamedTuple):
    """A name without a value. The name is `function:n` if `n` has a value in another function.

    `file` and `line` give the first loop with this bound, or the region. `decides` is the number of
    hints that depend on the name. `settled` is the number of known hints if this name and all names
    ranked before it have values, including `in_part` hints of partial regions.
    """

    name: str
    file: str
    line: int
    decides: int
    settled: int
    in_part: int = 0


class SizeRanking(NamedTuple):
    """The ranked unknown sizes that decide hints.

    `regions` is the number of regions with a hint, and `settled` the number of hints that are known
    now, including `in_part` hints of partial regions. `recorded` says that other sizes come from a
    recorded run.
    """

    regions: int
    settled: int
    unbound: tuple[UnboundSize, ...]
    in_part: int = 0
    recorded: bool = False


def rank_sizes(predictions: Sequence[Prediction]) -> SizeRanking:
    """Ranks all names without a value in a program's regions."""
    asked = [prediction for prediction in predictions
             if prediction.status != "skipped" and not prediction.idle]  # fmt: skip
    known = _SettableNames(predictions)
    places: dict[str, tuple[str, int]] = {}
    for of_others in (False, True):  # names of the region's function take precedence
        for prediction in asked:
            region = prediction.facts.region
            for name in prediction.unbound:
                if _is_of_other_function(name) is of_others:
                    places.setdefault(known.asked(name, region), _first_location(region, name))
    hints = [
        frozenset(known.asked(name, prediction.facts.region) for name in prediction.deciding)
        for prediction in asked
    ]
    partial = [prediction.status == "partial" for prediction in asked]
    order = sorted(
        greedy_order(hints), key=differs_by_element
    )  # names that a user can know come first
    order += sorted(places.keys() - set(order))
    given: set[str] = set()
    unbound = []
    for name in order:
        given.add(name)
        decides = sum(name in deciding for deciding in hints)
        unbound.append(
            UnboundSize(name, *places[name], decides, *_known_hints(given, hints, partial))
        )
    settled, in_part = _known_hints(frozenset(), hints, partial)
    recorded = any(own.facts.bindings.origin == "run" for own in predictions)
    return SizeRanking(len(asked), settled, tuple(unbound), in_part, recorded)


def deciding_regions(
    predictions: Sequence[Prediction],
) -> dict[str, list[tuple[str, Prediction]]]:
    """Returns the predictions whose hints a name decides, by the name to set. Each prediction has
    the region's own form of the name.
    """
    known = _SettableNames(predictions)
    decided: dict[str, list[tuple[str, Prediction]]] = {}
    for prediction in predictions:
        if prediction.status != "skipped" and not prediction.idle:
            for name in sorted(prediction.deciding):
                asked = known.asked(name, prediction.facts.region)
                decided.setdefault(asked, []).append((name, prediction))
    return decided


def _known_hints(
    given: Set[str], hints: Sequence[frozenset[str]], partial: Sequence[bool]
) -> tuple[int, int]:
    """Returns the number of known hints if the names in `given` have values, and the number of
    partial hints among them.
    """
    kinds = [some for names, some in zip(hints, partial, strict=True) if names <= given]
    return len(kinds), sum(kinds)


class _SettableNames:
    """Maps the names of a region to the names that the user sets. A name includes its function if
    other functions use the same name.
    """

    def __init__(self, predictions: Sequence[Prediction]) -> None:
        self._known: dict[str, set[str]] = {}  # the functions in which a name has a value
        # Qualified names such as `main:n`, by function and local name.
        self._at_home: dict[tuple[str, str], str] = {}
        for prediction in predictions:
            region = prediction.facts.region
            for name in prediction.facts.bindings.values:
                self._known.setdefault(name, set()).add(region.function)
            for name in prediction.unbound:
                if place_of(name) is None and (told := qualified_name(region, name)):
                    self._at_home[region.function, name] = told
        self._shared = {*self._at_home.values()}

    def asked(self, name: str, region: Region) -> str:
        """Returns the name that the user sets for a name of a region."""
        if place_of(name):
            return name
        if told := self._at_home.get((region.function, name)):
            return told
        for place in functions_owning(region, name):
            if (told := ":".join(place)) in self._shared:
                return told
        function, name = scope_of(name) or (region.function, name)
        if told := self._at_home.get((function, name)):
            return told
        scoped = f"{function}:{name}"
        elsewhere = self._known.get(name, set()) - {function}
        return scoped if elsewhere or scoped in self._shared else name


def differs_by_element(name: str) -> bool:
    """Whether a name denotes an array element that depends on an index, so that no single value is
    right.

    >>> [differs_by_element(name) for name in ("n", "grid[0]", "row[i+1]-row[i]", "s->count[k]")]
    [False, False, True, True]
    """
    return _ELEMENT.search(name) is not None


def _is_of_other_function(name: str) -> bool:
    """Whether a name belongs to a function other than the region's function."""
    return scope_of(name) is not None and place_of(name) is None


def greedy_order(deciding: Sequence[frozenset[str]]) -> list[str]:
    """Returns the names in greedy order: each name makes the largest number of further hints known.

    If no single name makes a hint known, the next name is the one that decides the most unknown
    hints.

    >>> greedy_order([frozenset("n"), frozenset("n"), frozenset("mk"), frozenset("m")])
    ['n', 'm', 'k']
    """
    order: list[str] = []
    left = [set(names) for names in deciding if names]
    while left:
        alone = Counter(name for names in left if len(names) == 1 for name in names)
        decides = Counter(chain.from_iterable(left))
        best = max(sorted(decides), key=lambda name: (alone[name], decides[name]))
        order.append(best)
        left = [rest for names in left if (rest := names - {best})]
    return order


def _first_location(region: Region, name: str) -> tuple[str, int]:
    if place := place_of(name):
        return place
    span = next(_bounded_by(every_loop(region), name), region).span
    return span.file, span.line


def _bounded_by(loops: Sequence[Loop], name: str) -> Iterator[Loop | Region]:
    for loop in loops:
        told = entry_trips(loop)
        if (told is not None and told.name == name) or name in names_of_header(loop):
            yield loop
