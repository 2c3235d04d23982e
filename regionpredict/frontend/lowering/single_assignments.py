"""Finds the values of struct members and array elements to which exactly one statement of the
program assigns.

    void init(struct grid *g, int n) { g->nx = n; g->cells = n * n; }
    int main(void) { ... init(&g, 400); ... }            nx is 400, and cells 160000, in every grid

The value must be the same at every execution. The value may contain numbers, variables that are
constant in a run, and other such members. An unsupported value such as `floor(length / cutoff)`
becomes one unknown, named `grid.nx`, if the assignment runs once.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.frontend.linking import LinkedUnit, Stored, member_in_program, stored_at
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.pointed_members import PointedMembers
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    LOOPS,
    Binary,
    CallExpr,
    Cast,
    CType,
    Decl,
    Expression,
    Function,
    If,
    Index,
    IntLit,
    Member,
    Name,
    Switch,
    Ternary,
    Unary,
    constructed_class,
    every_expression,
    expressions_in,
    is_outside,
    set_place,
    with_accessors_inlined,
)
from regionpredict.frontend.syntax.integer_types import converted, type_of
from regionpredict.ir import Expr

_DEEPEST = 8
_MAY_NOT_RUN = (*LOOPS, If, Switch)


class SingleAssignments:
    """Finds the values of struct members and array elements for one region."""

    def __init__(self, unit: LinkedUnit, context: Context, pointed: PointedMembers) -> None:
        self._unit = unit
        self._context = context
        self._pointed = pointed
        self._roots: dict[str, Expr | None] = {}
        self.readers: dict[str, Function] = {}  # by member path, a function that reads the member
        self._known: dict[Stored, tuple[Expr, Function | None] | None] = {}

    def value_of(self, place: Expression, ctype: CType) -> tuple[Expr, Function | None] | None:
        """Returns the only value of a member or element, and the function that declares the names
        in it. Returns None if it is unknown.
        """
        stored = stored_at(place)
        if stored is None or (isinstance(place, Index) and not type_of(place.base).holds_sizes):
            return None
        if stored not in self._known:
            self._known[stored] = None  # for values that depend on themselves
            self._known[stored] = self._find_value(stored, place, ctype)
        return self._known[stored]

    def _find_value(
        self, stored: Stored, place: Expression, ctype: CType
    ) -> tuple[Expr, Function | None] | None:
        assignment = self._unit.set_once(stored)
        if assignment is None:
            return None
        value, by, function = assignment
        if function is not None and not _runs_unconditionally(function, by):
            return None
        if function is None or self._is_constant_in_run(value, function, by):
            known = self._context.value(value, Frame({}))
            if not known.has_unreadable_part:
                return converted(known, ctype), function
        name = self._name_in_program(place)
        if function is None or not name or not self._runs_once(function, 0):
            return None
        return Expr.name(name), function

    def _name_in_program(self, place: Expression) -> str:
        """Returns a program-wide name of a member, such as `grid.nx`. Returns "" for the only
        object of a class, whose members have unique names.
        """
        base = place.base if isinstance(place, Index) else place
        if isinstance(base, Member) and base.base is not None:
            owner = type_of(base.base)
            owner = owner.element if owner.kind == "pointer" and owner.element else owner
            if owner.class_name in self._unit.objects:
                return ""
        return member_in_program(place)

    # -- values that are constant in a run --------------------------------------------------------

    def _is_constant_in_run(
        self, value: Expression, function: Function, by: Expression | None, depth: int = 0
    ) -> bool:
        """Returns whether an expression of a function has the same value at each evaluation.

        `by` is the enclosing expression, because all uses of a name may share a syntax node.
        """
        if depth > _DEEPEST:
            return False
        if isinstance(value, IntLit):
            return True
        if isinstance(value, Name):
            return self._is_constant_variable(value.decl, function, by, depth + 1)
        if isinstance(value, (Member, Index)):
            known = self.value_of(value, type_of(value)) is not None
            return known or self._is_final(value, function, depth)
        if isinstance(value, CallExpr):
            body = self._unit.body_of(value.decl) if value.decl is not None else None
            returned = with_accessors_inlined(body, value.args) if body is not None else None
            return returned is not None and self._is_constant_in_run(
                returned, function, by, depth + 1
            )
        if isinstance(value, Cast):
            return self._is_constant_in_run(value.operand, function, by, depth)
        if isinstance(value, Unary):
            plain = value.op in ("-", "+", "!", "~")
            return plain and self._is_constant_in_run(value.operand, function, by, depth)
        parts: tuple[Expression, ...] = ()
        if isinstance(value, Binary):
            parts = (value.left, value.right)
        elif isinstance(value, Ternary):
            parts = (value.condition, value.then, value.other)
        return bool(parts) and all(
            self._is_constant_in_run(part, function, by, depth) for part in parts
        )

    def _is_final(self, value: Expression, function: Function, depth: int) -> bool:
        """Returns whether a function reads a member only after all assignments to it."""
        is_final = (
            isinstance(value, Member)
            and is_outside(value, function)
            and self._runs_once(function, depth)
            and self._pointed.is_read_after_assignments(value, function)
        )
        path = self._context.path(value, Frame({})) if isinstance(value, Member) else None
        if is_final and path is not None:
            self.readers.setdefault(path, function)
        return is_final

    def _is_constant_variable(
        self, decl: Decl, function: Function, by: Expression | None, depth: int
    ) -> bool:
        if decl.kind == "constant":
            return True
        if decl.ctype.kind != "int":
            return False
        if decl.kind in ("global", "static"):
            return self._is_constant_global(decl, depth)
        if decl.kind == "parameter":
            return decl in function.parameters and self._is_constant_parameter(
                decl, function, depth
            )
        values = self._unit.changes_in(function).values_of(decl)
        if values is None:
            return False
        if len(values) == 1 and self._is_constant_in_run(
            values[0][0], function, values[0][1], depth
        ):
            return True
        return self._runs_once(function, depth) and _is_set_before(decl, by, function)

    def _is_constant_global(self, decl: Decl, depth: int) -> bool:
        writers = self._unit.writers_of(decl)
        init = self._unit.variable_of(decl).init
        if not writers:
            return init is not None
        if init is not None or len(writers) != 1:
            return False
        values = self._unit.changes_in(writers[0]).values_of(decl)
        if values is None or len(values) != 1:
            return False
        value, by = values[0]
        return self._is_constant_in_run(value, writers[0], by, depth) or (
            by is not None and self._runs_once(writers[0], depth) and is_outside(by, writers[0])
        )

    def _is_constant_parameter(self, decl: Decl, function: Function, depth: int) -> bool:
        if decl in self._unit.effects.written_in(function.body):
            return False
        if self._runs_once(function, depth):
            return True
        if self._unit.has_pointer(function.decl):
            return False
        arguments = self._unit.arguments_passed_to(decl, function)
        return bool(arguments) and self.have_one_value(arguments, depth)

    def have_one_value(
        self, arguments: Sequence[tuple[Function, CallExpr, Expression]], depth: int = 0
    ) -> bool:
        """Returns whether all arguments have one value, which is the same in the whole run."""
        values = {self._context.value(value, Frame({})) for _, _, value in arguments}
        if any(
            not self._is_constant_in_run(value, caller, call, depth)
            for caller, call, value in arguments
        ):
            return False
        return len(values) == 1 or len({
            self._in_root_names(self._context.value(value, Frame({})), caller, depth)
            for caller, _, value in arguments
        }) == 1  # fmt: skip

    # -- names in constant values ---------------------------------------------------------------

    def _in_root_names(self, value: Expr, home: Function, depth: int) -> Expr:
        """Expands the names in a value of the function `home` to the names that determine them."""
        roots = {name: root for name in value.names
                 if (root := self._root_value(name, home, depth + 1)) is not None}  # fmt: skip
        return value.substitute(roots)

    def _root_value(self, name: str, home: Function, depth: int) -> Expr | None:
        """Returns the value of a name in terms of the names that determine it. Returns None if the
        name has no definition.
        """
        if name in self._roots or depth > _DEEPEST:
            return self._roots.get(name)
        self._roots[name] = None  # for names that depend on themselves
        definition = self._defining_value(name, home)
        if definition is not None and name not in definition[0].names:
            self._roots[name] = self._in_root_names(*definition, depth)
        return self._roots[name]

    def _defining_value(self, name: str, home: Function) -> tuple[Expr, Function] | None:
        use = self._context.stored_uses.get(name)
        if use is not None:
            once = self.value_of(use, type_of(use))
            if once is not None:
                return once[0], once[1] or home
            return self._pointed.name_at_origin(use, home)
        decl, _ = self._context.declarations().get(name, (None, 0))
        if decl is None or decl.kind in ("global", "static"):
            return None
        if decl.kind != "parameter":
            values = self._unit.changes_in(home).values_of(decl)
            if values is None or len(values) != 1:
                return None
            return self._context.value(values[0][0], Frame({})), home
        if decl not in home.parameters or decl in self._unit.effects.written_in(home.body):
            return None
        arguments = self._unit.arguments_passed_to(decl, home)
        if not arguments:
            return None
        caller, _, value = arguments[0]  # all arguments are equal, because the value is constant
        return self._context.value(value, Frame({})), caller

    def _runs_once(self, function: Function, depth: int) -> bool:
        """Returns whether the program executes a function at most once, like `main`."""
        if depth > _DEEPEST:
            return False
        if function.name == "main":
            return True
        definition = constructed_class(function)
        if definition:
            return definition in self._unit.objects
        if self._unit.has_pointer(function.decl):
            return False
        calls = self._unit.calls_of(function.decl)
        if len(calls) != 1:
            return False
        ((caller, call),) = calls
        return (
            caller.decl is not function.decl
            and is_outside(call, caller)
            and self._runs_once(caller, depth + 1)
        )


def _runs_unconditionally(function: Function, by: Expression) -> bool:
    """Returns whether a call of the function always evaluates an expression exactly once."""
    return any(
        inner is by for first in function.initialisers for inner in every_expression(first)
    ) or is_outside(by, function, _MAY_NOT_RUN)


def _is_set_before(decl: Decl, use: Expression | None, function: Function) -> bool:
    """Returns whether all assignments of a variable precede its use in the function's text, and the
    use is outside loops.
    """
    if use is None or not is_outside(use, function):
        return False
    after_use = False
    for inner in expressions_in(function.body):
        after_use = after_use or inner is use
        target = set_place(inner)
        if after_use and isinstance(target, Name) and target.decl is decl:
            return False
    return after_use
