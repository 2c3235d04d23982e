"""Finds the object of a member that is accessed through a pointer, in the names of the function
where the pointer originates.

    void smooth(struct field *f) { ... f->n ... }     f.n of main, where main alone calls
    int main(void) { struct field f; ... smooth(&f); }                        smooth(&f)
    struct grid *g = &sim->grid; ... g->n             sim->grid.n
    for (i = 0; i < m; i++) run_one(&t[i]);           t[i].n, of any element

Both names then mean the same size. This requires at most one assignment, pointers that are set
once, and the same argument in all calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.frontend.linking import AssignmentTarget, LinkedUnit, Stored, stored_at
from regionpredict.frontend.lowering.call_order import CallOrder, Place, Site
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

_MOST_CALLS = 64  # maximum calls of a function with a resolved parameter
_MOST_COPIES = 8  # maximum number of copies from parameter to parameter


class _Target(NamedTuple):
    """A pointer or a struct, as an expression in a function."""

    value: Expression
    function: Function


class PointedMembers:
    """Finds the origins of the pointers of one region."""

    def __init__(self, unit: LinkedUnit, context: Context) -> None:
        self._unit = unit
        self._context = context
        self._targets: dict[Decl, _Target | None] = {}
        self._often_set: dict[Decl, bool] = {}
        self._once: dict[Stored, bool] = {}
        self._order = CallOrder(unit)

    def name_of(self, use: Member | Index, function: Function) -> tuple[Expr, Function] | None:
        """Returns the name of the member at the origin of its pointer, and the function that the
        name belongs to.

        `function` contains the region. Returns None if the member has no other name.
        """
        what = stored_at(use)
        home = self._function_of_root(use, function)
        if what is None or home is None:
            return None
        target = self._with_origin(use, home)
        if target is None or target.value is use:
            return None
        settled = self._is_set_once(what) or (
            self.is_read_after_settings(use, home)
            and self._has_no_earlier_value(use, target.function)
        )
        if not settled:
            return None
        value = self._context.value(target.value, Frame({}))
        atom = next(iter(value.atoms()), None)
        if atom is not None and atom.kind == "ref" and value.terms == {((atom, 1),): 1}:
            fixed = all(argument.constant is not None for argument in atom.args)
            value = Expr.name(str(atom) if fixed else entry_name(atom))
        return None if value.has_unreadable_part else (value, target.function)

    def is_read_after_settings(self, use: Expression, function: Function) -> bool:
        """Returns whether a function reads a member only after all assignments to it in any object.
        Each object then has one value.
        """
        what = stored_at(use)
        home = self._function_of_root(use, function)
        settings = self._settings_of(what)
        if (
            home is None
            or settings is None
            or not self._is_after_settings(use, use, home, settings, 0)
        ):
            return False
        return self._has_no_earlier_value(use, home)

    def _settings_of(self, what: Stored | None) -> Sequence[Site] | None:
        return self._unit.all_sets_of(what) if what is not None else None

    def _has_no_earlier_value(self, use: Expression, function: Function) -> bool:
        """Returns whether the member has no earlier value that has the same name in a function.

        A value read by a condition such as `if (s->n == 0) s->n = 64;` is not a size.
        """
        settings = self._settings_of(stored_at(use))
        return settings is not None and isinstance(use, Member) and all(
            self._order.follows_settings((function, read), settings)
            for read in _reads_of(use.field, function)
        )  # fmt: skip

    def _is_after_settings(
        self, place: Expression, read: Place, function: Function, settings: Sequence[Site],
        depth: int,
    ) -> bool:  # fmt: skip
        """Returns whether a member is read after all assignments. For a copy of a struct, the
        original counts.
        """
        root = _root(place)
        if root is None or depth > _MOST_COPIES:
            return False
        if not self._order.follows_settings((function, read), settings):
            return False
        if root.decl.ctype.kind != "struct":
            return True
        if root.decl.kind == "parameter":
            calls = self._calls(root.decl, function)
            return bool(calls) and all(
                self._is_after_settings(value, call, caller, settings, depth + 1)
                for caller, call, value in calls
            )
        copied = _original_of_copy(root.decl)
        return copied is None or self._is_after_settings(
            copied, root.decl, function, settings, depth + 1
        )

    # -- pointers -------------------------------------------------------------------------------

    def _with_origin(self, place: Expression, function: Function) -> _Target | None:
        """Replaces the first pointer of a place or an address by its origin. Returns None if a
        pointer on the path may change.
        """
        root = _root(place)
        if root is None or not self._has_fixed_pointers(place):
            return None
        decl = root.decl
        if decl.ctype.kind not in ("pointer", "struct"):
            return _Target(place, function)
        target = self._target(decl, function)
        if target is None:
            return None
        if isinstance(target.value, Name) and target.value.decl is decl:
            return _Target(place, function)
        return _Target(substituted(place, {decl: target.value}), target.function)

    def _target(self, decl: Decl, function: Function) -> _Target | None:
        """Returns the value of a variable, followed as long as it is unique. Returns None if there
        are several values.
        """
        if decl not in self._targets:
            itself = _Target(Name(decl, decl.span), function)
            self._targets[decl] = itself  # for circular assignments
            self._targets[decl] = self._looked_up(decl, itself)
        return self._targets[decl]

    def _looked_up(self, decl: Decl, itself: _Target) -> _Target | None:
        function = itself.function
        if decl.kind == "parameter":
            if decl in self._unit.effects.written_in(function.body) or _is_modified_copy(
                decl, function
            ):
                return None
            given = self._arguments(decl, function)
            return self._common_value(given) or itself
        if decl.ctype.kind == "struct":
            copied = _original_of_copy(decl)
            if copied is None or _is_modified_copy(decl, function):
                return itself
            return self._with_origin(copied, function) or itself
        values = self._values(decl, function)
        if values is None:
            return None
        if len(values) == 1:
            return self._common_value(values) or itself
        return self._common_value(values) if values else itself

    def _common_value(self, values: list[_Target]) -> _Target | None:
        """Returns the common value of all calls. Returns None if they differ."""
        targets = [self._with_origin(without_casts(value), function) for value, function in values]
        first = targets[0] if targets else None
        if first is None or any(t is None or _kind(t.value) != _kind(first.value) for t in targets):
            return None
        words = {self._unique_name(target.value) for target in targets if target is not None}
        return first if len(words) == 1 and "" not in words else None

    def _arguments(self, decl: Decl, function: Function) -> list[_Target]:
        if self._unit.has_pointer(function.decl):
            return []
        return [_Target(value, caller) for caller, _, value in self._calls(decl, function)]

    def _calls(self, decl: Decl, function: Function) -> list[tuple[Function, CallExpr, Expression]]:
        """Returns the calls of a function, with the arguments for one parameter. The result is
        empty if there are too many calls.
        """
        if decl not in function.parameters:
            return []
        handed = self._unit.arguments_passed_to(decl, function)
        return handed if len(handed) <= _MOST_CALLS else []

    def _values(self, decl: Decl, function: Function) -> list[_Target] | None:
        """Returns the assigned values of a pointer, without null pointers. Returns None if the
        result is unknown.
        """
        values = self._unit.assigned_values(decl, function)
        if values is None:
            return None
        return [_Target(*value) for value in values if not is_null(value[0])]

    # -- single assignments ----------------------------------------------------------------------

    def _is_set_once(self, what: Stored) -> bool:
        """Returns whether the member has a single value per object of its struct in the given
        files.
        """
        if what not in self._once:
            places = self._unit.set_at(what)
            self._once[what] = places is not None and all(map(self._runs_once_per_object, places))
        return self._once[what]

    def _runs_once_per_object(self, setting: AssignmentTarget) -> bool:
        """Returns whether each object is assigned at most once. No loop may repeat the assignment,
        and no two calls of its function may pass the same object.
        """
        function = setting.function
        root = _root(setting.place)
        if root is None or self._unit.has_pointer(function.decl):
            return False
        if not _is_any_element(setting.place) and not is_outside(setting.place, function):
            return False
        if root.decl not in function.parameters:
            return True
        words = []
        for caller, call, value in self._calls(root.decl, function):
            target = self._with_origin(without_casts(value), caller)
            if target is None:
                return False
            if not _is_any_element(target.value) and not is_outside(call, caller):
                return False
            words.append(self._unique_name(target.value))
        return len(set(words)) == len(words)

    # -- constant pointers ----------------------------------------------------------------------

    def _has_fixed_pointers(self, place: Expression) -> bool:
        """Returns whether each struct pointer on the path to a place is set at most once."""
        while True:
            inner = _base_of(place)
            if inner is None:
                return isinstance(place, Name)
            leads_on = isinstance(place, Unary) and place.op == "*"
            leads_on = leads_on or (isinstance(place, Member) and place.arrow)
            if leads_on and isinstance(inner, Member) and self._is_often_set(inner.field):
                return False
            place = inner

    def _is_often_set(self, field: Decl) -> bool:
        if field not in self._often_set:
            settings = [
                expression
                for function in self._unit.setters_of(field)
                for expression in self._unit.changes_in(function).sets.get(field.name, ())
                if isinstance(expression, Assign) and is_member(expression.left, field)
                and not is_null(expression.right)
            ]  # fmt: skip
            self._often_set[field] = len(settings) > 1
        return self._often_set[field]

    # -- names ----------------------------------------------------------------------------------

    def _unique_name(self, place: Expression) -> str:
        """Returns a unique name for a place. Returns "" if it has none."""
        if isinstance(place, Name):
            return self._context.name_of(place.decl)
        inner = _base_of(place)
        words = self._unique_name(inner) if inner is not None else ""
        if not words:
            return ""
        if isinstance(place, Member):
            return f"{words}{'->' if place.arrow else '.'}{place.field.name}"
        if isinstance(place, Index):
            at = place.index
            return f"{words}[{at.value if isinstance(at, IntLit) else 'i'}]"
        return f"{place.op}({words})" if isinstance(place, Unary) else words

    def _function_of_root(self, place: Expression, function: Function) -> Function | None:
        """Returns the function that declares the variable at the start of a place.

        For a global variable, it is the region's function.
        """
        root = _root(place)
        if root is None or root.decl.kind in ("global", "static"):
            return function if root is not None else None
        bodies = (function, *self._unit.bodies())
        return next((body for body in bodies if declares(self._unit, body, root.decl)), None)


def _base_of(place: Expression | None) -> Expression | None:
    """Returns the expression that a place or an address is part of. Returns None for a variable and
    for any other expression.
    """
    if isinstance(place, (Member, Index)):
        return place.base
    if isinstance(place, Unary) and place.op in ("*", "&"):
        return place.operand
    return place.operand if isinstance(place, Cast) else None


def _is_any_element(place: Expression | None) -> bool:
    """Returns whether the place is an element of an array whose subscript is not a number."""
    while place is not None:
        if isinstance(place, Index) and not isinstance(place.index, IntLit):
            return True
        place = _base_of(place)
    return False


def _root(place: Expression | None) -> Name | None:
    """Returns the variable at the start of a place."""
    while place is not None and not isinstance(place, Name):
        place = _base_of(place)
    return place


def _original_of_copy(decl: Decl) -> Expression | None:
    """Returns the original of a local copy of a struct, as in `struct grid g = *grid;`."""
    place = decl.init if decl.kind == "local" else None
    return place if isinstance(place, (Name, Member, Unary)) and _root(place) is not None else None


def _reads_of(field: Decl, function: Function) -> list[Expression]:
    """Returns the places where a function reads a member of any object itself. Conditions are
    excluded.
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
    """Returns whether a function sets part of a struct that is passed by value, or passes its
    address on.
    """
    if decl.ctype.kind != "struct":
        return False
    for expression in expressions_in(function.body):
        place = set_place(expression)
        root = _root(place) if place is not None else None
        if root is not None and root.decl is decl:
            return True
    return False


def _kind(value: Expression) -> bool:
    return isinstance(value, Unary) and value.op == "&"


def declares(unit: LinkedUnit, function: Function, decl: Decl) -> bool:
    """Returns whether a function declares a variable."""
    return decl in function.parameters or decl in unit.changes_in(function).declared
