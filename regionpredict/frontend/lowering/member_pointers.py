"""Targets of pointers in a struct that each iteration sets before it uses them.

struct row r = {a + i * n};          r.p is a + i*n
r.p = a + i * n;                     so it is here
struct row r = rows[i];              r.p is rows[i].p
"""

from __future__ import annotations

from regionpredict.frontend.lowering.frame import Frame, Pointer
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    Assign,
    CType,
    Decl,
    Expression,
    Member,
    Name,
    Stmt,
    assigned_place,
    expressions_in,
    initial_values,
    member_named,
    without_casts,
)

# Members set before the loop are the same in each iteration, so their own name is enough.


def declared(decl: Decl, value: Expression, context: Context, frame: Frame) -> None:
    """Records the value of a struct variable when it is declared or assigned: `r = rows[i];`."""
    if decl.ctype.kind != "struct" or not context.open_loops:
        return
    own = context.name_of(decl, frame.depth)
    for path, member in context.members_set.variables.items():
        if path == own or path.startswith(f"{own}."):
            frame.env.pop(member, None)
    listed = initial_values(without_casts(value)) or ()
    given = [pair for pair in map(member_named, listed) if pair is not None]
    for name, part in given:
        pointer = context.pointer(part, frame)
        if pointer is not None:
            _set(f"{own}.{name}", pointer, context, frame)
    if given:
        return
    place = context.element(value, frame)
    copied = context.path(value, frame) if place is None else None
    if place is not None:
        frame.env[context.members_set.variable(own, decl.ctype)] = place
    elif copied is not None and isinstance(value, (Name, Member)):
        variables = dict(context.members_set.variables)
        held = {path: frame.env[decl] for path, decl in variables.items() if decl in frame.env}
        for path, leads in held.items():
            if path.startswith(f"{copied}.") and isinstance(leads, Pointer):
                _set(own + path.removeprefix(copied), leads, context, frame)


def assigned(expression: Expression, context: Context, frame: Frame) -> None:
    """Records a statement that sets a member: `r.p = a + i * n;`, `r.p++;`."""
    if isinstance(expression, Assign) and isinstance(expression.left, Name):
        if expression.op == "=":
            declared(expression.left.decl, expression.right, context, frame)
        return
    target = _member_set(expression)
    if target is None or target.field.ctype.kind != "pointer" or not context.open_loops:
        return
    path = context.path(target, frame)
    if path is None:
        return
    plain = isinstance(expression, Assign) and expression.op == "="
    pointer = context.pointer(expression.right, frame) if isinstance(expression, Assign) else None
    if not plain or pointer is None:
        before = context.pointer(target, frame)
        pointer = before.plus(context.varying(path)) if before is not None else None
    if pointer is not None:
        _set(path, pointer, context, frame)


def forget_set_in(loop: Stmt, context: Context, frame: Frame) -> None:
    """Makes members unknown at the start of an iteration if the previous iteration may have set
    them.
    """
    held = [decl for decl in context.members_set.variables.values() if decl in frame.env]
    if not held:
        return
    names = {
        target.field.name for inner in expressions_in(loop)
        if (target := _member_set(inner)) is not None
    }  # fmt: skip
    for decl in held:
        pointer = frame.env[decl]
        if decl.name.rpartition(".")[2].rpartition(">")[2] in names and isinstance(
            pointer, Pointer
        ):
            frame.env[decl] = pointer.plus(context.varying(decl.name))


def pass_members_on(context: Context, source: Frame, target: Frame) -> None:
    """Passes the values of members to called functions, and back when they return."""
    for decl in context.members_set.variables.values():
        if decl in source.env:
            target.env[decl] = source.env[decl]


def _set(path: str, pointer: Pointer, context: Context, frame: Frame) -> None:
    frame.env[context.members_set.variable(path, CType("pointer", 64, element=pointer.pointee))] = (
        pointer
    )


def _member_set(expression: Expression) -> Member | None:
    target = assigned_place(expression)
    return target if isinstance(target, Member) else None
