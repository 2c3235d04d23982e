"""Finds the number of elements that the program allocates for a region's pointer.

    double *x = malloc(n * sizeof *x);        x[] = n
    solve(x, rows);                           also for a parameter, if all calls agree
    grid.u = new double[nx * ny];             grid.u[] = nx*ny, if this is the only allocation
    double *e = make(n);                      e[] = n, if `make` returns malloc(8 * size)

All assignments to the pointer must agree. Two pointers may be swapped. The length is unknown if the
address of the pointer is passed to a function, unless that function frees it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.frame import Frame, is_multiple
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
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
    address_taken,
    assigned_place,
    every_statement,
    expressions_in,
    is_member,
    is_null,
    is_variable,
    substituted,
    without_casts,
)
from regionpredict.ir import Expr, Span
from regionpredict.library import allocated

_DEEPEST = 8  # maximum nesting of functions that return an allocation
_MOST_SOURCES = 64  # maximum number of variables and members that one search visits


class AllocatedLength(NamedTuple):
    """A number of elements, and the function that declares the variables in this number."""

    elements: Expr
    function: Function


_SourceValue = tuple[Expression, Function]
"""A value that a pointer may have, and the function that declares the names in it."""


class _UnknownLengthError(Exception):
    """Raised if the length of a possible target is unknown."""


class AllocatedLengths:
    """Finds the allocations to which the pointers of one region point."""

    def __init__(self, unit: LinkedUnit, context: Context) -> None:
        self._unit = unit
        self._context = context

    def of_variable(
        self, decl: Decl, function: Function, element_bytes: int
    ) -> AllocatedLength | None:
        """Returns the length of the memory to which a variable of `function` points. Returns None
        if it is unknown.
        """
        return self._common_length((Name(decl, decl.span), function), element_bytes)

    def of_member(
        self, field: Decl, function: Function, element_bytes: int
    ) -> AllocatedLength | None:
        """Returns the length of the memory to which a struct member points, if `function` uses it.
        Returns None if it is unknown.
        """
        return self._common_length(
            (Member(None, field, False, field.span), function), element_bytes
        )

    def _common_length(self, source: _SourceValue, element_bytes: int) -> AllocatedLength | None:
        """Returns the common length of all allocations to which a pointer may point. Returns None
        if they differ or use names of different functions.
        """
        try:
            lengths = list(self._allocated_lengths_of(source, element_bytes))
        except _UnknownLengthError:
            return None
        first = lengths[0] if lengths else None
        same = first is not None and all(
            length.elements == first.elements
            and (length.function is first.function or not first.elements.names)
            for length in lengths
        )
        return first if same else None

    def _allocated_lengths_of(
        self, source: _SourceValue, element_bytes: int
    ) -> Iterator[AllocatedLength]:
        """Yields the lengths of all allocations to which a pointer may point. Each value must be
        the address of a first element.
        """
        waiting = [source]
        seen: set[tuple[str, Span]] = set()
        while waiting:
            value, function = waiting.pop()
            plain = _array_of_first_element(without_casts(value))
            if is_null(value):
                continue
            if isinstance(plain, CallExpr):
                sizes = self._size_factors(plain, element_bytes, 0)
                yield self._element_count(sizes, 1, function, element_bytes)
                continue
            if not isinstance(plain, (Name, Member)):
                raise _UnknownLengthError
            decl = plain.decl if isinstance(plain, Name) else plain.field
            if decl.ctype.kind == "array" and decl.kind != "parameter":
                size = decl.ctype.innermost.bytes
                yield self._element_count(
                    _declared_extents(decl.ctype), size, function, element_bytes
                )
                continue
            # An assignment from a visited variable, as in a swap, adds no new target.
            if (decl.name, decl.span) not in seen:
                seen.add((decl.name, decl.span))
                if decl.ctype.kind != "pointer" or len(seen) > _MOST_SOURCES:
                    raise _UnknownLengthError
                of_member = isinstance(plain, Member)
                more = (
                    self._member_values(decl)
                    if of_member
                    else self._values_of_variable(decl, function)
                )
                waiting += reversed(more)

    def _element_count(
        self, factors: Sequence[Expression], size: int, function: Function, element_bytes: int
    ) -> AllocatedLength:
        """Returns the number of elements in `size` times the `factors` bytes."""
        amount = Expr.const(size)
        for factor in factors:
            amount = amount * self._context.value(factor, Frame({}))
        if not is_multiple(amount, element_bytes) or amount.has_unreadable_part:
            raise _UnknownLengthError
        return AllocatedLength(amount.over(element_bytes), function)

    # -- assigned values ------------------------------------------------------------------------

    def _values_of_variable(self, decl: Decl, function: Function) -> list[_SourceValue]:
        """Returns the values of a variable, including those that callers pass for a parameter."""
        shared = decl.kind in ("global", "static")
        init = self._unit.variable_of(decl).init if shared else None
        sources = [] if init is None else [(init, function)]
        for setter in self._unit.writers_of(decl) if shared else [function]:
            sources += [(value, setter) for value in self._local_values(decl, setter)]
        if decl.kind == "parameter" and decl in function.parameters:
            passed = self._unit.arguments_passed_to(decl, function)
            if not passed:
                raise _UnknownLengthError
            sources += [(value, caller) for caller, _, value in passed]
        return sources

    def _member_values(self, field: Decl) -> list[_SourceValue]:
        """Returns the values that the program assigns to a member of any object."""
        sources: list[_SourceValue] = []
        for function in self._unit.setters_of(field):
            for expression in self._unit.changes_in(function).sets.get(field.name, ()):
                if isinstance(expression, Assign) and is_member(expression.left, field):
                    sources.append((expression.right, function))
                elif isinstance(expression, CallExpr):
                    passed = any(
                        is_member(address_taken(argument), field) for argument in expression.args
                    )
                    if passed and not self._frees_memory(expression):
                        raise _UnknownLengthError
        return sources

    def _local_values(self, decl: Decl, function: Function) -> list[Expression]:
        """Returns the values that a function assigns to a variable. Raises an error if another
        function may assign it.
        """
        changes = self._unit.changes_in(function)
        assigned = [decl.init] if decl.init is not None and decl in changes.declared else []
        for expression in changes.sets.get(decl.name, ()):
            if isinstance(expression, CallExpr):
                passed = any(
                    is_variable(address_taken(argument), decl) for argument in expression.args
                )
                if passed and not self._frees_memory(expression):
                    raise _UnknownLengthError
            elif is_variable(assigned_place(expression), decl):
                if not isinstance(expression, Assign) or expression.op != "=":
                    raise _UnknownLengthError
                assigned.append(expression.right)
        return assigned

    def _frees_memory(self, call: CallExpr) -> bool:
        body = self._unit.body_of(call.decl) if call.decl is not None else None
        return body is not None and any(
            isinstance(expression, CallExpr) and expression.name == "free"
            for expression in expressions_in(body.body)
        )

    # -- allocations ----------------------------------------------------------------------------

    def _size_factors(
        self, call: Expression, element_bytes: int, depth: int
    ) -> Sequence[Expression]:
        """Returns the factors whose product is the number of bytes that a call allocates. The
        called function may wrap `malloc`.
        """
        call = without_casts(call)
        if not isinstance(call, CallExpr) or depth > _DEEPEST:
            raise _UnknownLengthError
        positions = allocated(call.name)
        if positions is not None:
            if any(position >= len(call.args) for position in positions):
                raise _UnknownLengthError
            return [
                _with_element_size(call.args[position], element_bytes) for position in positions
            ]
        body = self._unit.body_of(call.decl) if call.decl is not None else None
        if body is None or len(body.parameters) != len(call.args):
            raise _UnknownLengthError
        returned = [
            statement.value for statement in every_statement(body.body)
            if isinstance(statement, Return) and not is_null(statement.value)
        ]  # fmt: skip
        value = returned[0] if len(returned) == 1 else None
        if isinstance(plain := without_casts(value) if value is not None else None, Name):
            assigned = [
                value for value in self._local_values(plain.decl, body) if not is_null(value)
            ]
            value = assigned[0] if len(assigned) == 1 else None
        if value is None or any(self._unit.is_set(given, body) for given in body.parameters):
            raise _UnknownLengthError
        given = dict(zip(body.parameters, call.args, strict=True))
        return [
            substituted(size, given) for size in self._size_factors(value, element_bytes, depth + 1)
        ]


def _declared_extents(ctype: CType) -> list[Expression]:
    """Returns the declared extents of an array type, one per dimension."""
    extents: list[Expression] = []
    inner: CType | None = ctype
    while inner is not None and inner.kind == "array":
        if inner.extent is None:
            raise _UnknownLengthError
        extents.append(inner.extent)
        inner = inner.element
    if inner is None:
        raise _UnknownLengthError
    return extents


def _with_element_size(expression: Expression, element_bytes: int) -> Expression:
    """Returns the expression with `sizeof(T)` replaced by the element size, where `T` is a template
    parameter.
    """
    if isinstance(expression, Opaque) and expression.text == "sizeof":
        return IntLit(element_bytes, 64)
    if isinstance(expression, Cast):
        return expression._replace(operand=_with_element_size(expression.operand, element_bytes))
    if isinstance(expression, Binary):
        return expression._replace(
            left=_with_element_size(expression.left, element_bytes),
            right=_with_element_size(expression.right, element_bytes),
        )
    return expression


def _array_of_first_element(value: Expression) -> Expression:
    """Returns `x` for `&x[0]`, and any other expression unchanged."""
    place = address_taken(value)
    if isinstance(place, Index) and is_null(place.index):
        return place.base
    return value
