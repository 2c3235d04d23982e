"""The length of the memory that a pointer of a region points to, as the program allocated it.

    double *x = malloc(n * sizeof *x);        x[] = n
    solve(x, rows);                           of its parameter, too, where all calls agree
    grid.u = new double[nx * ny];             grid.u[] = nx*ny, where one place allocates it
    double *e = make(n);                      n, where `make` returns malloc(8 * size)

The length is known only if all assignments of the pointer agree, including two pointers that are
swapped. A pointer whose address is passed on has no known length, except to functions that free it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.frame import Frame, divisible
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    INCREMENT_OPERATORS,
    Assign,
    Binary,
    CallExpr,
    Cast,
    CType,
    Decl,
    Expression,
    Function,
    Index,
    IntLit,
    Member,
    Name,
    Opaque,
    Return,
    Unary,
    address_taken,
    every_statement,
    expressions_in,
    substituted,
    without_casts,
)
from regionpredict.ir import Expr, Span
from regionpredict.library import allocated

_DEEPEST = 8  # maximum number of functions that pass the pointer on


class AllocatedLength(NamedTuple):
    """A number of elements, and the function whose variables it contains."""

    elements: Expr
    function: Function


_Lengths = tuple[AllocatedLength, ...] | None
"""The lengths of all possible targets. None if one is unknown."""
_Asked = tuple[tuple[str, Span], ...]
"""The variables and members that lead to the requested one. An assignment from one of them, as in a
swap, adds no new target."""


class AllocatedLengths:
    """Finds the allocations that the pointers of one region's function point to."""

    def __init__(self, unit: LinkedUnit, context: Context) -> None:
        self._unit = unit
        self._context = context

    def of_variable(
        self, decl: Decl, function: Function, element_bytes: int
    ) -> AllocatedLength | None:
        """The length of the target of a function's variable. None if unknown."""
        return _agreed(self._of_variable(decl, function, element_bytes, ()))

    def of_member(self, field: Decl, element_bytes: int) -> AllocatedLength | None:
        """The length of the target of a member. None if unknown."""
        return _agreed(self._of_member(field, element_bytes, ()))

    def _of_variable(
        self, decl: Decl, function: Function, element_bytes: int, asked: _Asked
    ) -> _Lengths:
        if decl.ctype.kind != "pointer" or len(asked) > _DEEPEST:
            return None
        place = (decl.name, decl.span)
        if place in asked:
            return ()
        shared = decl.kind in ("global", "static")
        setters = self._unit.writers_of(decl) if shared else [function]
        init = self._unit.variable_of(decl).init if shared else None
        assigned = [] if init is None or _is_null(init) else [(init, function)]
        for setter in setters:
            own = self._assigned_to(decl, setter)
            if own is None:
                return None
            assigned += [(value, setter) for value in own]
        lengths = self._of_assigned(assigned, element_bytes, (*asked, place))
        if decl.kind == "parameter" and decl in function.parameters:
            given = self._of_argument(decl, function, element_bytes, (*asked, place))
            lengths = None if lengths is None or given is None else (*lengths, *given)
        return lengths

    def _of_member(self, field: Decl, element_bytes: int, asked: _Asked) -> _Lengths:
        if field.ctype.kind != "pointer" or len(asked) > _DEEPEST:
            return None
        place = (field.name, field.span)
        if place in asked:
            return ()
        assigned: list[tuple[Expression, Function]] = []
        for function in self._unit.setters_of(field):
            for expression in self._unit.changes_in(function).sets.get(field.name, ()):
                if isinstance(expression, Assign) and _is_member(expression.left, field):
                    if not _is_null(expression.right):
                        assigned.append((expression.right, function))
                elif isinstance(expression, CallExpr):
                    handed = any(
                        _is_member(address_taken(argument), field) for argument in expression.args
                    )
                    if handed and not self._frees(expression):
                        return None
        return self._of_assigned(assigned, element_bytes, (*asked, place))

    def _of_assigned(
        self, assigned: Sequence[tuple[Expression, Function]], element_bytes: int, asked: _Asked
    ) -> _Lengths:
        """The lengths of all values that are assigned, each with its function."""
        lengths: list[AllocatedLength] = []
        for value, function in assigned:
            own = self._of_value(value, function, element_bytes, asked)
            if own is None:
                return None
            lengths += own
        return tuple(lengths)

    def _assigned_to(self, decl: Decl, function: Function) -> list[Expression] | None:
        """The assigned values of a variable, without null pointers. None if other code sets it."""
        changes = self._unit.changes_in(function)
        assigned = [decl.init] if decl.init is not None and decl in changes.declared else []
        for expression in changes.sets.get(decl.name, ()):
            if isinstance(expression, Assign) and _names(expression.left, decl):
                if expression.op != "=":
                    return None
                assigned.append(expression.right)
            elif self._may_set(expression, decl):
                return None
        return [value for value in assigned if not _is_null(value)]

    def _may_set(self, expression: Expression, decl: Decl) -> bool:
        """Whether the expression moves a pointer, or passes its address to a function that does not
        free it.
        """
        if isinstance(expression, CallExpr):
            handed = any(_has_address(argument, decl) for argument in expression.args)
            return handed and not self._frees(expression)
        return (
            isinstance(expression, Unary)
            and expression.op in INCREMENT_OPERATORS
            and _names(expression.operand, decl)
        )

    def _frees(self, call: CallExpr) -> bool:
        body = self._unit.body_of(call.decl) if call.decl is not None else None
        return body is not None and any(
            isinstance(expression, CallExpr) and expression.name == "free"
            for expression in expressions_in(body.body)
        )

    def _of_argument(
        self, decl: Decl, function: Function, element_bytes: int, asked: _Asked
    ) -> _Lengths:
        handed = [
            (value, caller) for caller, _, value in self._unit.arguments_passed_to(decl, function)
        ]
        return self._of_assigned(handed, element_bytes, asked) if handed else None

    def _of_value(
        self, value: Expression, function: Function, element_bytes: int, asked: _Asked
    ) -> _Lengths:
        """The length of the memory at an address, if this is the address of its first element."""
        sizes = self._sizes(value, element_bytes)
        if sizes is not None:
            amount = Expr.const(1)
            for size in sizes:
                amount = amount * self._context.value(size, Frame({}))
            if not divisible(amount, element_bytes) or amount.has_unreadable_part:
                return None
            return (AllocatedLength(amount.over(element_bytes), function),)
        plain = _first_of(without_casts(value))
        declared = plain.decl if isinstance(plain, Name) else None
        if isinstance(plain, Member):
            declared = plain.field
        if declared is not None and declared.ctype.kind == "array" and declared.kind != "parameter":
            return self._of_array(declared.ctype, function, element_bytes)
        if isinstance(plain, Name):
            return self._of_variable(plain.decl, function, element_bytes, asked)
        if isinstance(plain, Member):
            return self._of_member(plain.field, element_bytes, asked)
        return None

    def _of_array(self, ctype: CType, function: Function, element_bytes: int) -> _Lengths:
        """The declared length of an array, in elements."""
        amount = Expr.const(1)
        inner: CType | None = ctype
        while inner is not None and inner.kind == "array":
            if inner.extent is None:
                return None
            amount = amount * self._context.value(inner.extent, Frame({}))
            inner = inner.element
        if inner is None or amount.has_unreadable_part:
            return None
        amount = amount * inner.bytes
        if not divisible(amount, element_bytes):
            return None
        return (AllocatedLength(amount.over(element_bytes), function),)

    def _sizes(
        self, value: Expression, element_bytes: int, depth: int = 0
    ) -> Sequence[Expression] | None:
        """The factors of the number of bytes that a call allocates. None for other calls."""
        plain = without_casts(value)
        if not isinstance(plain, CallExpr) or depth > _DEEPEST:
            return None
        positions = allocated(plain.name)
        if positions is not None:
            if any(position >= len(plain.args) for position in positions):
                return None
            return [_with_size(plain.args[position], element_bytes) for position in positions]
        return self._sizes_of_callee(plain, element_bytes, depth)

    def _sizes_of_callee(
        self, call: CallExpr, element_bytes: int, depth: int
    ) -> Sequence[Expression] | None:
        """Whether a function only returns memory of a given size."""
        body = self._unit.body_of(call.decl) if call.decl is not None else None
        if body is None or len(body.parameters) != len(call.args):
            return None
        returned = [
            statement.value
            for statement in every_statement(body.body)
            if isinstance(statement, Return)
            and statement.value is not None
            and not _is_null(statement.value)
        ]
        if len(returned) != 1:
            return None
        value: Expression = returned[0]
        plain = without_casts(value)
        if isinstance(plain, Name):
            assigned = self._assigned_to(plain.decl, body)
            if assigned is None or len(assigned) != 1:
                return None
            value = assigned[0]
        sizes = self._sizes(value, element_bytes, depth + 1)
        if sizes is None:
            return None
        given = dict(zip(body.parameters, call.args, strict=True))
        if any(self._is_set(parameter, body) for parameter in body.parameters):
            return None
        return [substituted(size, given) for size in sizes]

    def _is_set(self, parameter: Decl, body: Function) -> bool:
        return any(
            isinstance(expression, Assign) and _names(expression.left, parameter)
            for expression in self._unit.changes_in(body).sets.get(parameter.name, ())
        )


def _agreed(lengths: _Lengths) -> AllocatedLength | None:
    """The common length, or None. Equal names in different functions may have different values."""
    if not lengths:
        return None
    first = lengths[0]
    same = all(
        length.elements == first.elements
        and (length.function is first.function or not first.elements.names)
        for length in lengths
    )
    return first if same else None


def _with_size(expression: Expression, element_bytes: int) -> Expression:
    """`sizeof(T)` in a template: the size of the target of its instance's returned pointer."""
    if isinstance(expression, Opaque) and expression.text == "sizeof":
        return IntLit(element_bytes, 64)
    if isinstance(expression, Cast):
        return expression._replace(operand=_with_size(expression.operand, element_bytes))
    if isinstance(expression, Binary):
        return expression._replace(
            left=_with_size(expression.left, element_bytes),
            right=_with_size(expression.right, element_bytes),
        )
    return expression


def _first_of(value: Expression) -> Expression:
    """`x` of `&x[0]`."""
    place = address_taken(value)
    if isinstance(place, Index) and _is_null(place.index):
        return place.base
    return value


def _is_null(value: Expression) -> bool:
    plain = without_casts(value)
    return isinstance(plain, IntLit) and plain.value == 0


def _names(expression: Expression, decl: Decl) -> bool:
    return isinstance(expression, Name) and expression.decl is decl


def _is_member(expression: Expression | None, field: Decl) -> bool:
    """Whether the expression is the member `field`. Each unit that reads its header declares it
    again.
    """
    if not isinstance(expression, Member):
        return False
    own = expression.field
    return own is field or (own.name == field.name and own.span == field.span)


def _has_address(expression: Expression, decl: Decl) -> bool:
    pointed = address_taken(expression)
    return pointed is not None and _names(pointed, decl)
