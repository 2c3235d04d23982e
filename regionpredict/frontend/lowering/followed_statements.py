"""Statements followed one after the other, for what they leave in variables and nothing else."""

from __future__ import annotations

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.frame import Frame, Value
from regionpredict.frontend.lowering.program_ends import ends_program
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.lowering.variable_values import VariableValues, in_order
from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Compound,
    Decl,
    DeclStmt,
    Directive,
    Expression,
    ExprStmt,
    For,
    Function,
    If,
    Index,
    Jump,
    Member,
    Name,
    RangeFor,
    Return,
    Stmt,
    Switch,
    Unary,
    Unread,
    While,
    case_labels,
    declared_in,
    every_expression,
    every_statement,
    inner_statements,
    own_expressions,
    set_place,
    variable_of,
)
from regionpredict.frontend.syntax.integer_types import converted
from regionpredict.ir import Expr
from regionpredict.ir.expr import ZERO

_MAX_CALLS = 3
OWN = frozenset(("local", "parameter"))


class FollowedStatements:
    """Goes through statements as they run, up to the site, where there is one."""

    def __init__(
        self, unit: LinkedUnit, context: Context, site: Directive | CallExpr | For | None = None
    ) -> None:
        self.unit = unit
        self.context = context
        self.site = site
        self.values = VariableValues(context, unit.effects)
        self.exposed = set(context.exposed)  # their address was taken: any store may change them

    def through(self, statement: Stmt, frame: Frame) -> bool:
        """Whether the site was met; then the frame holds what it was met with."""
        if statement is self.site:
            return True
        if any(e is self.site for own in own_expressions(statement) for e in every_expression(own)):
            return True
        if isinstance(statement, Compound):
            return any(self.through(item, frame) for item in statement.items)
        if isinstance(statement, Directive):
            return statement.body is not None and self.through(statement.body, frame)
        if isinstance(statement, DeclStmt):
            for decl in statement.decls:
                if decl.init is not None and decl.kind != "static":
                    self._calls(decl.init, frame)
                    self._expose(decl.init)
                    self.values.declare(decl, decl.init, frame)
            return False
        if isinstance(statement, ExprStmt):
            self.expression(statement.expr, frame)
            return False
        if isinstance(statement, If):
            return self._if(statement, frame)
        if isinstance(statement, (For, While, Switch, RangeFor)):
            return self._repeated(statement, frame)
        if isinstance(statement, (Return, Unread)):
            for expression in own_expressions(statement):
                self.expression(expression, frame)
        return False

    def _if(self, statement: If, frame: Frame) -> bool:
        self.expression(statement.condition, frame)
        condition = self.values.decided(statement.condition, frame)
        known = condition.constant
        sides = [statement.then, statement.other]
        if known is not None:
            side = sides[0] if known else sides[1]
            wrong = sides[1] if known else sides[0]
            if wrong is not None and self._holds_site(wrong):
                sides = [wrong]
            else:
                return side is not None and self.through(side, frame)
        ends: list[dict[Decl, Value]] = []
        for side in sides:
            inner = frame._replace(env=dict(frame.env))
            if side is not None and self.through(side, inner):
                frame.env.clear()
                frame.env.update(inner.env)
                return True
            if side is None or not (_ends(side) or ends_program(self.unit, side)):
                ends.append(inner.env)
        self._join(ends, condition, frame)
        return False

    def _join(self, ends: list[dict[Decl, Value]], condition: Expr, frame: Frame) -> None:
        """The common result of all paths, or the two results of an understood condition."""
        for decl in in_order({decl for env in ends for decl in env}):
            held = [env.get(decl) for env in ends]
            first, last = held[0], held[-1]
            if first is None and decl.ctype.kind == "int":
                first = self.values.unset(decl, Frame({}, frame.depth))
            if last is None and decl.ctype.kind == "int":
                last = self.values.unset(decl, Frame({}, frame.depth))
            chosen = self.values.chosen(condition, first, last)
            if chosen is not None:
                frame.env[decl] = chosen
            else:
                self.values.forget(decl, frame)

    def _repeated(self, statement: For | While | Switch | RangeFor, frame: Frame) -> bool:
        """A loop. Values that it changes are unknown inside and after it."""
        first = statement.init if isinstance(statement, For) else None
        if first is not None and self.through(first, frame):
            return True
        self._forget_written(statement, frame)
        if self._holds_site(statement):
            if isinstance(statement, Switch) and isinstance(statement.body, Compound):
                for item in statement.body.items:
                    if case_labels(item):  # also reached from the head of the `switch`
                        self._forget_written(statement, frame)
                    if self.through(item, frame):
                        return True
            loops_own = _counters(statement)
            for decl in loops_own:  # stands for itself: the loop says what it takes
                frame.env.pop(decl, None)
            return self.through(statement.body, frame)
        return False

    def _forget_written(self, statement: Stmt, frame: Frame) -> None:
        for decl in in_order(self.unit.effects.written_in(statement)):
            self.values.forget(decl, frame)
        for inner in every_statement(statement):
            for own in own_expressions(inner):
                self._expose(own)
                for expression in every_expression(own):
                    target = set_place(expression)
                    if isinstance(target, Member):
                        self._forget_made_of(target.field, frame)
                if any(stores(e) or isinstance(e, CallExpr) for e in every_expression(own)):
                    self._forget_exposed(frame)

    def _holds_site(self, statement: Stmt) -> bool:
        return any(
            inner is self.site
            or any(e is self.site for own in own_expressions(inner) for e in every_expression(own))
            for inner in every_statement(statement)
        )

    # -- expressions ----------------------------------------------------------------------------

    def expression(self, expression: Expression, frame: Frame) -> None:
        """The values that an expression leaves in variables."""
        if isinstance(expression, Binary) and expression.op == ",":
            self.expression(expression.left, frame)
            self.expression(expression.right, frame)
            return
        self._calls(expression, frame)
        self._expose(expression)
        named = isinstance(expression, Assign) and isinstance(expression.left, Name)
        if isinstance(expression, Assign) and not named:
            self._store(expression, frame)
        elif any(stores(inner) for inner in every_expression(expression)):
            self._forget_exposed(frame)
        if isinstance(expression, CallExpr) and not any(map(_sets, every_expression(expression))):
            return  # what it does to `n` of `&n` was asked of the function
        self.values.assign(expression, frame)

    def _store(self, assign: Assign, frame: Frame) -> None:
        """`*p = v`, `s.n = v`, `a[i] = v`."""
        value = self.context.value(assign.right, frame) if assign.op == "=" else None
        target = assign.left
        if isinstance(target, Member):
            self._forget_made_of(target.field, frame)
            own = variable_of(target)
            if own is None or own.kind not in OWN or own.ctype.kind != "struct":
                self._forget_exposed(frame)
            return
        if isinstance(target, Index) and _is_element(target):
            return
        place = self.context.pointer(target.operand, frame) if isinstance(target, Unary) else None
        named = self.context.named().get(place.array) if place is not None else None
        if place is not None and named is not None and place.subscripts == (ZERO,):
            decl = named[0]
            if decl.ctype.kind == "int":
                outermost = self.context.frames[0] if self.context.frames else frame
                for outer in (frame, *self.context.frames):
                    if decl in outer.env or outer is outermost:
                        if value is not None:
                            outer.env[decl] = converted(value, decl.ctype)
                        else:
                            self.values.forget(decl, outer)
                return
        self._forget_exposed(frame)

    def _calls(self, expression: Expression, frame: Frame) -> None:
        """The changes by called functions, by inlining or as an upper bound."""
        for call in every_expression(expression):
            if not isinstance(call, CallExpr) or call.free:
                continue
            function = self.unit.body_of(call.decl) if call.decl is not None else None
            hands_on = any(
                isinstance(e, Unary) and e.op == "&" for a in call.args for e in every_expression(a)
            )
            if function is not None and hands_on and len(self.context.frames) < _MAX_CALLS:
                self._follow(function, call, frame)
            elif hands_on or self.exposed:
                self._expose(call)
                self._forget_exposed(frame)

    def _follow(self, function: Function, call: CallExpr, frame: Frame) -> None:
        self._expose(call)
        inner = self.context.entered(function, call.args, frame)
        self.context.frames.append(frame)
        self.through(function.body, inner)
        self.context.frames.pop()

    def _expose(self, expression: Expression) -> None:
        for inner in every_expression(expression):
            if isinstance(inner, Unary) and inner.op == "&":
                root = variable_of(inner.operand)
                if root is not None:
                    self.exposed.add(root)

    def _forget_made_of(self, field: Decl, frame: Frame) -> None:
        """Variables with the value that a member had before: `m = s.n; s.n = 5;`."""
        uses = self.context.stored_uses
        older = {name for name, use in uses.items() if isinstance(use, Member)
                 and use.field.name == field.name}  # fmt: skip
        for outer in (frame, *self.context.frames) if older else ():
            for decl, held in list(outer.env.items()):
                if isinstance(held, Expr) and held.names & older:
                    self.values.forget(decl, outer)

    def _forget_exposed(self, frame: Frame) -> None:
        for outer in (frame, *self.context.frames):
            for decl in self.exposed & outer.env.keys():
                self.values.forget(decl, outer)


def come_to(loop: For, behind: Stmt, unit: LinkedUnit, context: Context, frame: Frame) -> None:
    """Follows what a thread runs up to a loop in it, whose own variables keep their names."""
    for decl in in_order(declared_in(loop)):
        context.name_of(decl)
    FollowedStatements(unit, context, loop).through(behind, frame)
    context.private.update(declared_in(behind))


def _is_element(target: Index) -> bool:
    """Whether the target of a store is certainly an array element, and not a variable reached
    through a pointer."""
    base: Expression = target
    while isinstance(base, Index):
        base = base.base
    return isinstance(base, Name) and base.decl.ctype.kind == "array"


def _sets(expression: Expression) -> bool:
    """Whether it sets a variable itself."""
    steps = ("++", "--", "p++", "p--")
    return isinstance(expression, Assign) or (
        isinstance(expression, Unary) and expression.op in steps
    )


def stores(expression: Expression) -> bool:
    """Whether an expression writes to memory other than a named variable."""
    if isinstance(expression, Assign):
        return not isinstance(expression.left, Name) and not (
            isinstance(expression.left, Index) and _is_element(expression.left)
        )
    return (
        isinstance(expression, Unary)
        and expression.op in ("++", "--", "p++", "p--")
        and not isinstance(expression.operand, Name)
    )


def _counters(statement: Stmt) -> set[Decl]:
    """The variables that the header of a `for` counts with."""
    if not isinstance(statement, For) or statement.increment is None:
        return set()
    return {
        inner.decl for inner in every_expression(statement.increment) if isinstance(inner, Name)
    }


def _ends(statement: Stmt) -> bool:
    """Whether it returns or jumps, so that no later statement runs."""
    if isinstance(statement, (Return, Jump)):
        return True
    if isinstance(statement, Compound):
        return bool(statement.items) and _ends(statement.items[-1])
    return isinstance(statement, Directive) and any(map(_ends, inner_statements(statement)))
