"""Finds the object of a member that is accessed through a pointer, in the names of the function
where the pointer originates.

    void smooth(struct field *f) { ... f->n ... }     f->n is f.n of main, if only main
    int main(void) { struct field f; ... smooth(&f); }                      calls smooth
    struct grid *g = &sim->grid; ... g->n             g->n is sim->grid.n
    for (i = 0; i < m; i++) run_one(&t[i]);           t[i].n for any element i

Both names then mean the same size. Equivalence requires at most one assignment to the member,
pointers that are set once, and the same argument in all calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.frontend.linking import AssignmentTarget, LinkedUnit, Stored, stored_at
from regionpredict.frontend.lowering.call_order import CallOrder, ProgramPoint, Site
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    Assign,
    CallExpr,
    Cast,
    Decl,
    Expression,
    Function,
    If,
    Index,
    IntLit,
    Member,
    Name,
    Unary,
    every_expression,
    every_statement,
    expressions_in,
    is_member,
    is_null,
    is_outside,
    own_expressions,
    set_place,
    substituted,
    without_casts,
)
from regionpredict.ir import Expr
from regionpredict.ir.expr import entry_name

_MOST_CALLS = 64  # maximum number of calls of a function whose arguments are compared
_MOST_COPIES = 8  # maximum number of functions that pass a struct on by value


class _Target(NamedTuple):
    """An expression of pointer or struct type, and the function that contains it."""

    value: Expression
    function: Function


class PointedMembers:
    """Finds the objects to which the pointers of one region refer."""

    def __init__(self, unit: LinkedUnit, context: Context) -> None:
        self._unit = unit
        self._context = context
        self._targets: dict[Decl, _Target | None] = {}
        self._often_set: dict[Decl, bool] = {}
        self._once: dict[Stored, bool] = {}
        self._order = CallOrder(unit)

    def name_at_origin(
        self, use: Member | Index, function: Function
    ) -> tuple[Expr, Function] | None:
        """Returns the name of a member in the function where its pointer originates, and this
        function.

        `function` contains the region. Returns None if the member has no other name.
        """
        stored = stored_at(use)
        home = self._function_of_root(use, function)
        if stored is None or home is None:
            return None
        target = self._with_origin(use, home)
        if target is None or target.value is use:
            return None
        is_unique = self._is_set_once(stored) or (
            self.is_read_after_assignments(use, home)
            and self._has_no_earlier_value(use, target.function)
        )
        if not is_unique:
            return None
        value = self._context.value(target.value, Frame({}))
        atom = next(iter(value.atoms()), None)
        if atom is not None and atom.kind == "ref" and value.terms == {((atom, 1),): 1}:
            fixed = all(argument.constant is not None for argument in atom.args)
            value = Expr.name(str(atom) if fixed else entry_name(atom))
        return None if value.has_unreadable_part else (value, target.function)

    def is_read_after_assignments(self, use: Expression, function: Function) -> bool:
        """Returns whether a function reads a member only after all assignments to that member of
        any object. Each object then has a single value.
        """
        stored = stored_at(use)
        home = self._function_of_root(use, function)
        assignments = self._assignments_of(stored)
        if (
            home is None
            or assignments is None
            or not self._is_after_assignments(use, use, home, assignments, 0)
        ):
            return False
        return self._has_no_earlier_value(use, home)

    def _assignments_of(self, stored: Stored | None) -> Sequence[Site] | None:
        return self._unit.all_assignments_to(stored) if stored is not None else None

    def _has_no_earlier_value(self, use: Expression, function: Function) -> bool:
        """Returns whether a function reads the member only after all assignments.

        A value read by a condition such as `if (s->n == 0) s->n = 64;` is ignored, since it is not
        a size.
        """
        assignments = self._assignments_of(stored_at(use))
        return assignments is not None and isinstance(use, Member) and all(
            self._order.follows_assignments((function, read), assignments)
            for read in _reads_of(use.field, function)
        )  # fmt: skip

    def _is_after_assignments(
        self, place: Expression, read: ProgramPoint, function: Function,
        assignments: Sequence[Site], depth: int,
    ) -> bool:  # fmt: skip
        """Returns whether a member is read after all assignments. For a copied struct, the original
        must be copied after all assignments.
        """
        root = _root_variable(place)
        if root is None or depth > _MOST_COPIES:
            return False
        if not self._order.follows_assignments((function, read), assignments):
            return False
        if root.decl.ctype.kind != "struct":
            return True
        if root.decl.kind == "parameter":
            calls = self._calls_with_argument(root.decl, function)
            return bool(calls) and all(
                self._is_after_assignments(value, call, caller, assignments, depth + 1)
                for caller, call, value in calls
            )
        copied = _original_of_copy(root.decl)
        return copied is None or self._is_after_assignments(
            copied, root.decl, function, assignments, depth + 1
        )

    # -- pointers -------------------------------------------------------------------------------

    def _with_origin(self, place: Expression, function: Function) -> _Target | None:
        """Replaces the pointer at the start of an access path by its target. Returns None if a
        pointer on the path may change.
        """
        root = _root_variable(place)
        if root is None or not self._has_fixed_pointers(place):
            return None
        decl = root.decl
        if decl.ctype.kind not in ("pointer", "struct"):
            return _Target(place, function)
        target = self._target_of_pointer(decl, function)
        if target is None:
            return None
        if isinstance(target.value, Name) and target.value.decl is decl:
            return _Target(place, function)
        return _Target(substituted(place, {decl: target.value}), target.function)

    def _target_of_pointer(self, decl: Decl, function: Function) -> _Target | None:
        """Returns the expression to which a pointer or struct variable is equal, in the outermost
        caller. Returns None if it has several values.
        """
        if decl not in self._targets:
            itself = _Target(Name(decl, decl.span), function)
            self._targets[decl] = itself  # for circular assignments
            self._targets[decl] = self._find_target(decl, itself)
        return self._targets[decl]

    def _find_target(self, decl: Decl, itself: _Target) -> _Target | None:
        function = itself.function
        if decl.kind == "parameter":
            if decl in self._unit.effects.written_in(function.body) or _is_modified_copy(
                decl, function
            ):
                return None
            arguments = self._arguments_of_parameter(decl, function)
            return self._common_value(arguments) or itself
        if decl.ctype.kind == "struct":
            copied = _original_of_copy(decl)
            if copied is None or _is_modified_copy(decl, function):
                return itself
            return self._with_origin(copied, function) or itself
        values = self._assigned_targets(decl, function)
        if values is None:
            return None
        if len(values) == 1:
            return self._common_value(values) or itself
        return self._common_value(values) if values else itself

    def _common_value(self, values: list[_Target]) -> _Target | None:
        """Returns the common target of all values. Returns None if they differ."""
        targets = [self._with_origin(without_casts(value), function) for value, function in values]
        first = targets[0] if targets else None
        if first is None or any(
            t is None or _is_address(t.value) != _is_address(first.value) for t in targets
        ):
            return None
        names = {self._unique_name(target.value) for target in targets if target is not None}
        return first if len(names) == 1 and "" not in names else None

    def _arguments_of_parameter(self, decl: Decl, function: Function) -> list[_Target]:
        if self._unit.has_pointer(function.decl):
            return []
        return [
            _Target(value, caller) for caller, _, value in self._calls_with_argument(decl, function)
        ]

    def _calls_with_argument(
        self, decl: Decl, function: Function
    ) -> list[tuple[Function, CallExpr, Expression]]:
        """Returns the calls of a function, with the arguments for one parameter. The result is
        empty if there are too many calls.
        """
        if decl not in function.parameters:
            return []
        arguments = self._unit.arguments_passed_to(decl, function)
        return arguments if len(arguments) <= _MOST_CALLS else []

    def _assigned_targets(self, decl: Decl, function: Function) -> list[_Target] | None:
        """Returns all values assigned to a pointer, except null pointers. Returns None if they are
        unknown.
        """
        values = self._unit.assigned_values(decl, function)
        if values is None:
            return None
        return [_Target(*value) for value in values if not is_null(value[0])]

    # -- single assignments ----------------------------------------------------------------------

    def _is_set_once(self, stored: Stored) -> bool:
        """Returns whether the member has a single value per object of its struct."""
        if stored not in self._once:
            places = self._unit.only_assignment_to(stored)
            self._once[stored] = places is not None and all(map(self._runs_once_per_object, places))
        return self._once[stored]

    def _runs_once_per_object(self, assignment: AssignmentTarget) -> bool:
        """Returns whether an assignment sets the member of each object at most once.

        No loop may repeat the assignment for the same object, and no two calls of its function may
        pass the same object.
        """
        function = assignment.function
        root = _root_variable(assignment.place)
        if root is None or self._unit.has_pointer(function.decl):
            return False
        if not _is_any_element(assignment.place) and not is_outside(assignment.place, function):
            return False
        if root.decl not in function.parameters:
            return True
        names = []
        for caller, call, value in self._calls_with_argument(root.decl, function):
            target = self._with_origin(without_casts(value), caller)
            if target is None:
                return False
            if not _is_any_element(target.value) and not is_outside(call, caller):
                return False
            names.append(self._unique_name(target.value))
        return len(set(names)) == len(names)

    # -- pointers with one value ------------------------------------------------------------------

    def _has_fixed_pointers(self, place: Expression) -> bool:
        """Returns whether each struct pointer on an access path is assigned at most once."""
        while True:
            inner = _base_expression(place)
            if inner is None:
                return isinstance(place, Name)
            leads_on = isinstance(place, Unary) and place.op == "*"
            leads_on = leads_on or (isinstance(place, Member) and place.arrow)
            if leads_on and isinstance(inner, Member) and self._is_often_set(inner.field):
                return False
            place = inner

    def _is_often_set(self, field: Decl) -> bool:
        if field not in self._often_set:
            assignments = [
                expression
                for function in self._unit.setters_of(field)
                for expression in self._unit.changes_in(function).sets.get(field.name, ())
                if isinstance(expression, Assign) and is_member(expression.left, field)
                and not is_null(expression.right)
            ]  # fmt: skip
            self._often_set[field] = len(assignments) > 1
        return self._often_set[field]

    # -- names ----------------------------------------------------------------------------------

    def _unique_name(self, place: Expression) -> str:
        """Returns a unique text for an access path. Returns "" for other expressions."""
        if isinstance(place, Name):
            return self._context.name_of(place.decl)
        inner = _base_expression(place)
        names = self._unique_name(inner) if inner is not None else ""
        if not names:
            return ""
        if isinstance(place, Member):
            return f"{names}{'->' if place.arrow else '.'}{place.field.name}"
        if isinstance(place, Index):
            at = place.index
            return f"{names}[{at.value if isinstance(at, IntLit) else 'i'}]"
        return f"{place.op}({names})" if isinstance(place, Unary) else names

    def _function_of_root(self, place: Expression, function: Function) -> Function | None:
        """Returns the function that declares the variable at the start of an access path.

        For a global variable, it is `function`.
        """
        root = _root_variable(place)
        if root is None or root.decl.kind in ("global", "static"):
            return function if root is not None else None
        bodies = (function, *self._unit.bodies())
        return next(
            (body for body in bodies if declares_variable(self._unit, body, root.decl)), None
        )


def _base_expression(place: Expression | None) -> Expression | None:
    """Returns the operand of a member access, subscript, dereference, address or cast. Returns None
    for any other expression.
    """
    if isinstance(place, (Member, Index)):
        return place.base
    if isinstance(place, Unary) and place.op in ("*", "&"):
        return place.operand
    return place.operand if isinstance(place, Cast) else None


def _is_any_element(place: Expression | None) -> bool:
    """Returns whether an access path contains a subscript that is not a constant."""
    while place is not None:
        if isinstance(place, Index) and not isinstance(place.index, IntLit):
            return True
        place = _base_expression(place)
    return False


def _root_variable(place: Expression | None) -> Name | None:
    """Returns the variable at the start of an access path: `s` for `s->t[i].n`."""
    while place is not None and not isinstance(place, Name):
        place = _base_expression(place)
    return place


def _original_of_copy(decl: Decl) -> Expression | None:
    """Returns the copied object of a local struct: `*grid` for `struct grid g = *grid;`."""
    place = decl.init if decl.kind == "local" else None
    return (
        place
        if isinstance(place, (Name, Member, Unary)) and _root_variable(place) is not None
        else None
    )


def _reads_of(field: Decl, function: Function) -> list[Expression]:
    """Returns the expressions with which a function reads a member of any object, except in
    conditions of `if`.
    """
    reads: list[Expression] = []
    for statement in every_statement(function.body):
        if isinstance(statement, If):
            continue
        for own in own_expressions(statement):
            inside = list(every_expression(own))
            set_here = set(map(set_place, inside))
            reads += [inner for inner in inside if is_member(inner, field)
                      and inner not in set_here]  # fmt: skip
    return reads


def _is_modified_copy(decl: Decl, function: Function) -> bool:
    """Returns whether a function modifies its copy of a struct, or passes the copy's address."""
    if decl.ctype.kind != "struct":
        return False
    for expression in expressions_in(function.body):
        place = set_place(expression)
        root = _root_variable(place) if place is not None else None
        if root is not None and root.decl is decl:
            return True
    return False


def _is_address(value: Expression) -> bool:
    return isinstance(value, Unary) and value.op == "&"


def declares_variable(unit: LinkedUnit, function: Function, decl: Decl) -> bool:
    """Returns whether a function declares a variable, also as a parameter."""
    return decl in function.parameters or decl in unit.changes_in(function).declared
