"""Converts the syntax tree of a function to a `Flow`, the ordered list of its memory writes.

double *a = malloc(n * 8);              link a = new
for (int i = 0; i < n; i++) a[i] = 0;   loop: write *a
kernel(n, a);                           call kernel(-, *a)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from regionpredict.frontend.memory_effects.container_elements import new_elements
from regionpredict.frontend.syntax import (
    INCREMENT_OPERATORS,
    Assign,
    Binary,
    CallExpr,
    Cast,
    Compound,
    CType,
    Deciding,
    Decl,
    DeclStmt,
    Directive,
    Effects,
    Expression,
    ExprStmt,
    For,
    Function,
    If,
    Index,
    Member,
    Name,
    Opaque,
    Pragma,
    RangeFor,
    Return,
    Stmt,
    Switch,
    Ternary,
    Unary,
    While,
    condition_of,
    constructor_call,
    continues_early,
    every_expression,
    expressions_in,
    initial_values,
    is_place,
    left_early,
    member_named,
    own_expressions,
    returns_early,
    show,
    sides_of,
    subexpressions,
)
from regionpredict.frontend.syntax.integer_types import type_of
from regionpredict.ir.flow import (
    BEHIND_RETURN,
    Block,
    CallEvent,
    Copied,
    Event,
    Flow,
    Link,
    Place,
    Returned,
    Write,
)
from regionpredict.ir.source import Span
from regionpredict.library import allocated

_ONE_THREAD = frozenset(("single", "master", "masked"))

CLASS_END = "\0"
"""Separates the name of a class from that of its member. The character occurs in no name."""
Names = tuple[tuple[str, Place], ...]


def flows_of(functions: Iterable[Function]) -> list[Flow]:
    """Returns the memory writes of each function as a `Flow`."""
    effects = Effects()
    return [_FlowBuilder(effects).flow(function) for function in functions]


def names_in(loop: For) -> Names:
    """Returns the arrays in a loop: their names in the region and their memory locations."""
    return _FlowBuilder(Effects()).names_in(loop)


class _FlowBuilder:
    """Builds the `Flow` of one function."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.varying_in_loops: list[frozenset[Decl]] = []  # per enclosing loop
        self.calls = 0
        self.at = Span("", 0)  # the current statement
        self.parameters: dict[str, int] = {}

    def flow(self, function: Function) -> Flow:
        parameters = tuple(_variable_location(decl) for decl in function.parameters)
        self.parameters = {decl.name: at for at, decl in enumerate(function.parameters)}
        events: list[Event] = []
        for initialiser in function.initialisers:
            if isinstance(initialiser, Assign):
                self._add_initial_value(initialiser.left, initialiser.right, events)
            else:
                self._add_expression(initialiser, events)
        events += self._statement_events(function.body)
        return Flow(function.name, parameters, tuple(events), function.span)

    # -- statements -----------------------------------------------------------------------------

    def _statement_events(self, statement: Stmt | None) -> list[Event]:
        self.at = getattr(statement, "span", self.at)
        handler = _STATEMENTS.get(type(statement))
        if handler is not None:
            return handler(self, statement)
        events: list[Event] = []
        for expression in own_expressions(statement) if statement is not None else ():
            self._add_expression(expression, events)
        return events

    def _compound_events(self, statement: Compound) -> list[Event]:
        events: list[Event] = []
        for at, item in enumerate(statement.items):
            events += self._statement_events(item)
            if not isinstance(item, If):
                continue
            returns = not self.varying_in_loops and returns_early(item)
            if returns or continues_early(item):
                behind = self._compound_events(statement._replace(items=statement.items[at + 1 :]))
                note = BEHIND_RETURN if returns else ""
                if behind:
                    events.append(Block("branch", tuple(behind), item.span, note=note, side=1))
                break
        return events

    def _declaration_events(self, statement: DeclStmt) -> list[Event]:
        if sides_of(statement):
            return self._conditional_events(statement)
        events: list[Event] = []
        for decl in statement.decls:
            if decl.init is not None and decl.kind != "static":
                if self.varying_in_loops and self._varies_in_loop(decl.init):
                    self.varying_in_loops[-1] |= {decl}
                self._add_initial_value(Name(decl, decl.span), decl.init, events)
        return events

    def _add_initial_value(
        self, target: Expression, value: Expression, events: list[Event]
    ) -> None:
        """Adds the evaluation of a value, and its assignment or the call of its constructor."""
        call = constructor_call(Unary("&", target, self.at), value)
        if call is None:
            self._add_expression(value, events)
            self._add_assignment(target, value, events)
            return
        for argument in call.args[1:]:
            self._add_expression(argument, events)
        self._add_call(call, events)

    def _for_events(self, loop: For) -> list[Event]:
        events = self._statement_events(loop.init)
        written = set(self.effects.written_in(loop.body))
        for part in (loop.condition, loop.increment):
            if part is not None:
                written |= self.effects.of(part).keys()
        return events + self._loop_events(loop, frozenset(written), loop.increment)

    def _while_events(self, loop: While | RangeFor) -> list[Event]:
        written = self.effects.written_in(loop)
        if isinstance(loop, RangeFor) and loop.variable is not None:
            written |= {loop.variable}
        return self._loop_events(loop, written, None)

    def _loop_events(
        self, loop: For | While | RangeFor, written: frozenset[Decl], increment: Expression | None
    ) -> list[Event]:
        inside: list[Event] = []
        self.varying_in_loops.append(written)
        if not isinstance(loop, RangeFor) and loop.condition is not None:
            self._add_expression(loop.condition, inside)
        inside += self._statement_events(loop.body)
        if increment is not None:
            self._add_expression(increment, inside)
        self.varying_in_loops.pop()
        # A loop that only reads also takes time. Whether threads share it manually is unknown here.
        return [Block("loop", tuple(inside), loop.span, note=left_early(loop))]

    def _conditional_events(self, statement: Deciding) -> list[Event]:
        events: list[Event] = []
        condition = condition_of(statement)
        if condition is not None:
            self._add_expression(condition, events)
        return events + self._branch_events(statement)

    def _expression_statement_events(self, statement: ExprStmt) -> list[Event]:
        if sides_of(statement):
            return self._conditional_events(statement)
        events: list[Event] = []
        self._add_expression(statement.expr, events)
        return events

    def _branch_events(self, statement: Deciding) -> list[Event]:
        """Returns the branches of a condition that contain events, with their numbers."""
        events: list[Event] = []
        for number, side in enumerate(sides_of(statement)):
            inside = [event for part in side.body for event in self._statement_events(part)]
            if inside:
                events.append(Block("branch", tuple(inside), statement.span, side=number))
        return events

    def _return_events(self, statement: Return) -> list[Event]:
        if sides_of(statement):
            return self._conditional_events(statement)
        events: list[Event] = []
        if statement.value is not None:
            self._add_expression(statement.value, events)
            place = self._target_memory(statement.value, events)
            value = self._struct_location(statement.value, events) if place is None else None
            if place is not None or value is not None:
                events.append(Returned(place or value or (), by_value=place is None))
        return events

    def _directive_events(self, statement: Directive) -> list[Event]:
        pragma: Pragma = statement.pragma
        directive_tokens = pragma.kind.split()
        inside = self._statement_events(statement.body)
        names: Names = ()
        if pragma.is_loop and statement.body is not None:
            names = self.names_in(statement.body)
        if not inside and not names:
            return []
        if directive_tokens[0] in _ONE_THREAD:
            return [Block("one", tuple(inside), statement.span)]
        if directive_tokens[0] == "critical":
            return [Block("exclusive", tuple(inside), statement.span)]
        if pragma.is_task:
            return [Block("task", tuple(inside), statement.span)]
        if pragma.is_loop:
            inside = [Block("share", tuple(inside), statement.span, names)]
        if "parallel" in directive_tokens and not _has_one_thread(pragma):
            inside = [Block("parallel", tuple(inside), statement.span)]
        if "target" in directive_tokens:
            inside = [Block("elsewhere", tuple(inside), statement.span)]
        return inside

    def names_in(self, statement: Stmt) -> Names:
        """Returns the arrays in a statement: their region names and memory locations."""
        places: dict[str, Place] = {}
        for expression in expressions_in(statement):
            if isinstance(expression, (Name, Member)):
                ctype = type_of(expression)
                rows = _dereferences(ctype)
                place = self._target_memory(expression, None) if rows is not None else None
                place = place if place is None else (*place, *(rows or ()))
                name = _name_in_region(expression) if place is not None else None
                if place is not None and name is not None:
                    places.setdefault(name, place)
                    if isinstance(expression, Member) and (
                        general := _class_member_name(expression)
                    ):
                        places.setdefault(general, place)
        return tuple(places.items())

    # -- expressions ----------------------------------------------------------------------------

    def _add_expression(self, expression: Expression, events: list[Event]) -> None:
        """Adds the calls and writes in an expression. Calls in arguments precede the call that
        receives the arguments.
        """
        if isinstance(expression, Assign):
            self._add_expression(expression.right, events)
            for inner in subexpressions(expression.left):
                self._add_expression(inner, events)
            self._add_element_store(expression.left, events)
            if expression.op == "=":
                self._add_assignment(expression.left, expression.right, events)
            return
        for inner in subexpressions(expression):
            self._add_expression(inner, events)
        if isinstance(expression, Unary) and expression.op in INCREMENT_OPERATORS:
            self._add_element_store(expression.operand, events)
        elif isinstance(expression, CallExpr):
            self._add_call(expression, events)

    def _add_call(self, call: CallExpr, events: list[Event]) -> Place:
        if (made := new_elements(call)) is not None:
            self._add_assignment(*made, events)
        known = call.decl is not None or allocated(call.name) is not None
        name = call.name if known else ""
        pointer = "" if call.pointer is None or call.decl is not None else show(call.pointer)
        for event in events:  # `_target_memory` may visit the same call twice
            if isinstance(event, CallEvent) and (event.span, event.function, event.pointer) == (
                call.span, name, pointer
            ):  # fmt: skip
                return (*event.result, "*")
        self.calls += 1
        slot = (f"{call.name}()@{self.calls}",)
        arguments = tuple(self._target_memory(argument, events) for argument in call.args)
        functions = tuple(
            (at, passed) for at, argument in enumerate(call.args)
            if (passed := self._function_argument(argument)) is not None
        )  # fmt: skip
        structs = (
            (at, self._struct_location(argument, events)) for at, argument in enumerate(call.args)
        )
        struct_arguments = tuple((at, place) for at, place in structs if place is not None)
        seen = call.decl is not None
        parameter = None if seen or call.method else self.parameters.get(call.name)
        events.append(
            CallEvent(
                name, arguments, slot, call.span, functions, parameter, struct_arguments, pointer
            )
        )
        return (*slot, "*")

    def _function_argument(self, argument: Expression) -> str | int | None:
        """Returns the function whose address is an argument, or the position of the parameter that
        may contain it.
        """
        while isinstance(argument, Cast) or (
            isinstance(argument, Unary) and argument.op in ("&", "*")
        ):
            argument = argument.operand
        if not isinstance(argument, Name):
            return None
        if argument.decl.kind == "function":
            return argument.decl.name
        is_pointer = argument.decl.kind == "parameter" and argument.decl.ctype.kind == "pointer"
        return self.parameters.get(argument.decl.name) if is_pointer else None

    def _add_assignment(self, target: Expression, value: Expression, events: list[Event]) -> None:
        decl = target.decl if isinstance(target, Name) else None
        ctype = type_of(target)
        if ctype.kind == "struct" and (elements := initial_values(value)) is not None:
            if (place := self._location_of_lvalue(target, events)) is not None:
                self._add_member_initializers(place, elements, events)
            return
        if (source := self._struct_location(value, events)) is not None:
            if (copy := self._location_of_lvalue(target, events)) is not None:
                events.append(Copied(copy, source, self.at))
            return
        if ctype.kind != "pointer" and not (decl is not None and _is_array_parameter(decl)):
            return
        slot = self._location_of_lvalue(target, events)
        if slot is not None:
            events.append(Link(slot, self._target_memory(value, events), self.at))

    def _add_member_initializers(
        self, place: Place, elements: Sequence[Expression], events: list[Event]
    ) -> None:
        """Adds the members of a struct that an initializer list sets to addresses or to other
        structs.
        """
        for named in filter(None, map(member_named, elements)):
            member, value = (*place, f".{named[0]}"), named[1]
            if (inner := initial_values(value)) is not None:
                self._add_member_initializers(member, inner, events)
            elif (source := self._struct_location(value, events)) is not None:
                events.append(Copied(member, source, self.at))
            elif (memory := self._target_memory(value, events)) is not None:
                events.append(Link(member, memory, self.at))

    def _add_element_store(self, target: Expression, events: list[Event]) -> None:
        """Adds a store to array elements whose subscript changes with a loop. Plain variables and
        fixed rows are excluded.
        """
        if type_of(target).kind in ("pointer", "array"):
            return
        levels: list[bool] = []
        inner: Any = target
        while True:
            if isinstance(inner, Cast):
                inner = inner.operand
            elif isinstance(inner, Index):
                levels.append(self._varies_in_loop(inner.index))
                inner = inner.base
            elif (
                isinstance(inner, Member)
                and inner.base is not None
                and (not inner.arrow or isinstance(inner.base, (Index, Unary)))
            ):
                inner = inner.base
            elif isinstance(inner, Unary) and inner.op == "*":
                if (
                    levels
                    and isinstance(inner.operand, Name)
                    and not self._varies_in_loop(inner.operand)
                ):
                    break  # `(*out)[i]`: the memory of the caller's pointer
                levels.append(self._varies_in_loop(inner.operand))
                inner = inner.operand
            else:
                break
        fixed = [level for level in levels if not level]
        # One of three dimensions may be constant, for example if one of two grids is written.
        if not levels or (fixed and (len(levels) < 3 or levels[-1] or len(fixed) > 1)):
            return
        place = self._location_of_lvalue(target, events)
        if place is not None:
            events.append(Write(place, not fixed, self.at))

    def _varies_in_loop(self, expression: Expression) -> bool:
        """Whether a subscript changes with a loop of this function or of its callers."""
        varying = frozenset[Decl]().union(*self.varying_in_loops)
        for inner in every_expression(expression):
            if isinstance(inner, Unary) and inner.op in INCREMENT_OPERATORS:
                return True
            if isinstance(inner, Name) and (inner.decl in varying or not self.varying_in_loops):
                return True
            if isinstance(inner, (CallExpr, Index)):
                return True
        return False

    # -- memory locations -----------------------------------------------------------------------

    def _location_of_lvalue(
        self, expression: Expression | None, events: list[Event] | None
    ) -> Place | None:
        """Returns the memory location of an lvalue. None for any other expression."""
        if isinstance(expression, Name):
            return _variable_location(expression.decl)
        if isinstance(expression, Cast):
            return self._location_of_lvalue(expression.operand, events)
        if isinstance(expression, Index):
            return self._target_memory(expression.base, events)
        if isinstance(expression, Unary) and expression.op == "*":
            return self._target_memory(expression.operand, events)
        if isinstance(expression, Member) and expression.base is not None:
            base = expression.base
            inner = (
                self._target_memory(base, events)
                if expression.arrow
                else self._location_of_lvalue(base, events)
            )
            if inner is None:
                return None
            element = isinstance(base, Index) or (
                isinstance(base, Member) and inner[-1].startswith("[].")
            )
            return (
                *inner,
                f"[].{expression.field.name}" if element else f".{expression.field.name}",
            )
        return None

    def _struct_location(self, expression: Expression, events: list[Event]) -> Place | None:
        """Returns the memory location of a struct that is used by value. None for any other value.

        Library classes are excluded, since their copies have separate memory.
        """
        ctype = type_of(expression)
        if ctype.kind != "struct" or "::" in ctype.name or "<" in ctype.name:
            return None
        if isinstance(expression, Cast):
            plain = expression.constructor is None
            return self._struct_location(expression.operand, events) if plain else None
        if isinstance(expression, CallExpr):
            return self._add_call(expression, events)[:-1]
        if isinstance(expression, Assign):
            return self._location_of_lvalue(expression.left, events)
        return self._location_of_lvalue(expression, events)

    def _target_memory(self, expression: Expression, events: list[Event] | None) -> Place | None:
        """Returns the memory that an address points into. None for any other expression."""
        if isinstance(expression, Name) and expression.decl.ctype.kind == "array":
            variable = _variable_location(expression.decl)
            return (*variable, "*") if _is_array_parameter(expression.decl) else variable
        if is_place(expression):
            kind = type_of(expression).kind
            place = (
                self._location_of_lvalue(expression, events)
                if kind in ("pointer", "array")
                else None
            )
            return place if place is None or kind == "array" else (*place, "*")
        if isinstance(expression, Cast):
            return self._target_memory(expression.operand, events)
        if isinstance(expression, Unary):
            if expression.op == "&":
                return self._location_of_lvalue(expression.operand, events)
            return (
                self._target_memory(expression.operand, events)
                if expression.op in INCREMENT_OPERATORS
                else None
            )
        if isinstance(expression, Binary) and expression.op in ("+", "-", ","):
            left = self._target_memory(expression.left, events) if expression.op != "," else None
            return left if left is not None else self._target_memory(expression.right, events)
        if isinstance(expression, Assign):
            return self._target_memory(expression.right, events)
        if isinstance(expression, Ternary):
            then = self._target_memory(expression.then, events)
            return then if then is not None else self._target_memory(expression.other, events)
        if isinstance(expression, CallExpr) and events is not None:
            return self._add_call(expression, events)
        if isinstance(expression, Opaque) and expression.text == "new" and events is not None:
            self.calls += 1
            slot = (f"new@{self.calls}",)
            events.append(CallEvent("malloc", (), slot, self.at))
            return (*slot, "*")
        return None


_STATEMENTS: dict[type, Callable[..., list[Event]]] = {
    Compound: _FlowBuilder._compound_events,
    DeclStmt: _FlowBuilder._declaration_events,
    For: _FlowBuilder._for_events,
    While: _FlowBuilder._while_events,
    RangeFor: _FlowBuilder._while_events,
    If: _FlowBuilder._conditional_events,
    Switch: _FlowBuilder._conditional_events,
    ExprStmt: _FlowBuilder._expression_statement_events,
    Return: _FlowBuilder._return_events,
    Directive: _FlowBuilder._directive_events,
}


def _has_one_thread(pragma: Pragma) -> bool:
    """Whether the directive has `num_threads(1)`."""
    clause = pragma.clause("num_threads")
    return clause is not None and (clause.text or "").strip() == "1"


def _variable_location(decl: Decl) -> Place:
    if decl.kind in ("local", "parameter"):
        return (f"{decl.name}@{decl.span.line}:{decl.span.column}",)
    return (f"::{decl.name}",)


def _is_array_parameter(decl: Decl) -> bool:
    """Whether a parameter is declared as an array, which makes it a pointer in C."""
    return decl.kind == "parameter" and decl.ctype.kind == "array"


def _dereferences(ctype: CType) -> Place | None:
    """Returns one `*` per level of row pointers between a pointer or array and its numbers. None
    for any other type.
    """
    if ctype.kind not in ("pointer", "array"):
        return None
    steps, inner = 0, ctype.element
    while inner is not None and inner.kind in ("pointer", "array"):
        steps += inner.kind == "pointer"
        inner = inner.element
    return ("*",) * steps


def _class_member_name(member: Member) -> str | None:
    """Returns the class and member name of an access such as `box.nx` or `box->nx`, or None."""
    names: list[str] = []
    inner: Expression | None = member
    while isinstance(inner, Member):
        names.append(inner.field.name)
        inner = inner.base
    if not isinstance(inner, Name) or not inner.decl.ctype.class_name:
        return None
    return inner.decl.ctype.class_name + CLASS_END + ".".join(reversed(names))


def _name_in_region(expression: Expression | None) -> str | None:
    """Returns the name of an array in the region: `A`, `s->x`, `cells[].flux`."""
    if isinstance(expression, Name):
        return expression.decl.name
    if isinstance(expression, Cast):
        return _name_in_region(expression.operand)
    if isinstance(expression, Member) and expression.base is not None:
        base: Expression = expression.base
        if isinstance(base, Index):
            while isinstance(base, Index):
                base = base.base
            inner = _name_in_region(base)
            return f"{inner}[].{expression.field.name}" if inner is not None else None
        inner = _name_in_region(base)
        if inner is None:
            return None
        reference = isinstance(base, Name) and base.decl.reference
        if reference and inner == "this":
            return expression.field.name
        arrow = expression.arrow and not reference
        return f"{inner}{'->' if arrow else '.'}{expression.field.name}"
    return None
