"""Possible writes of code that is not interpreted step by step. C types limit their targets.

*p = 0;           an element of any array of int, or an int whose address is taken,
                  if p is an unknown int * (C11, sec. 6.5, 7)
s->cells = n;     the member `cells` of any struct, if s is unknown
solve(&grid);     all such writes of the function, and of the functions that it calls
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import NamedTuple

from regionpredict.frontend.program_arguments.memory import (
    Address,
    Arguments,
    Contents,
    Memory,
    Steps,
    Text,
    Value,
)
from regionpredict.frontend.syntax import (
    INCREMENT_OPERATORS,
    Assign,
    CallExpr,
    Cast,
    CType,
    Decl,
    Expression,
    Function,
    Member,
    Name,
    Unary,
    all_expressions,
    has_side_effects,
    is_memory,
    set_place,
    without_casts,
)
from regionpredict.frontend.syntax.integer_types import type_of
from regionpredict.ir.reached import reached

_ANY = "any"
_KINDS = frozenset(("int", "float", "pointer"))
_IN_FILE = ("global", "static")


class PossibleWrites(NamedTuple):
    """The possible writes of some code.

    `variables` are global variables. `members` are member names, and `reals` the names of
    floating-point members. `kinds` are the kinds of values that are written through pointers and
    indices ("any" for all).
    """

    variables: frozenset[Decl] = frozenset()
    members: frozenset[str] = frozenset()
    reals: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()

    def union(self, other: PossibleWrites) -> PossibleWrites:
        """Returns the union of two sets of possible writes."""
        return PossibleWrites(
            self.variables | other.variables, self.members | other.members,
            self.reals | other.reals, self.kinds | other.kinds,
        )  # fmt: skip


NOTHING = PossibleWrites()


def kind_of(ctype: CType) -> str:
    """Returns the kind of a write to a value of this type."""
    return ctype.kind if ctype.kind in _KINDS else _ANY


def written_to(target: Expression) -> PossibleWrites:
    """Returns the possible writes of an assignment, except to local variables."""
    target = without_casts(target)
    if isinstance(target, Name):
        named = target.decl.kind in _IN_FILE
        return PossibleWrites(variables=frozenset((target.decl,))) if named else NOTHING
    if isinstance(target, Member):
        name = frozenset((target.field.name,))
        return (
            PossibleWrites(reals=name)
            if target.field.ctype.kind == "float"
            else PossibleWrites(members=name)
        )
    if is_memory(target):
        return PossibleWrites(kinds=frozenset((kind_of(type_of(target)),)))
    return NOTHING


def is_float_element(target: Expression) -> bool:
    """Whether the target is a floating-point number in an array or pointer target."""
    return not isinstance(target, Member) and is_memory(target) and type_of(target).kind == "float"


def filled_by(expression: Expression) -> PossibleWrites | None:
    """Returns the write of a floating-point assignment to a variable or an element. None for any
    other statement, and for assignments with other effects.
    """
    if not isinstance(expression, Assign) or has_side_effects(expression.left, expression.right):
        return None
    target = expression.left
    if isinstance(target, Name) and target.decl.ctype.kind == "float":
        return PossibleWrites(variables=frozenset((target.decl,)))
    return written_to(target) if is_float_element(target) else None


class AddressesTaken(NamedTuple):
    """The variables and struct members whose address a program takes."""

    variables: frozenset[Decl]
    members: frozenset[str]


def addresses_taken(bodies: Iterable[Function], is_own: Callable[[Decl], bool]) -> AddressesTaken:
    """Returns the variables and members that pointers may point to. Functions outside the program
    are assumed to store no addresses.
    """
    variables, members = set[Decl](), set[str]()
    for body in bodies:
        passed_outside = set[int]()
        for expression in all_expressions(body):
            if isinstance(expression, CallExpr) and (
                expression.decl is not None and not is_own(expression.decl)
            ):
                passed_outside.update(id(without_casts(argument)) for argument in expression.args)
            if (
                not isinstance(expression, Unary)
                or expression.op != "&"
                or id(expression) in passed_outside
            ):
                continue
            target = without_casts(expression.operand)
            if isinstance(target, Name):
                variables.add(target.decl)
            elif isinstance(target, Member):
                members.add(target.field.name)
    return AddressesTaken(frozenset(variables), frozenset(members))


class WrittenByCalls:
    """Determines the possible writes of a program's functions. Results are cached."""

    def __init__(
        self, body_of: Callable[[Decl], Function | None], bodies: Callable[[], Iterable[Function]]
    ) -> None:
        self._body_of, self._bodies = body_of, bodies
        self._own: dict[Function, tuple[PossibleWrites, list[Function]]] = {}

    def by(self, expressions: Iterable[Expression]) -> PossibleWrites:
        """Returns the writes of expressions, and of the functions that they call."""
        written, called = self._direct_writes(expressions)
        return written.union(self.by_functions(called))

    def by_functions(self, functions: Iterable[Function]) -> PossibleWrites:
        """Returns the writes of functions and everything they call."""
        written = NOTHING
        for function in reached(functions, lambda function: self._direct_writes_of(function)[1]):
            written = written.union(self._direct_writes_of(function)[0])
        return written

    def through_pointer(self, call: CallExpr) -> PossibleWrites:
        """Returns the writes of a call through an unknown pointer. It may call any function with
        this number of arguments.
        """
        return self.by_functions(self._functions_with_arguments(len(call.args)))

    def _functions_with_arguments(self, count: int) -> list[Function]:
        return [body for body in self._bodies() if len(body.parameters) == count]

    def _direct_writes_of(self, function: Function) -> tuple[PossibleWrites, list[Function]]:
        known = self._own.get(function)
        if known is None:
            known = self._own[function] = self._direct_writes(all_expressions(function))
        return known

    def _direct_writes(
        self, expressions: Iterable[Expression]
    ) -> tuple[PossibleWrites, list[Function]]:
        written, called = NOTHING, list[Function]()
        for expression in expressions:
            if isinstance(expression, Assign) or (
                isinstance(expression, Unary) and expression.op in INCREMENT_OPERATORS
            ):
                target = set_place(expression)
                if target is not None:
                    written = written.union(written_to(target))
            call = expression.constructor if isinstance(expression, Cast) else expression
            if not isinstance(call, CallExpr):
                continue
            body = self._body_of(call.decl) if call.decl is not None else None
            if body is not None:
                called.append(body)
            elif call.pointer is not None:
                called += self._functions_with_arguments(len(call.args))
            else:
                written = written.union(self._writes_of_external(call))
        return written, called

    def _writes_of_external(self, call: CallExpr) -> PossibleWrites:
        """Returns the writes of a function without a visible body, through the addresses in its
        arguments.
        """
        written = NOTHING
        for argument in map(without_casts, call.args):
            if isinstance(argument, Unary) and argument.op == "&":
                written = written.union(written_to(argument.operand))
        return written


def forget_written(
    memory: Memory, written: PossibleWrites, taken: AddressesTaken, untouched: dict[Decl, Contents]
) -> None:
    """Removes from a memory all values that may have been overwritten.

    `taken` are the variables and members whose address the program takes.

    `untouched` are contents of variables that this write certainly leaves unchanged. The function
    adds to it, since loops repeat the write.
    """
    if written == NOTHING:
        return
    everything = _ANY in written.kinds
    members = written.members | written.reals
    reached = members | taken.members if written.kinds else members
    for decl, contents in memory.known():
        if untouched.get(decl) is contents:
            continue
        summary = summary_of(contents)
        own = _declared_kinds(decl) or summary.kinds
        kinds = own if everything else own & written.kinds
        named = decl in written.variables
        pointed = decl in taken.variables
        if (
            named
            or (kinds and (pointed or summary.has_elements))
            or not (reached.isdisjoint(summary.members))
        ):
            memory.keep_if(
                decl,
                lambda at, value: not (
                    named or not members.isdisjoint(at)  # noqa: B023
                    or (kinds and _has_kind(value, written.kinds)  # noqa: B023
                        and _may_be_pointed_to(at, pointed, taken.members))  # noqa: B023
                ),
            )  # fmt: skip
        left = memory.contents(decl)
        if left is not None:
            untouched[decl] = left


def _declared_kinds(decl: Decl) -> frozenset[str]:
    """Returns the kind of a number, of a pointer, or of an array of these, by its declaration.
    Empty for other types and for blocks of memory.
    """
    kind = decl.ctype.innermost.kind
    return frozenset((kind,)) if kind in _KINDS else frozenset()


def _may_be_pointed_to(at: Steps, pointed: bool, members: Set[str]) -> bool:
    """Whether a pointer to a number may point to this memory location. It must be an array element,
    or its address must be taken.
    """
    last = at[-1] if at else None
    return pointed if last is None else isinstance(last, int) or last in members


def _has_kind(value: Value, kinds: Set[str]) -> bool:
    return bool(kinds) and (_ANY in kinds or not kinds.isdisjoint(_kinds_of(value)))


class _Summary(NamedTuple):
    """The member names on the paths to values of a variable, the kinds of these values, and whether
    one of them is an array element.
    """

    members: frozenset[str]
    kinds: frozenset[str]
    has_elements: bool


_SUMMARIES: dict[int, tuple[Contents, _Summary]] = {}
_MOST_SUMMARIES = 50_000


def summary_of(contents: Contents) -> _Summary:
    """Returns the summary of a variable's contents. Results are cached, since contents never
    change.
    """
    known = _SUMMARIES.get(id(contents))
    if known is not None:
        return known[1]
    summary = _Summary(
        frozenset(step for at in contents for step in at if isinstance(step, str)),
        frozenset(kind for value in contents.values() for kind in _kinds_of(value)),
        any(at and isinstance(at[-1], int) for at in contents),
    )
    if len(_SUMMARIES) >= _MOST_SUMMARIES:
        _SUMMARIES.clear()
    _SUMMARIES[id(contents)] = (
        contents,
        summary,
    )  # keeps `contents` alive, so that its id stays unique
    return summary


def _kinds_of(value: Value) -> frozenset[str]:
    if isinstance(value, int):
        return _WHOLE if value else _NULL
    if isinstance(value, float):
        return _REAL
    return _POINTER if isinstance(value, (Address, Arguments, Text)) else _KINDS


_WHOLE, _NULL = frozenset(("int",)), frozenset(("int", "pointer"))
_REAL, _POINTER = frozenset(("float",)), frozenset(("pointer",))
