"""Whether every path to a read executes all assignments first.

    int main(int argc, char **argv) {
      parse(&o, argc, argv);      sets o.n, perhaps twice
      for (...) step(&o);         reads o.n: what `parse` has left there
    }

The order follows from the call paths from `main` to both places. If both places are reached through
the same call, the order inside the called function decides. Statements in the same loop have no
order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.syntax import (
    LOOPS,
    CallExpr,
    Decl,
    DeclStmt,
    Expression,
    Function,
    Jump,
    Stmt,
    declared_in,
    every_expression,
    every_statement,
    expressions_in,
    inner_statements,
    own_expressions,
)
from regionpredict.ir import Span

_DEEPEST = 8
_MOST_CALLERS = 64  # maximum number of functions on the paths from `main`
Place = Expression | Decl
"""An expression, or the declaration of a variable. The declaration is needed because all uses of a
name may share a node.
"""
Site = tuple[Function, Place]
"""A place, and the function that it is in."""
_Part = tuple[tuple[Place, ...], bool]


class _Parts(NamedTuple):
    """The actions of a function in order. Each is an expression, or a whole loop with the value
    True. `places` gives the numbers of the parts that contain a place.
    """

    parts: list[_Part]
    places: dict[Place, list[int]]


class _Paths(NamedTuple):
    """All call paths from `main` to some places. `main` is None if there is no `main`. Each step of
    a path is the place itself, or a call with the function that it calls.
    """

    main: Function | None
    on: dict[Span, list[tuple[Place, Function | None]]]


class CallOrder:
    """Finds the order of places in one program."""

    def __init__(self, unit: LinkedUnit) -> None:
        self._unit = unit
        self._callers: dict[Span, list[tuple[Function, CallExpr]] | None] = {}
        self._parts: dict[Span, _Parts | None] = {}

    def follows_settings(self, read: Site, settings: Sequence[Site]) -> bool:
        """Returns whether every path to `read` executes all assignments first."""
        if not settings:
            return True
        reads, sets = self._paths([read]), self._paths(settings)
        if reads is None or sets is None or reads.main is None:
            return False
        if sets.main is None:  # without `main`, no order is known
            return True
        return reads.main.span == sets.main.span and self._in_order(reads.main, sets, reads, 0)

    def _in_order(self, function: Function, sets: _Paths, reads: _Paths, depth: int) -> bool:
        known = self._parts_of(function)
        if known is None or depth > _DEEPEST:
            return False
        parts, places = known
        last_set = _places(places, sets.on.get(function.span, ()))
        first_read = _places(places, reads.on.get(function.span, ()))
        if last_set is None or first_read is None:
            return False
        if not last_set or not first_read or max(last_set) < min(first_read):
            return True
        if max(last_set) > min(first_read) or parts[max(last_set)][1]:
            return False
        both = self._common_callee(function, parts[max(last_set)][0], sets, reads)
        return both is not None and self._in_order(both, sets, reads, depth + 1)

    def _common_callee(
        self, function: Function, part: Sequence[Place], sets: _Paths, reads: _Paths
    ) -> Function | None:
        """Returns the only called function that reaches both places within one part of a function.
        Returns None if there is no such function.
        """
        led = [
            (on, called) for ways in (sets, reads) for on, called in ways.on[function.span]
            if any(on is inner for inner in part)
        ]  # fmt: skip
        first, called = led[0]
        return called if all(on is first for on, _ in led) else None

    # -- paths --------------------------------------------------------------------------------

    def _paths(self, places: Iterable[Site]) -> _Paths | None:
        """Returns the call paths to places. Returns None if a path is unknown."""
        on: dict[Span, list[tuple[Place, Function | None]]] = {}
        waiting: list[Function] = []
        for function, place in places:
            on.setdefault(function.span, []).append((place, None))
            waiting.append(function)
        main: Function | None = None
        seen: set[Span] = set()
        while waiting:
            function = waiting.pop()
            if function.span in seen:
                continue
            seen.add(function.span)
            if len(seen) > _MOST_CALLERS:
                return None
            if function.name == "main":
                if main is not None and main.span != function.span:
                    return None
                main = function
                continue
            callers = self._callers_of(function)
            if callers is None:
                return None
            for caller, call in callers:
                on.setdefault(caller.span, []).append((call, function))
                waiting.append(caller)
        return _Paths(main, on)

    def _callers_of(self, function: Function) -> list[tuple[Function, CallExpr]] | None:
        if function.span not in self._callers:
            unseen = self._unit.has_pointer(function.decl) or self._unit.ambiguous_places(
                function.decl
            )
            calls = [] if unseen else self._unit.calls_of(function.decl)
            self._callers[function.span] = calls or (None if unseen else [])
        return self._callers[function.span]

    # -- parts of a function ------------------------------------------------------------------

    def _parts_of(self, function: Function) -> _Parts | None:
        """Returns the parts of a function. Returns None if the function contains a jump."""
        if function.span not in self._parts:
            jumps = any(
                isinstance(statement, Jump) and statement.kind == "goto"
                for statement in every_statement(function.body)
            )
            parts = [] if jumps else list(_parts(function.body))
            places: dict[Place, list[int]] = {}
            for number, (inside, _) in enumerate(parts):
                for place in dict.fromkeys(inside):
                    places.setdefault(place, []).append(number)
            self._parts[function.span] = None if jumps else _Parts(parts, places)
        return self._parts[function.span]


def _parts(statement: Stmt) -> Iterator[_Part]:
    if isinstance(statement, LOOPS):
        yield (*declared_in(statement), *expressions_in(statement)), True
        return
    if isinstance(statement, DeclStmt):
        for decl in statement.decls:
            first = every_expression(decl.init) if decl.init is not None else ()
            yield (decl, *first), False
        return
    for expression in own_expressions(statement):
        yield tuple(every_expression(expression)), False
    for inner in inner_statements(statement):
        yield from _parts(inner)


def _places(
    places: Mapping[Place, Sequence[int]], wanted: Sequence[tuple[Place, Function | None]]
) -> list[int] | None:
    """Returns the parts that contain the expressions. Returns None if an expression is missing from
    all parts.
    """
    if any(expression not in places for expression, _ in wanted):
        return None
    return [number for expression, _ in wanted for number in places[expression]]
