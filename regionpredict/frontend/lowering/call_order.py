"""Determines whether every path from `main` to a read executes all assignments first.

    int main(int argc, char **argv) {
      parse(&o, argc, argv);      assigns o.n, perhaps twice
      for (...) step(&o);         reads o.n after the last assignment
    }

The order follows from the call paths from `main` to the read and to the assignments. If the same
call reaches both, the order inside the called function decides. Statements in the same loop have no
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
ProgramPoint = Expression | Decl
"""An expression, or the declaration of a variable. Declarations are separate because all uses of a
name may share a syntax node.
"""
Site = tuple[Function, ProgramPoint]
"""A program point, and the function that contains it."""
_ActionPart = tuple[tuple[ProgramPoint, ...], bool]


class _OrderedParts(NamedTuple):
    """The actions of a function in execution order. Each is an expression, or a whole loop with
    the flag True. `part_numbers` maps an expression to the positions of its actions.
    """

    parts: list[_ActionPart]
    part_numbers: dict[ProgramPoint, list[int]]


class _CallPaths(NamedTuple):
    """All call paths from `main` to some program points. `main` is None if the program has none.

    `steps` maps a function to its steps on these paths. A step is a program point itself, or a call
    with the called function.
    """

    main: Function | None
    steps: dict[Span, list[tuple[ProgramPoint, Function | None]]]


class CallOrder:
    """Determines the execution order of program points in one program."""

    def __init__(self, unit: LinkedUnit) -> None:
        self._unit = unit
        self._callers: dict[Span, list[tuple[Function, CallExpr]] | None] = {}
        self._parts: dict[Span, _OrderedParts | None] = {}

    def follows_assignments(self, read: Site, assignments: Sequence[Site]) -> bool:
        """Returns whether every path to `read` executes all assignments first."""
        if not assignments:
            return True
        reads, sets = self._call_paths_to([read]), self._call_paths_to(assignments)
        if reads is None or sets is None or reads.main is None:
            return False
        if sets.main is None:  # `main` executes none of the assignments
            return True
        return reads.main.span == sets.main.span and self._sets_precede_reads(
            reads.main, sets, reads, 0
        )

    def _sets_precede_reads(
        self, function: Function, sets: _CallPaths, reads: _CallPaths, depth: int
    ) -> bool:
        ordered = self._parts_of(function)
        if ordered is None or depth > _DEEPEST:
            return False
        parts, places = ordered
        last_set = _part_numbers(places, sets.steps.get(function.span, ()))
        first_read = _part_numbers(places, reads.steps.get(function.span, ()))
        if last_set is None or first_read is None:
            return False
        if not last_set or not first_read or max(last_set) < min(first_read):
            return True
        if max(last_set) > min(first_read) or parts[max(last_set)][1]:
            return False
        both = self._common_callee(function, parts[max(last_set)][0], sets, reads)
        return both is not None and self._sets_precede_reads(both, sets, reads, depth + 1)

    def _common_callee(
        self, function: Function, part: Sequence[ProgramPoint], sets: _CallPaths, reads: _CallPaths
    ) -> Function | None:
        """Returns the called function if a single call within one action leads to the assignments
        and to the reads. Returns None otherwise.
        """
        steps_in_part = [
            (on, called) for paths in (sets, reads) for on, called in paths.steps[function.span]
            if any(on is inner for inner in part)
        ]  # fmt: skip
        first, called = steps_in_part[0]
        return called if all(on is first for on, _ in steps_in_part) else None

    # -- paths --------------------------------------------------------------------------------

    def _call_paths_to(self, places: Iterable[Site]) -> _CallPaths | None:
        """Returns the call paths from `main` to program points. Returns None if one is unknown."""
        steps: dict[Span, list[tuple[ProgramPoint, Function | None]]] = {}
        waiting: list[Function] = []
        for function, place in places:
            steps.setdefault(function.span, []).append((place, None))
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
                steps.setdefault(caller.span, []).append((call, function))
                waiting.append(caller)
        return _CallPaths(main, steps)

    def _callers_of(self, function: Function) -> list[tuple[Function, CallExpr]] | None:
        if function.span not in self._callers:
            unseen = self._unit.has_pointer(function.decl) or self._unit.ambiguous_places(
                function.decl
            )
            calls = [] if unseen else self._unit.calls_of(function.decl)
            self._callers[function.span] = calls or (None if unseen else [])
        return self._callers[function.span]

    # -- parts of a function ------------------------------------------------------------------

    def _parts_of(self, function: Function) -> _OrderedParts | None:
        """Returns the actions of a function in order. Returns None if it contains a `goto`."""
        if function.span not in self._parts:
            jumps = any(
                isinstance(statement, Jump) and statement.kind == "goto"
                for statement in every_statement(function.body)
            )
            parts = [] if jumps else list(_parts_of_statement(function.body))
            part_numbers: dict[ProgramPoint, list[int]] = {}
            for number, (inside, _) in enumerate(parts):
                for place in dict.fromkeys(inside):
                    part_numbers.setdefault(place, []).append(number)
            self._parts[function.span] = None if jumps else _OrderedParts(parts, part_numbers)
        return self._parts[function.span]


def _parts_of_statement(statement: Stmt) -> Iterator[_ActionPart]:
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
        yield from _parts_of_statement(inner)


def _part_numbers(
    places: Mapping[ProgramPoint, Sequence[int]],
    points: Sequence[tuple[ProgramPoint, Function | None]],
) -> list[int] | None:
    """Returns the positions of the actions that contain the wanted expressions. Returns None if an
    expression is missing.
    """
    if any(expression not in places for expression, _ in points):
        return None
    return [number for expression, _ in points for number in places[expression]]
