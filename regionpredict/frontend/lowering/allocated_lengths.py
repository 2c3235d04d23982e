"""The number of elements in the memory that a region's pointer points to, as allocated by the
program.

    double *x = malloc(n * sizeof *x);        x[] = n
    solve(x, rows);                           of its parameter, too, where all calls agree
    grid.u = new double[nx * ny];             grid.u[] = nx*ny, where one place allocates it
    double *e = make(n);                      n, where `make` returns malloc(8 * size)

The length is known only if all assignments of the pointer agree, including two pointers that are
swapped. A pointer whose address is passed on has no known length, except to functions that free it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.frame import Frame, divisible
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

_DEEPEST = 8  # maximum number of functions that pass an allocation on
_MOST_SOURCES = 64  # variables and members that one search visits


class AllocatedLength(NamedTuple):
    """A number of elements, and the function that the variables in this number belong to."""

    elements: Expr
    function: Function


_Source = tuple[Expression, Function]
"""A value that a pointer may have, and the function that the value's names belong to."""


class _UnknownLengthError(Exception):
    """The length of a possible target is unknown."""


class AllocatedLengths:
    """Finds the allocations that the pointers of one region's function point to."""

    def __init__(self, unit: LinkedUnit, context: Context) -> None:
        self._unit = unit
        self._context = context

    def of_variable(
        self, decl: Decl, function: Function, element_bytes: int
    ) -> AllocatedLength | None:
        """Returns the length of the memory that a function's variable points to. Returns None if
        the result is unknown.
        """
        return self._common_length((Name(decl, decl.span), function), element_bytes)

    def of_member(
        self, field: Decl, function: Function, element_bytes: int
    ) -> AllocatedLength | None:
        """Returns the length of the memory that a member points to, for a use of the member in
        `function`. Returns None if the result is unknown.
        """
        return self._common_length(
            (Member(None, field, False, field.span), function), element_bytes
        )

    def _common_length(self, source: _Source, element_bytes: int) -> AllocatedLength | None:
        """Returns the common length of all targets. Returns None if they differ. Equal names in
        different functions may have different values.
        """
        try:
            lengths = list(self._lengths(source, element_bytes))
        except _UnknownLengthError:
            return None
        first = lengths[0] if lengths else None
        same = first is not None and all(
            length.elements == first.elements
            and (length.function is first.function or not first.elements.names)
            for length in lengths
        )
        return first if same else None

    def _lengths(self, source: _Source, element_bytes: int) -> Iterator[AllocatedLength]:
        """Yields the lengths of all possible targets, if each value is the address of a first
        element.
        """
        waiting = [source]
        seen: set[tuple[str, Span]] = set()
        while waiting:
            value, function = waiting.pop()
            plain = _array_of_first_element(without_casts(value))
            if is_null(value):
                continue
            if isinstance(plain, CallExpr):
                sizes = self._sizes(plain, element_bytes, 0)
                yield self._in_elements(sizes, 1, function, element_bytes)
                continue
            if not isinstance(plain, (Name, Member)):
                raise _UnknownLengthError
            decl = plain.decl if isinstance(plain, Name) else plain.field
            if decl.ctype.kind == "array" and decl.kind != "parameter":
                size = decl.ctype.innermost.bytes
                yield self._in_elements(_extents(decl.ctype), size, function, element_bytes)
                continue
            # An assignment from a visited variable, as in a swap, adds no new target.
            if (decl.name, decl.span) not in seen:
                seen.add((decl.name, decl.span))
                if decl.ctype.kind != "pointer" or len(seen) > _MOST_SOURCES:
                    raise _UnknownLengthError
                of_member = isinstance(plain, Member)
                more = self._member_values(decl) if of_member else self._sources_of(decl, function)
                waiting += reversed(more)

    def _in_elements(
        self, factors: Sequence[Expression], size: int, function: Function, element_bytes: int
    ) -> AllocatedLength:
        """Returns the number of elements in `size` bytes multiplied by these factors."""
        amount = Expr.const(size)
        for factor in factors:
            amount = amount * self._context.value(factor, Frame({}))
        if not divisible(amount, element_bytes) or amount.has_unreadable_part:
            raise _UnknownLengthError
        return AllocatedLength(amount.over(element_bytes), function)

    # -- assigned values ------------------------------------------------------------------------

    def _sources_of(self, decl: Decl, function: Function) -> list[_Source]:
        """Returns the values of a variable, including those that callers pass for a parameter."""
        shared = decl.kind in ("global", "static")
        init = self._unit.variable_of(decl).init if shared else None
        sources = [] if init is None else [(init, function)]
        for setter in self._unit.writers_of(decl) if shared else [function]:
            sources += [(value, setter) for value in self._local_values(decl, setter)]
        if decl.kind == "parameter" and decl in function.parameters:
            handed = self._unit.arguments_passed_to(decl, function)
            if not handed:
                raise _UnknownLengthError
            sources += [(value, caller) for caller, _, value in handed]
        return sources

    def _member_values(self, field: Decl) -> list[_Source]:
        """Returns the values that the program assigns to a member of any object."""
        sources: list[_Source] = []
        for function in self._unit.setters_of(field):
            for expression in self._unit.changes_in(function).sets.get(field.name, ()):
                if isinstance(expression, Assign) and is_member(expression.left, field):
                    sources.append((expression.right, function))
                elif isinstance(expression, CallExpr):
                    handed = any(is_member(address_taken(one), field) for one in expression.args)
                    if handed and not self._frees(expression):
                        raise _UnknownLengthError
        return sources

    def _local_values(self, decl: Decl, function: Function) -> list[Expression]:
        """Returns the values that a function assigns to a variable, if only this function sets
        it.
        """
        changes = self._unit.changes_in(function)
        assigned = [decl.init] if decl.init is not None and decl in changes.declared else []
        for expression in changes.sets.get(decl.name, ()):
            if isinstance(expression, CallExpr):
                handed = any(is_variable(address_taken(given), decl) for given in expression.args)
                if handed and not self._frees(expression):
                    raise _UnknownLengthError
            elif is_variable(assigned_place(expression), decl):
                if not isinstance(expression, Assign) or expression.op != "=":
                    raise _UnknownLengthError
                assigned.append(expression.right)
        return assigned

    def _frees(self, call: CallExpr) -> bool:
        body = self._unit.body_of(call.decl) if call.decl is not None else None
        return body is not None and any(
            isinstance(expression, CallExpr) and expression.name == "free"
            for expression in expressions_in(body.body)
        )

    # -- allocations ----------------------------------------------------------------------------

    def _sizes(self, call: Expression, element_bytes: int, depth: int) -> Sequence[Expression]:
        """Returns the factors of the number of bytes that a call allocates, also through a function
        that only returns memory of a given size.
        """
        call = without_casts(call)
        if not isinstance(call, CallExpr) or depth > _DEEPEST:
            raise _UnknownLengthError
        positions = allocated(call.name)
        if positions is not None:
            if any(position >= len(call.args) for position in positions):
                raise _UnknownLengthError
            return [_with_size(call.args[position], element_bytes) for position in positions]
        body = self._unit.body_of(call.decl) if call.decl is not None else None
        if body is None or len(body.parameters) != len(call.args):
            raise _UnknownLengthError
        returned = [
            statement.value for statement in every_statement(body.body)
            if isinstance(statement, Return) and not is_null(statement.value)
        ]  # fmt: skip
        value = returned[0] if len(returned) == 1 else None
        if isinstance(plain := without_casts(value) if value is not None else None, Name):
            assigned = [one for one in self._local_values(plain.decl, body) if not is_null(one)]
            value = assigned[0] if len(assigned) == 1 else None
        if value is None or any(self._unit.is_set(given, body) for given in body.parameters):
            raise _UnknownLengthError
        given = dict(zip(body.parameters, call.args, strict=True))
        return [substituted(size, given) for size in self._sizes(value, element_bytes, depth + 1)]


def _extents(ctype: CType) -> list[Expression]:
    """Returns the declared extents of an array."""
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


def _with_size(expression: Expression, element_bytes: int) -> Expression:
    """Returns the size in `sizeof(T)` of a template: that of the type to which the instance's
    returned pointer points.
    """
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


def _array_of_first_element(value: Expression) -> Expression:
    """Returns the array `x` in `&x[0]`."""
    place = address_taken(value)
    if isinstance(place, Index) and is_null(place.index):
        return place.base
    return value
