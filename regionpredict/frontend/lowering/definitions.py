"""Finds the values of a region's names in the source: `int ni = 4000;`, `kernel(4000, ...)`.

A name has a definition if it has only one value, and the sources show this value. The value is an
initializer, a single assignment, or an argument that is the same in all calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.allocated_lengths import AllocatedLength, AllocatedLengths
from regionpredict.frontend.lowering.caller_counters import Range, range_at_call
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.pointed_members import PointedMembers
from regionpredict.frontend.lowering.pointer_expressions import is_label_without_name
from regionpredict.frontend.lowering.single_assignments import SingleAssignments
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.program_arguments import values_in
from regionpredict.frontend.syntax import (
    CallExpr,
    Decl,
    Directive,
    Expression,
    Function,
    Index,
    Member,
    Name,
    every_expression,
    is_outside,
    set_place,
    without_casts,
)
from regionpredict.frontend.syntax.binary_operators import BY_IF
from regionpredict.frontend.syntax.integer_types import converted, type_of
from regionpredict.ir import Definition, Expr, Span

_MAX_STEPS = 200


def definitions_of(
    unit: LinkedUnit, function: Function, context: Context, site: Directive | None = None
) -> tuple[Definition, ...]:
    """Returns the definitions of the region's free names, and of the names in these definitions.

    `site` is the region's directive. In its function, only the code before it is considered.
    """
    finder = _DefinitionFinder(unit, context, function, site)
    homes: dict[str, Function] = dict.fromkeys(context.invariants, function)
    definitions: dict[str, Definition] = {}
    for name, field in list(context.members.items()):
        if field in unit.lengths:  # the length of a container: `domain.m_x[]`
            held = unit.lengths[field]
            value = context.value(held.value, Frame({}))
            homes.update((other, held.function) for other in value.names if other not in homes)
            definitions[f"{name}[]"] = Definition(f"{name}[]", value, held.function.span)
    for name, length in _allocated_lengths(unit, function, context).items():
        if name not in definitions:
            definitions[name] = Definition(name, length.elements, length.function.span)
            for other in length.elements.names:
                homes.setdefault(other, length.function)
    stored = _StoredDefinitions(finder, definitions, homes)
    stored.add()
    waiting = sorted(set(context.invariants) | {n for d in definitions.values()
                                                for n in d.value.names})  # fmt: skip
    steps = 0
    while waiting and steps < _MAX_STEPS:
        steps += 1
        name = waiting.pop()
        decl = context.invariants.get(name)
        if decl is None or name in definitions:
            continue
        result = finder.value_of(decl, homes.get(name, function))
        if result is None:
            counted = finder.range_of_counter(name, decl, homes.get(name, function))
            if counted is None:
                continue
            (low, high), home = counted
            middle = Expr.atom("floordiv", low + high, Expr.const(2))
            definition = Definition(name, middle, decl.span, (low, high))
        else:
            definition, home = Definition(name, result[0], decl.span), result[1]
        value = definition.value
        if name in value.names or _is_unnamed(value):
            continue
        definitions[name] = definition
        for other in value.names:
            homes.setdefault(other, home)
            waiting.append(other)
        waiting += stored.add()
    for name, home in homes.items():
        context.homes.setdefault(_variable_of(name), home)
    return _without_undecided(definitions)


def _variable_of(name: str) -> str:
    """Returns the variable at the start of an access path: `s` for `s->n`."""
    return re.split(r"[.\[(]|->", name, maxsplit=1)[0]


def _allocated_lengths(
    unit: LinkedUnit, function: Function, context: Context
) -> dict[str, AllocatedLength]:
    """Returns the allocated lengths of arrays whose declaration has no length. The key is `x[]` for
    the array `x`.
    """
    lengths = AllocatedLengths(unit, context)
    lengths_by_name: dict[str, AllocatedLength] = {}
    named = context.declarations()
    for name, array in list(context.arrays.items()):
        if not array.dims or array.dims[0] is not None:
            continue
        length = None
        if name in context.members:
            length = lengths.of_member(context.members[name], function, array.element_bytes)
        elif name in named and named[name][1] == 0:
            length = lengths.of_variable(named[name][0], function, array.element_bytes)
        if length is not None and not any(map(_is_of_renamed_variable, length.elements.names)):
            lengths_by_name[f"{name}[]"] = length
    return lengths_by_name


def _is_of_renamed_variable(name: str) -> bool:
    """Returns whether the name is a member of a variable that was renamed with a prime: `a'.n`."""
    return "'" in name.partition(".")[0].partition("->")[0] and not name.endswith("'")


def _is_unnamed(value: Expr) -> bool:
    """Returns whether part of the value has no name that a user can set, such as the result of
    `rows("mesh")`.
    """
    return any(
        atom.kind == "varying" and is_label_without_name(atom.label) for atom in value.atoms()
    )


def _without_undecided(definitions: dict[str, Definition]) -> tuple[Definition, ...]:
    """Returns the definitions sorted by name, without those that depend on an unknown condition.

    For `if (debug) n = 10;`, users set `n`, not `debug`.
    """
    known: dict[str, Expr] = {}
    for _ in definitions:  # each pass evaluates another name of a chain
        expressions = {
            name: value
            for name, definition in definitions.items()
            if name not in known
            and (value := definition.value.substitute(known)).constant is not None
        }
        if not expressions:
            break
        known.update(expressions)
    undecided = {
        name for name, definition in definitions.items()
        if name not in known and any(atom.label == BY_IF for atom in definition.value.atoms())
    }  # fmt: skip
    if not undecided:
        return tuple(definitions[name] for name in sorted(definitions))
    used = {name for definition in definitions.values() for name in definition.value.names}
    kept = {name: definition for name, definition in definitions.items() if name not in undecided}
    still = {name for definition in kept.values() for name in definition.value.names}
    return tuple(kept[name] for name in sorted(kept) if name in still or name not in used)


class _StoredDefinitions:
    """Adds the definitions of struct members and array elements, and of further ones in their
    values.
    """

    def __init__(
        self,
        finder: _DefinitionFinder,
        definitions: dict[str, Definition],
        homes: dict[str, Function],
    ) -> None:
        self._finder = finder
        self._definitions = definitions
        self._homes = homes
        self._seen: set[str] = set()

    def add(self) -> list[str]:
        """Adds definitions of unprocessed members and elements. Returns the names in their
        values.
        """
        new: list[str] = []
        uses = self._finder.context.stored_uses
        while len(self._seen) < len(uses):
            for name, use in list(uses.items()):
                if name not in self._seen:
                    self._seen.add(name)
                    new += self._define_name(name, use)
        return new

    def _define_name(self, name: str, use: Member | Index) -> list[str]:
        home = self._homes.get(name) or self._finder.set_once.readers.get(name)
        stored = self._finder.member_value(use, home)
        if stored is None or name in stored[0].names or name in self._definitions:
            return []
        value, home = stored
        span = use.field.span if isinstance(use, Member) else use.span
        self._definitions[name] = Definition(name, value, span)
        for other in value.names:
            self._homes.setdefault(other, home)
        return sorted(value.names)


class _DefinitionFinder:
    def __init__(
        self, unit: LinkedUnit, context: Context, function: Function, site: Directive | None
    ) -> None:
        self.unit = unit
        self.context = context
        self.function = function
        self.site = site
        self.values = values_in(unit, function) if site is not None else None
        self.pointed = PointedMembers(unit, context)
        self.set_once = SingleAssignments(unit, context, self.pointed)
        self._counters: dict[str, tuple[Range, Function] | None] = {}

    def member_value(
        self, use: Member | Index, home: Function | None = None
    ) -> tuple[Expr, Function] | None:
        """Returns the value of a struct member or array element, and the function that declares the
        names in the value.

        The value is that at the directive or of the only assignment. If both are unknown, the
        member's name is expressed through the object to which a pointer refers. `home` is the
        function that uses the member.
        """
        held = self._value_at_directive(use) if isinstance(use, Member) else None
        if held is not None:
            return held, self.function
        once = self.set_once.value_of(use, type_of(use))
        if once is not None:
            return once[0], once[1] or self.function
        return self.pointed.name_at_origin(use, home or self.function)

    def _value_at_directive(self, use: Name | Member) -> Expr | None:
        """Returns the value of a variable or member at the directive, in the region's names.
        Returns None if it is unknown.
        """
        known = self.values.value(self.site, use) if self.values and self.site else None
        if known is None:
            return None
        value, uses = known
        return value.substitute(
            {name: self.context.value(use, Frame({})) for name, use in sorted(uses.items())}
        )

    def _outlives_function(self, use: Name) -> bool:
        if self.values is None or self.site is None:
            return False
        return self.values.uses_old_values(self.site, use)

    def value_of(self, decl: Decl, function: Function) -> tuple[Expr, Function] | None:
        """Returns the only value of a variable, and the function that declares the names in the
        value. Returns None if the variable has no definition.
        """
        if decl.ctype.kind != "int" or decl.is_volatile:
            return None
        use = Name(decl, decl.span)
        if function is self.function:
            held = self._value_at_directive(use)
            if held is not None:
                return held, function
        if decl.kind in ("global", "static"):
            decl = self.unit.variable_of(decl)
            writers = self.unit.writers_of(decl)
            if decl.init is not None and not writers:
                return self.context.value(decl.init, Frame({})), function
            return self._global_value(decl, writers) if decl.init is None else None
        if decl.kind == "parameter" and decl not in function.parameters:
            return None
        if function is self.function and self._outlives_function(use):
            return None
        is_set = self.unit.is_set(decl, function)
        if decl.kind == "parameter":
            return self._argument_value(decl, function) if not is_set else None
        value_expression = decl.init
        if is_set:
            value_expression = (
                self._single_assignment(decl, function) if value_expression is None else None
            )
        if value_expression is None or (
            function is self.function and self._reads_later_assigned(value_expression, decl.span)
        ):
            return None
        return converted(self.context.value(value_expression, Frame({})), decl.ctype), function

    def _reads_later_assigned(self, value: Expression, at: Span) -> bool:
        """Returns whether the value reads a struct member that the function assigns later: `m =
        s.n; s.n = 5;`.
        """
        read = {e.field.name for e in every_expression(value) if isinstance(e, Member)}
        sets = self.unit.changes_in(self.function).sets
        places = (set_place(e) for name in read for e in sets.get(name, ()))
        return any(isinstance(place, Member) and place.span > at for place in places)

    def _global_value(self, decl: Decl, writers: list[Function]) -> tuple[Expr, Function] | None:
        """Returns the value of the program's only assignment to a global variable (`lastrow = NA;`
        in `main`).
        """
        if len(writers) != 1:
            return None
        (function,) = writers
        value = self._single_assignment(decl, function)
        return None if value is None else (self.context.value(value, Frame({})), function)

    def _single_assignment(self, decl: Decl, function: Function) -> Expression | None:
        """Returns the value of the only assignment to a variable in a function. Returns None if the
        assignment is in a loop.
        """
        values = self.unit.changes_in(function).values_of(decl) or []
        value, by = values[0] if len(values) == 1 else (None, None)
        return value if by is not None and is_outside(by, function) else None

    def range_of_counter(
        self, name: str, decl: Decl, function: Function
    ) -> tuple[Range, Function] | None:
        """Returns the range of a parameter whose arguments are loop counters of the callers, and
        the caller. Returns None if the ranges differ.
        """
        if name in self._counters:
            return self._counters[name]
        if decl.kind != "parameter" or decl not in function.parameters:
            return None
        if self.unit.is_set(decl, function):
            return None
        ranges = []
        for caller, call, argument in self.unit.arguments_passed_to(decl, function):
            if not isinstance(argument, Name):
                return None
            known = range_at_call(argument.decl, call, caller, self.unit, self.context)
            ranges.append((known, caller))
        return _common_range(ranges)

    def _record_counters(self, value: Expr, calls: Sequence[tuple[Function, CallExpr]]) -> None:
        """Records the ranges of names in an argument that are counters of loops around the
        calls.
        """
        named = self.context.declarations()
        for name in value.names & named.keys():
            decl = named[name][0]
            if decl.kind == "local":
                ranges = [
                    (range_at_call(decl, call, caller, self.unit, self.context), caller)
                    for caller, call in calls
                ]
                self._counters[name] = _common_range(ranges)

    def _argument_value(self, decl: Decl, function: Function) -> tuple[Expr, Function] | None:
        position = function.parameters.index(decl)
        values: list[tuple[Expr, Function]] = []
        calls: list[tuple[Function, CallExpr]] = []
        pointed = self.unit.has_pointer(function.decl)
        through = self.unit.calls_through(function.decl) if pointed else []
        for caller, call in (*self.unit.calls_of(function.decl), *through):
            if position >= len(call.args):
                return None
            argument = without_casts(call.args[position])
            if caller.decl is function.decl and isinstance(argument, Name) and (
                argument.decl is decl
            ):  # fmt: skip
                continue  # a recursive call passes the parameter unchanged
            values.append((self.context.value(call.args[position], Frame({})), caller))
            calls.append((caller, call))
        if values and all(value == values[0][0] for value, _ in values):
            self._record_counters(values[0][0], calls)
            return values[0]
        arguments = [(caller, call, call.args[position]) for caller, call in calls]
        return values[0] if values and self.set_once.have_one_value(arguments) else None


def _common_range(
    ranges: Sequence[tuple[Range | None, Function]],
) -> tuple[Range, Function] | None:
    """Returns the range if all callers have the same one. Returns None if they differ or one is
    unknown.
    """
    if not ranges:
        return None
    first, home = ranges[0]
    return None if first is None or any(r != first for r, _ in ranges) else (first, home)
