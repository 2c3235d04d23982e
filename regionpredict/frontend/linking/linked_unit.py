"""The input of the lowering: one unit whose declarations are resolved over the whole program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from regionpredict.frontend.linking.container_lengths import Length
from regionpredict.frontend.linking.program_settings import SetPlace, SetValue
from regionpredict.frontend.linking.stored_sizes import Stored
from regionpredict.frontend.syntax import (
    CallExpr,
    Changes,
    Decl,
    Effects,
    Expression,
    Function,
    Pragma,
    Writes,
)
from regionpredict.ir import Span


class PutValue(NamedTuple):
    """A value stored in a place, and the function that stores it. The function is None if the value
    comes from the initializer.

    `listed`: the value comes from an initializer list, and nothing moves it afterwards.
    """

    value: Expression
    function: Function | None
    listed: bool = False


class Body(NamedTuple):
    """A function with its text, which is searched for names before its tree is built."""

    function: Function
    text: bytes


@dataclass(frozen=True, slots=True)
class LinkedUnit:
    """A unit of a program.

    One unit with queries over the whole program. `functions` have OpenMP directives, and `bodies`
    are all functions that may be called. `directives`, `errors`, `reassociates`, `threadprivate`
    and `getters` come from the parser. `body_of` resolves a declaration to a definition, and
    `rivals` gives the places of ambiguous definitions. `calls_of` gives the calls of a function
    with their callers, and `calls_through` those through members of structs. `writers_of` gives
    functions that may set a global variable, and `setters_of` those that set a member of that name.
    `changes_in` gives the changes in a function's body.
    `variable_of` gives a declaration with its initial value. `set_once` gives the value of an
    integer with one assignment, and `set_at` the place of this assignment (None: possibly several).
    `all_sets_of` gives all assignments of a member with their functions (None: unknown).
    `is_pointed`: whether a function may be called through a pointer. `functions_at` gives the
    functions stored where a call finds its target (None: unknown), and `some_functions_at` those in
    the sources, if others are possible. `objects` gives the name of the
    only object of a class. `lengths` are the lengths of containers in members. `effects` are those
    of expressions and statements. `writes` and `values` are caches that all units share. `values`
    holds results of inlined functions.
    """

    path: str
    functions: tuple[Function, ...]
    bodies: Callable[[], list[Function]]
    directives: tuple[tuple[str, Pragma], ...]
    errors: tuple[Span, ...]
    reassociates: bool
    threadprivate: frozenset[str]
    body_of: Callable[[Decl], Function | None]
    rivals: Callable[[Decl], tuple[Span, ...]]
    calls_of: Callable[[Decl], list[tuple[Function, CallExpr]]]
    calls_through: Callable[[Decl], list[tuple[Function, CallExpr]]]
    writers_of: Callable[[Decl], list[Function]]
    setters_of: Callable[[Decl], list[Function]]
    changes_in: Callable[[Function], Changes]
    variable_of: Callable[[Decl], Decl]
    set_once: Callable[[Stored], SetValue | None]
    set_at: Callable[[Stored], list[SetPlace] | None]
    all_sets_of: Callable[[Stored], list[tuple[Function, Expression]] | None]
    is_pointed: Callable[[Decl], bool]
    functions_at: Callable[[Expression], list[PutValue] | None]
    some_functions_at: Callable[[Expression], list[PutValue]]
    objects: Mapping[str, str] = field(default_factory=dict)
    getters: frozenset[tuple[str, str]] = frozenset()
    lengths: Mapping[Decl, Length] = field(default_factory=dict)
    effects: Effects = field(default_factory=Effects)
    writes: dict[Function, Writes] = field(default_factory=dict)
    values: dict[Function | str, Any] = field(default_factory=dict)

    def arguments_passed_to(
        self, parameter: Decl, function: Function
    ) -> list[tuple[Function, CallExpr, Expression]]:
        """The arguments passed to a parameter by calls in other functions, with the calling
        functions. Empty without calls, or if a call has too few arguments."""
        position = function.parameters.index(parameter)
        calls = [
            (caller, call) for caller, call in self.calls_of(function.decl)
            if caller.decl is not function.decl
        ]  # fmt: skip
        if any(position >= len(call.args) for _, call in calls):
            return []
        return [(caller, call, call.args[position]) for caller, call in calls]
