"""What the lowering reads: one unit, in which declarations mean what the whole program defines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.frontend.linking.container_lengths import Length
from regionpredict.frontend.linking.program_settings import SetPlace, SetValue
from regionpredict.frontend.linking.stored_sizes import Stored
from regionpredict.frontend.syntax import (
    CallExpr,
    Decl,
    Effects,
    Expression,
    Function,
    Pragma,
    Writes,
)
from regionpredict.ir import Span


class PutValue(NamedTuple):
    """What is put into a place, and the function that does; None where it names one by itself.

    `listed`: a list of initial values puts it there, and nothing moves it afterwards.
    """

    value: Expression
    function: Function | None
    listed: bool = False


class Body(NamedTuple):
    """A function with its text, in which names are looked for before its tree is."""

    function: Function
    text: bytes


@dataclass(frozen=True, slots=True)
class LinkedUnit:
    """A unit of a program.

    `functions` are those with OpenMP directives in them, `bodies` all of the unit that anybody may
    call, `directives`, `errors`, `reassociates`, `threadprivate` and `getters` as the parser's.
    Over the whole program tell: `body_of` which function a declaration means, `rivals` where its
    definitions are if nothing says which is meant, `calls_of` the calls of a function with the
    functions they stand in, `calls_through` those through members of structs where they are known,
    `writers_of` the functions that may set a global variable, `setters_of` those whose text sets a
    member of that name,
    `variable_of` its declaration with its first value, `set_once` the value that one place alone
    gives to an integer in structs or in an array, `set_at` the one place that sets it, if any does
    (None: there may be several), `all_sets_of` all that may set a member, each with its function
    (None: others may, too), `is_pointed` whether a function may be called through a pointer,
    `functions_at` what is put where a call finds its function, in a member or in a table (None:
    that is not known), and `objects` what the one object of a class is called, for the classes that
    have one. `lengths`: how long the containers are that are
    members. Two keep answers for all units: `effects` tells what expressions and statements set,
    and who looks for what is written to the variables of a function puts it into `writes`.
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
    variable_of: Callable[[Decl], Decl]
    set_once: Callable[[Stored], SetValue | None]
    set_at: Callable[[Stored], list[SetPlace] | None]
    all_sets_of: Callable[[Stored], list[tuple[Function, Expression]] | None]
    is_pointed: Callable[[Decl], bool]
    functions_at: Callable[[Expression], list[PutValue] | None]
    objects: Mapping[str, str] = field(default_factory=dict)
    getters: frozenset[tuple[str, str]] = frozenset()
    lengths: Mapping[Decl, Length] = field(default_factory=dict)
    effects: Effects = field(default_factory=Effects)
    writes: dict[Function, Writes] = field(default_factory=dict)

    def handed_to(
        self, parameter: Decl, function: Function
    ) -> list[tuple[Function, CallExpr, Expression]]:
        """What calls in other functions hand to a parameter, each call with its function; none
        where nobody calls, or one hands over too few."""
        position = function.parameters.index(parameter)
        calls = [
            (caller, call) for caller, call in self.calls_of(function.decl)
            if caller.decl is not function.decl
        ]  # fmt: skip
        if any(position >= len(call.args) for _, call in calls):
            return []
        return [(caller, call, call.args[position]) for caller, call in calls]
