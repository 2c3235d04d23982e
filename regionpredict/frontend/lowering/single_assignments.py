"""What an integer in a struct or an array holds that one place of the whole program sets.

    void init(struct grid *g, int n) { g->nx = n; g->cells = n * n; }
    int main(void) { ... init(&g, 400); ... }            nx is 400, and cells 160000, in every grid

The value has to be the same whenever that place runs: made of numbers, of variables that have one
value in a run, and of other members of that kind. A name that is one unknown in the whole run, as
`n` read from a file in `main`, makes the member that same unknown. Where the value cannot be read,
as that of `floor(length / cutoff)`, and the place runs but once, the member itself is one unknown,
whatever leads to it: `grid.nx`.
"""

from __future__ import annotations

from regionpredict.frontend.linking import LinkedUnit, Stored, member_in_program, stored_at
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.integer_types import converted, type_of
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    CType,
    Decl,
    DeclStmt,
    Expression,
    For,
    Function,
    If,
    Index,
    IntLit,
    Member,
    Name,
    RangeFor,
    Stmt,
    Switch,
    Ternary,
    Unary,
    While,
    class_made,
    every_expression,
    every_statement,
    in_place,
    inner_statements,
    own_expressions,
    set_place,
)
from regionpredict.ir import Expr

_DEEPEST = 8
REPEATS = (For, While, RangeFor)
_MAY_NOT_RUN = (*REPEATS, If, Switch)


class SetOnce:
    """Asks for the members and elements of one region."""

    def __init__(self, unit: LinkedUnit, context: Context) -> None:
        self._unit = unit
        self._context = context
        self._asked: dict[Stored, tuple[Expr, Function | None] | None] = {}

    def value_of(self, place: Expression, ctype: CType) -> tuple[Expr, Function | None] | None:
        """The value, and the function whose names it speaks of; None where it is not known."""
        what = stored_at(place)
        if what is None or (isinstance(place, Index) and not type_of(place.base).holds_sizes):
            return None
        if what not in self._asked:
            self._asked[what] = None  # what is set to something made of itself
            self._asked[what] = self._asked_for(what, place, ctype)
        return self._asked[what]

    def _asked_for(
        self, what: Stored, place: Expression, ctype: CType
    ) -> tuple[Expr, Function | None] | None:
        setting = self._unit.set_once(what)
        if setting is None:
            return None
        value, by, function = setting
        if function is not None and not _always(function, by):
            return None
        if function is None or self._is_steady(value, function, by):
            known = self._context.value(value, Frame({}))
            if not known.has_unreadable_part:
                return converted(known, ctype), function
        name = self._name_in_program(place)
        if function is None or not name or not self._runs_once(function, 0):
            return None
        return Expr.name(name), function

    def _name_in_program(self, place: Expression) -> str:
        """What a member is called whatever leads to it; "" where that is the name it has, as in a
        class with one object."""
        base = place.base if isinstance(place, Index) else place
        if isinstance(base, Member) and base.base is not None:
            owner = type_of(base.base)
            owner = owner.element if owner.kind == "pointer" and owner.element else owner
            if owner.class_name in self._unit.objects:
                return ""
        return member_in_program(place)

    # -- one value in a run ---------------------------------------------------------------------

    def _is_steady(
        self, value: Expression, function: Function, by: Expression | None, depth: int = 0
    ) -> bool:
        """Whether an expression of a function has one value whenever it is reached.

        `by` is the expression around it: names are no places, as all uses may be one node.
        """
        if depth > _DEEPEST:
            return False
        if isinstance(value, IntLit):
            return True
        if isinstance(value, Name):
            return self._is_steady_variable(value.decl, function, by, depth + 1)
        if isinstance(value, (Member, Index)):
            return self.value_of(value, type_of(value)) is not None
        if isinstance(value, CallExpr):
            body = self._unit.body_of(value.decl) if value.decl is not None else None
            given = in_place(body, value.args) if body is not None else None
            return given is not None and self._is_steady(given, function, by, depth + 1)
        if isinstance(value, Cast):
            return self._is_steady(value.operand, function, by, depth)
        if isinstance(value, Unary):
            plain = value.op in ("-", "+", "!", "~")
            return plain and self._is_steady(value.operand, function, by, depth)
        parts: tuple[Expression, ...] = ()
        if isinstance(value, Binary):
            parts = (value.left, value.right)
        elif isinstance(value, Ternary):
            parts = (value.condition, value.then, value.other)
        return bool(parts) and all(self._is_steady(part, function, by, depth) for part in parts)

    def _is_steady_variable(
        self, decl: Decl, function: Function, by: Expression | None, depth: int
    ) -> bool:
        if decl.kind == "constant":
            return True
        if decl.ctype.kind != "int":
            return False
        if decl.kind in ("global", "static"):
            return self._is_steady_global(decl, depth)
        if decl.kind == "parameter":
            return decl in function.parameters and self._is_steady_parameter(decl, function, depth)
        values = values_of(decl, function)
        if values is None:
            return False
        if len(values) == 1 and self._is_steady(values[0][0], function, values[0][1], depth):
            return True
        return self._runs_once(function, depth) and _is_set_before(decl, by, function)

    def _is_steady_global(self, decl: Decl, depth: int) -> bool:
        writers = self._unit.writers_of(decl)
        init = self._unit.variable_of(decl).init
        if not writers:
            return init is not None
        if init is not None or len(writers) != 1:
            return False
        values = values_of(decl, writers[0])
        if values is None or len(values) != 1:
            return False
        value, by = values[0]
        return self._is_steady(value, writers[0], by, depth) or (
            by is not None
            and self._runs_once(writers[0], depth)
            and is_outside(by, writers[0], REPEATS)
        )

    def _is_steady_parameter(self, decl: Decl, function: Function, depth: int) -> bool:
        if decl in self._unit.effects.written_in(function.body):
            return False
        if self._runs_once(function, depth):
            return True
        if self._unit.is_pointed(function.decl):
            return False
        position = function.parameters.index(decl)
        calls = [
            (caller, call) for caller, call in self._unit.calls_of(function.decl)
            if caller.decl is not function.decl
        ]  # fmt: skip
        if not calls or any(position >= len(call.args) for _, call in calls):
            return False
        values = {self._context.value(call.args[position], Frame({})) for _, call in calls}
        return len(values) == 1 and all(
            self._is_steady(call.args[position], caller, call, depth) for caller, call in calls
        )

    def _runs_once(self, function: Function, depth: int) -> bool:
        """Whether a program runs a function but once, as `main`."""
        if depth > _DEEPEST:
            return False
        if function.name == "main":
            return True
        made = class_made(function)
        if made:
            return made in self._unit.objects
        if self._unit.is_pointed(function.decl):
            return False
        calls = self._unit.calls_of(function.decl)
        if len(calls) != 1:
            return False
        ((caller, call),) = calls
        return (
            caller.decl is not function.decl
            and is_outside(call, caller, REPEATS)
            and self._runs_once(caller, depth + 1)
        )


def _always(function: Function, by: Expression) -> bool:
    """Whether no condition inside its function decides if an expression is reached."""
    return any(
        inner is by for first in function.initialisers for inner in every_expression(first)
    ) or is_outside(by, function, _MAY_NOT_RUN)


def is_outside(expression: Expression, function: Function, around: tuple[type[Stmt], ...]) -> bool:
    """Whether an expression stands in a function, in none of such statements."""
    waiting: list[Stmt] = [function.body]
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, around):
            continue
        if any(
            e is expression for own in own_expressions(statement) for e in every_expression(own)
        ):
            return True
        waiting.extend(inner_statements(statement))
    return False


def values_of(decl: Decl, function: Function) -> list[tuple[Expression, Expression | None]] | None:
    """What a variable is set to in a function, and by which assignment; None where something else
    may set it.
    """
    values: list[tuple[Expression, Expression | None]] = []
    for statement in every_statement(function.body):
        if isinstance(statement, DeclStmt):
            values += [(d.init, None) for d in statement.decls if d is decl and d.init is not None]
        for own in own_expressions(statement):
            for inner in every_expression(own):
                target = set_place(inner)
                if not isinstance(target, Name) or not _is_same(target.decl, decl):
                    continue
                if not isinstance(inner, Assign) or inner.op != "=":
                    return None
                values.append((inner.right, inner))
    return values


def _is_same(decl: Decl, other: Decl) -> bool:
    return decl is other or bool(decl.symbol and decl.symbol == other.symbol)


def _is_set_before(decl: Decl, use: Expression | None, function: Function) -> bool:
    """Whether all that sets a variable stands in front of what uses it, and no loop goes back."""
    if use is None or not is_outside(use, function, REPEATS):
        return False
    behind = False
    for statement in every_statement(function.body):
        for own in own_expressions(statement):
            for inner in every_expression(own):
                if inner is use:
                    behind = True
                target = set_place(inner)
                if behind and isinstance(target, Name) and target.decl is decl:
                    return False
    return behind
