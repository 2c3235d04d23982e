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

# Values are recorded only inside loops. A member assigned before the loop keeps its own name.


def record_declaration(decl: Decl, value: Expression, context: Context, frame: Frame) -> None:
    """Records the pointers in a struct at its declaration or assignment: `r = rows[i];`."""
    if decl.ctype.kind != "struct" or not context.open_loops:
        return
    own = context.name_of(decl, frame.depth)
    for path, member in context.assigned_members.variables.items():
        if path == own or path.startswith(f"{own}."):
            frame.env.pop(member, None)
    elements = initial_values(without_casts(value)) or ()
    members = [pair for pair in map(member_named, elements) if pair is not None]
    for name, part in members:
        pointer = context.address_in(part, frame)
        if pointer is not None:
            _set_pointer(f"{own}.{name}", pointer, context, frame)
    if members:
        return
    place = context.element(value, frame)
    copied = context.path(value, frame) if place is None else None
    if place is not None:
        frame.env[context.assigned_members.variable(own, decl.ctype)] = place
    elif copied is not None and isinstance(value, (Name, Member)):
        variables = dict(context.assigned_members.variables)
        known = {path: frame.env[decl] for path, decl in variables.items() if decl in frame.env}
        for path, target in known.items():
            if path.startswith(f"{copied}.") and isinstance(target, Pointer):
                _set_pointer(own + path.removeprefix(copied), target, context, frame)


def record_member_assignment(expression: Expression, context: Context, frame: Frame) -> None:
    """Records an assignment to a pointer member of a struct: `r.p = a + i * n;`, `r.p++;`."""
    if isinstance(expression, Assign) and isinstance(expression.left, Name):
        if expression.op == "=":
            record_declaration(expression.left.decl, expression.right, context, frame)
        return
    target = _assigned_member(expression)
    if target is None or target.field.ctype.kind != "pointer" or not context.open_loops:
        return
    path = context.path(target, frame)
    if path is None:
        return
    plain = isinstance(expression, Assign) and expression.op == "="
    pointer = (
        context.address_in(expression.right, frame) if isinstance(expression, Assign) else None
    )
    if not plain or pointer is None:
        before = context.address_in(target, frame)
        pointer = before.plus(context.varying(path)) if before is not None else None
    if pointer is not None:
        _set_pointer(path, pointer, context, frame)


def forget_members_set_in(loop: Stmt, context: Context, frame: Frame) -> None:
    """Makes pointer members unknown at the start of an iteration if the loop assigns them."""
    known = [decl for decl in context.assigned_members.variables.values() if decl in frame.env]
    if not known:
        return
    names = {
        target.field.name for inner in expressions_in(loop)
        if (target := _assigned_member(inner)) is not None
    }  # fmt: skip
    for decl in known:
        pointer = frame.env[decl]
        if decl.name.rpartition(".")[2].rpartition(">")[2] in names and isinstance(
            pointer, Pointer
        ):
            frame.env[decl] = pointer.plus(context.varying(decl.name))


def pass_members_on(context: Context, source: Frame, target: Frame) -> None:
    """Copies the values of struct members between the frames of a caller and a called function."""
    for decl in context.assigned_members.variables.values():
        if decl in source.env:
            target.env[decl] = source.env[decl]


def _set_pointer(path: str, pointer: Pointer, context: Context, frame: Frame) -> None:
    frame.env[
        context.assigned_members.variable(path, CType("pointer", 64, element=pointer.pointee))
    ] = pointer


def _assigned_member(expression: Expression) -> Member | None:
    target = assigned_place(expression)
    return target if isinstance(target, Member) else None
