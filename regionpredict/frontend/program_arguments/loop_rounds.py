"""Determines properties of a loop's iterations from its text, before they are interpreted.

for (step = 0; step < 100; step++) solve();      the body does not use the counter: if one iteration
                                                 changes nothing, later ones change nothing either
for (i = 0; i < cells; i++) cell[i] = 0;         no early exit: the header determines the trip count
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from regionpredict.frontend.program_arguments.memory import Address, Memory, Place
from regionpredict.frontend.program_arguments.written_places import NOTHING, PossibleWrites
from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Decl,
    Effects,
    Expression,
    For,
    Name,
    Stmt,
    While,
    declared_in,
    every_expression,
    every_statement,
    expressions_in,
    leaves_loop,
    set_place,
)

_COMPARED = frozenset(("<", "<=", ">", ">=", "!="))


def own_counters(loop: For | While) -> frozenset[Decl]:
    """Returns the variables that only the header of a loop changes and that its body does not use.

    Empty if the header changes anything else.
    """
    if not isinstance(loop, For) or loop.increment is None:
        return frozenset()
    moved: set[Decl] = set()
    for expression in every_expression(loop.increment):
        target = set_place(expression)
        if target is None:
            continue
        if not isinstance(target, Name) or target.decl.kind not in ("local", "parameter"):
            return frozenset()
        moved.add(target.decl)
    named = {e.decl for e in expressions_in(loop.body) if isinstance(e, Name)}
    chosen = [e.pointer for e in expressions_in(loop.body) if isinstance(e, CallExpr) and e.pointer]
    named |= {e.decl for pointer in chosen for e in every_expression(pointer)
              if isinstance(e, Name)}  # fmt: skip
    return frozenset() if moved & named else frozenset(moved)


def counters_in(statement: Stmt) -> set[Decl]:
    """Returns the counters of the loops in a statement."""
    return {
        target.decl
        for loop in every_statement(statement)
        if isinstance(loop, For) and loop.increment is not None
        for part in every_expression(loop.increment)
        if isinstance(target := set_place(part), Name)
    }


def variables_updated_in(expressions: Iterable[Expression]) -> frozenset[Decl]:
    """Returns the variables of the function that are updated from their old value or whose address
    is taken. Their final values are known only after all iterations.
    """
    grown = set()
    for expression in expressions:
        target = set_place(expression)
        if not isinstance(target, Name) or target.decl.kind not in ("local", "parameter"):
            continue
        overwrites = isinstance(expression, Assign) and expression.op == "=" and not any(
            isinstance(part, Name) and part.decl is target.decl
            for part in every_expression(expression.right)
        )  # fmt: skip
        if not overwrites:
            grown.add(target.decl)
    return frozenset(grown)


def only_fills(loop: For | While, written: PossibleWrites, grown: Iterable[Decl]) -> bool:
    """Whether a loop with these writes and updates changes only its own variables and
    floating-point numbers, which are rarely sizes.
    """
    own = {decl for decl in declared_in(loop) if decl.kind == "local"} | counters_in(loop)
    return (
        written != NOTHING
        and not written.members
        and written.kinds <= {"float"}
        and all(_is_float(decl) for decl in written.variables)
        and all(_is_float(decl) or decl in own for decl in grown)
    )


def _is_float(decl: Decl) -> bool:
    """Whether a variable is a floating-point number or an array of such numbers."""
    return decl.ctype.innermost.kind == "float"


def without_counters(memory: Memory, counters: frozenset[Decl]) -> Memory | None:
    """Returns the memory without the counters. None if a pointer points to a counter."""
    for own in memory.values.values():
        if any(isinstance(held, Address) and held.place.decl in counters for held in own.values()):
            return None
    left = memory.copy()
    for counter in counters:
        left.forget(Place(counter))
    return left


class Header(NamedTuple):
    """A loop header: the loop runs until its `counter`, incremented by `step`, reaches its
    `bound`.
    """

    counter: Name
    bound: Expression
    step: int


def header_of(loop: For | While) -> Header | None:
    """Returns the header of a loop without early exits. None if it is not supported."""
    if not isinstance(loop, For) or not isinstance(loop.condition, Binary):
        return None
    counter, bound = loop.condition.left, loop.condition.right
    step = _step_of(loop.increment, counter)
    if not isinstance(counter, Name) or step is None or loop.condition.op not in _COMPARED:
        return None
    if any(isinstance(e, CallExpr) or set_place(e) is not None for e in every_expression(bound)):
        return None
    return None if leaves_loop(loop.body) else Header(counter, bound, step)


def _step_of(increment: Expression | None, counter: Expression) -> int | None:
    """Returns the step of the counter. None if the step is not a number, or if the increment
    changes other variables.
    """
    if increment is None or not isinstance(counter, Name):
        return None
    steps = Effects().of(increment)
    return steps[counter.decl] or None if steps.keys() == {counter.decl} else None
