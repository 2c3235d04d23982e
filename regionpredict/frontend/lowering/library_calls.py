"""Lowers calls of library functions on arrays (memory copies, strings, BLAS) to equivalent loops.

memcpy(a, b, 8 * n)          for memcpy@7 from 0 while < n: read b[..]; write a[..]
cblas_daxpy(n, s, x, 1, y, 1)  for daxpy@7 from 0 while < n: fp_mul, fp_add; read x, y; write y
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.constant import Constant
from regionpredict.frontend.lowering.frame import Frame, Pointer, is_multiple
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    Binary,
    CallExpr,
    Cast,
    Expression,
    IntLit,
    Opaque,
    Unary,
    show,
    without_casts,
)
from regionpredict.ir import Access, Expr, Loop, Node, Operation, Span, Statement
from regionpredict.ir.expr import ONE, ZERO
from regionpredict.library import FILLED_CONTAINER, allocated, blas_routine

BLAS_BLOCK = Constant(
    128, "elements", "assumed",
    "Goto and van de Geijn, TOMS 34, 2008: a block of B stays in the second cache; 128 KiB there",
)  # fmt: skip

_COPIES = frozenset(("memcpy", "memmove", "mempcpy", "bcopy"))
_FILLS = frozenset(("memset", "bzero"))
# String functions, with the positions of the arguments that they read and write.
_TEXT: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    **dict.fromkeys(("strlen", "strnlen", "strchr", "strrchr", "atoi", "atol", "atoll", "atof"),
                    ((0,), ())),
    **dict.fromkeys(("strcmp", "strncmp", "strcasecmp", "strncasecmp", "strcoll", "strstr",
                     "strspn", "strcspn", "strpbrk"), ((0, 1), ())),
    **dict.fromkeys(("strcpy", "strncpy", "strcat", "strncat", "stpcpy"), ((1,), (0,))),
    **dict.fromkeys(("sprintf", "snprintf", "vsprintf", "vsnprintf", "asctime_r", "ctime_r"),
                    ((), (0,))),
    "strftime": ((2,), (0,)),
}  # fmt: skip


class _Operand(NamedTuple):
    """A vector or matrix argument of a library routine.

    `address` is the position of its address among the arguments. `strided_loop` and
    `contiguous_loop` are the indices of the loops that traverse it with a stride and along
    consecutive elements. `stride` is the position of the increment or leading dimension, or None
    for 1.
    """

    address: int
    kinds: tuple[str, ...]
    strided_loop: int | None
    stride: int | None
    contiguous_loop: int | None


class _Routine(NamedTuple):
    """A BLAS routine: the positions of its loop lengths among the arguments, its operands, and its
    multiplications and additions per iteration.

    `triangle` gives a loop and the enclosing loop whose variable bounds it. `blocked` says that
    libraries keep blocks of the matrices in a cache.
    """

    lengths: tuple[int, ...]
    operands: tuple[_Operand, ...]
    multiplications: int = 1
    additions: int = 1
    triangle: tuple[int, int] | None = None
    blocked: bool = False


def _vector_element(address: int, increment: int | None, *kinds: str) -> _Operand:
    return _Operand(address, kinds, 0, increment, None)


_R, _W, _RW = ("read",), ("write",), ("read", "write")
# Argument positions of BLAS level 1, which are the same in the C and Fortran interfaces.
_LEVEL_1 = {
    "axpy": _Routine((0,), (_vector_element(2, 3, *_R), _vector_element(4, 5, *_RW))),
    "copy": _Routine((0,), (_vector_element(1, 2, *_R), _vector_element(3, 4, *_W)), 0, 0),
    "swap": _Routine((0,), (_vector_element(1, 2, *_RW), _vector_element(3, 4, *_RW)), 0, 0),
    "scal": _Routine((0,), (_vector_element(2, 3, *_RW),), 1, 0),
    **dict.fromkeys(("dot", "dotu", "dotc"),
                    _Routine((0,), (_vector_element(1, 2, *_R), _vector_element(3, 4, *_R)))),
    "nrm2": _Routine((0,), (_vector_element(1, 2, *_R),)),
    "asum": _Routine((0,), (_vector_element(1, 2, *_R),), 0, 1),
    "amax": _Routine((0,), (_vector_element(1, 2, *_R),), 0, 1),
    "rot": _Routine((0,), (_vector_element(1, 2, *_RW), _vector_element(3, 4, *_RW)), 4, 2),
}  # fmt: skip
# Argument positions of BLAS levels 2 and 3 in the Fortran interface. The C interface adds the
# storage order as first argument. Fortran stores matrices by columns. A matrix stored by rows is
# equivalent to the transposed matrix (`_swapped_arguments`).
_LEVELS_2_3 = {
    "gemv": _Routine((2, 1), (_Operand(4, _R, 0, 5, 1), _Operand(6, _R, 0, 7, None),
                            _Operand(9, _RW, 1, 10, None))),
    "ger": _Routine((1, 0), (_Operand(7, _RW, 0, 8, 1), _Operand(3, _R, 1, 4, None),
                           _Operand(5, _R, 0, 6, None))),
    "symv": _Routine((1, 1), (_Operand(3, _R, 0, 4, 1), _Operand(5, _R, 0, 6, None),
                            _Operand(8, _RW, 1, 9, None)), 2, 2, (1, 0)),
    "trmv": _Routine((3, 3), (_Operand(4, _R, 0, 5, 1), _Operand(6, _RW, 1, 7, None)),
                     1, 1, (1, 0)),
    "trsv": _Routine((3, 3), (_Operand(4, _R, 0, 5, 1), _Operand(6, _RW, 1, 7, None)),
                     1, 1, (1, 0)),
    "syr": _Routine((1, 1), (_Operand(5, _RW, 0, 6, 1), _Operand(3, _R, 1, 4, None),
                           _Operand(3, _R, 0, 4, None)), 1, 1, (1, 0)),
    "syr2": _Routine((1, 1), (_Operand(7, _RW, 0, 8, 1), _Operand(3, _R, 1, 4, None),
                            _Operand(5, _R, 0, 6, None)), 2, 2, (1, 0)),
    "gemm": _Routine((3, 4, 2), (_Operand(8, _R, 0, 9, 1), _Operand(6, _R, 1, 7, 2),
                               _Operand(11, _RW, 0, 12, 2)), blocked=True),
    "symm": _Routine((3, 2, 2), (_Operand(7, _R, 0, 8, 1), _Operand(5, _R, 1, 6, 2),
                               _Operand(10, _RW, 0, 11, 2)), blocked=True),
    "syrk": _Routine((2, 3, 2), (_Operand(5, _R, 1, 6, 0), _Operand(5, _R, 1, 6, 2),
                               _Operand(8, _RW, 0, 9, 2)), 1, 1, (2, 0)),
    "syr2k": _Routine((2, 3, 2), (_Operand(5, _R, 1, 6, 0), _Operand(7, _R, 1, 8, 2),
                                _Operand(10, _RW, 0, 11, 2)), 2, 2, (2, 0)),
    "trmm": _Routine((5, 4, 4), (_Operand(9, _R, 0, 10, 1), _Operand(7, _R, 1, 8, 2),
                               _Operand(9, _RW, 0, 10, 2)), 1, 1, (2, 1)),
    "trsm": _Routine((5, 4, 4), (_Operand(9, _R, 0, 10, 1), _Operand(7, _R, 1, 8, 2),
                               _Operand(9, _RW, 0, 10, 2)), 1, 1, (2, 1)),
}  # fmt: skip
# Routines for complex matrices, which access memory like the real ones.
_LEVELS_2_3 |= {
    complex_name: _LEVELS_2_3[name] for name, complex_name in (
        ("symv", "hemv"), ("syr", "her"), ("syr2", "her2"), ("ger", "geru"), ("ger", "gerc"),
        ("symm", "hemm"), ("syrk", "herk"), ("syr2k", "her2k"),
    )
}  # fmt: skip
_GEMV_TRANSPOSED = _Routine((2, 1), (_Operand(4, _R, 0, 5, 1), _Operand(6, _R, 1, 7, None),
                                   _Operand(9, _RW, 0, 10, None)))  # fmt: skip
_BY_COLUMNS = 102  # CblasColMajor
_TRANSPOSED = frozenset((112, 113, *b"TtCc"))  # CblasTrans, CblasConjTrans
_WIDTHS = {"s": (32, 4), "d": (64, 8), "c": (32, 8), "z": (64, 16)}


def _base_name(name: str) -> str:
    """Returns a function's name without the prefixes and suffixes of compilers: `memcpy` for
    `__memcpy_chk`.
    """
    name = name.removeprefix("__builtin_").removeprefix("std::")
    if name.startswith("__") and name.endswith("_chk"):  # from macros of <string.h>
        name = name.strip("_").removesuffix("_chk")
    return name


def has_loops(call: CallExpr) -> bool:
    """Returns whether the call is a library function that traverses arrays."""
    name = _base_name(call.name)
    return copies_or_fills(name) or name in _TEXT or blas_routine(name) is not None


def initial_fill(container: Expression, value: Expression) -> CallExpr | None:
    """Returns a call of `memset` that writes the elements of a new container. None if the `value`
    is not the construction of a container with a number of elements.
    """
    made = without_casts(value)
    if not isinstance(made, CallExpr) or made.name != FILLED_CONTAINER:
        return None
    args = (container, IntLit(0), Binary("*", *made.args))
    return CallExpr("memset", None, args, made.span)


def copies_or_fills(name: str) -> bool:
    """Returns whether a library function copies memory or fills it, such as `memset`."""
    return _base_name(name) in _COPIES | _FILLS


def is_text(call: CallExpr) -> bool:
    """Returns whether the call is a string function."""
    return _base_name(call.name) in _TEXT


def library_loops(call: CallExpr, context: Context, frame: Frame) -> list[Node] | None:
    """Returns loops that are equivalent to a library call. Returns None for unknown functions and
    unsupported arguments.
    """
    name = _base_name(call.name)
    if name in _COPIES or name in _FILLS:
        return _copy_or_fill_loop(name, call, context, frame)
    if name in _TEXT:
        return _text_loop(name, call, context, frame)
    blas = blas_routine(name)
    if blas is None:
        return None
    precision, routine, c_interface = blas
    args, operation = call.args, _LEVEL_1.get(routine)
    if operation is None:
        operation = _LEVELS_2_3[routine]
        by_rows = False
        if c_interface:
            by_rows = bool(args) and context.value(args[0], frame).constant != _BY_COLUMNS
            args = _swapped_arguments(routine, args[1:]) if by_rows else args[1:]
        if routine == "gemv" and args and by_rows != _is_transposed(args[0], context, frame):
            operation = _GEMV_TRANSPOSED
    return _routine_loops(operation, precision + routine, call, args, context, frame,
                    by_address=not c_interface)  # fmt: skip


# -- copies and fills -----------------------------------------------------------------------------


def _copy_or_fill_loop(
    name: str, call: CallExpr, context: Context, frame: Frame
) -> list[Node] | None:
    args = list(call.args)
    if name == "bcopy" and len(args) >= 2:
        args[0], args[1] = args[1], args[0]
    required = 3 if name != "bzero" else 2
    if len(args) < required:
        return None
    moved = list(zip(args[: 2 if name in _COPIES else 1], ("write", "read"), strict=False))
    if _is_allocated_in_region(args[0]):  # the target has no name yet, so only the source counts
        moved = moved[1:]
    places = [context.address_in(_without_cast(arg), frame) for arg, _ in moved]
    known = [place for place in places if place is not None]
    if len(known) < len(places):
        return None
    amount = context.value(args[required - 1], frame)
    arrays = [context.arrays.get(place.array) for place in known]
    sizes = [array.element_bytes for array in arrays if array is not None]
    if not sizes:  # scalars
        return []
    step = max(sizes)
    length = _element_count(amount, step)
    variable = _new_loop_variable(name, call, context)
    accesses = []
    for place, array, (_, kind) in zip(known, arrays, moved, strict=True):
        if array is not None:
            at = Expr.name(variable) * (step // array.element_bytes or 1)
            accesses.append(_access_by_call(place.plus(at), kind, call, step))
    if step == 1:
        accesses = [access._replace(bytes=1) for access in accesses]
    statement = Statement(show(call), call.span, (), tuple(reversed(accesses)))
    return [_loop_of_routine(variable, length, (statement,), call)]


def _is_allocated_in_region(argument: Expression) -> bool:
    """Returns whether the argument is itself a call that allocates memory."""
    made = _without_cast(argument)
    return isinstance(made, CallExpr) and allocated(made.name) is not None


def _text_loop(name: str, call: CallExpr, context: Context, frame: Frame) -> list[Node] | None:
    """Returns a loop over the characters that a string function reads or writes."""
    read, written = _TEXT[name]
    accesses = []
    variable = _new_loop_variable(name, call, context)
    for kind, positions in (("read", read), ("write", written)):
        for position in positions:
            argument = _without_cast(call.args[position]) if position < len(call.args) else None
            if isinstance(argument, Opaque):  # a string in quotes
                continue
            place = context.address_in(argument, frame) if argument is not None else None
            if place is None:
                return None
            if place.array in context.arrays:
                accesses.append(_access_by_call(place.plus(Expr.name(variable)), kind, call, 1))
    if not accesses:
        return []
    statement = Statement(show(call), call.span, (), tuple(accesses))
    return [Loop(variable, None, None, "", None, (statement,), call.span, "while", exits=True)]


def _element_count(amount: Expr, size: int) -> Expr:
    if size == 1 or is_multiple(amount, size):
        return amount.over(size)
    return Expr.atom("floordiv", amount, Expr.const(size))


def _without_cast(expression: Expression) -> Expression:
    """Returns the operand of a cast: `a` in `(void *)a`."""
    while isinstance(expression, Cast) and expression.ctype.kind == "pointer":
        expression = expression.operand
    return expression


# -- linear algebra -------------------------------------------------------------------------------


def _is_transposed(argument: Expression, context: Context, frame: Frame) -> bool:
    """Returns whether a transposition argument of BLAS is a constant that requests a transposed
    matrix, such as `CblasTrans`.
    """
    return context.value(argument, frame).constant in _TRANSPOSED


def _swapped_arguments(name: str, args: Sequence[Expression]) -> tuple[Expression, ...]:
    """Returns the arguments of the equivalent operation on transposed matrices: (A B)' = B' A'."""
    swaps = {
        "gemv": ((1, 2),), "ger": ((0, 1), (3, 5), (4, 6)), "gemm": ((2, 3), (6, 8), (7, 9)),
        "geru": ((0, 1), (3, 5), (4, 6)), "gerc": ((0, 1), (3, 5), (4, 6)),
        "symm": ((2, 3),), "hemm": ((2, 3),), "trmm": ((4, 5),), "trsm": ((4, 5),),
    }  # fmt: skip
    exchanged = list(args)
    for first, other in swaps.get(name, ()):
        if max(first, other) < len(exchanged):
            exchanged[first], exchanged[other] = exchanged[other], exchanged[first]
    return tuple(exchanged)


def _routine_loops(
    operation: _Routine, name: str, call: CallExpr, args: Sequence[Expression], context: Context,
    frame: Frame, *, by_address: bool,
) -> list[Node] | None:  # fmt: skip
    last = max(
        *operation.lengths,
        *(max(operand.address, operand.stride or 0) for operand in operation.operands),
    )
    if len(args) <= last:
        return None

    def value(position: int) -> Expr:
        return _number_argument(args[position], context, frame, by_address=by_address)

    variables = []
    for _ in operation.lengths:
        variables.append(_new_loop_variable(name, call, context))
        context.open_loops.append(variables[-1])
    try:
        accesses: list[Access] = []
        bits, size = _WIDTHS[name[0]]
        for operand in operation.operands:
            place = context.address_in(_without_cast(args[operand.address]), frame)
            if place is None:
                return None
            if place.array not in context.arrays:
                continue
            at = ZERO
            if operand.strided_loop is not None:
                stride = ONE if operand.stride is None else value(operand.stride)
                at = Expr.name(variables[operand.strided_loop]) * stride
            if operand.contiguous_loop is not None:
                at = at + Expr.name(variables[operand.contiguous_loop])
            at = at * max(1, size // context.arrays[place.array].element_bytes)
            accesses += [
                _access_by_call(place.plus(at), kind, call, size) for kind in operand.kinds
            ]
    finally:
        del context.open_loops[len(context.open_loops) - len(variables) :]
    flops_factor = 4 if name[0] in "cz" else 1  # for complex arithmetic
    counts = {
        Operation("fp_mul", bits): operation.multiplications * flops_factor,
        Operation("fp_add", bits): operation.additions * flops_factor,
    }
    operations = tuple((operation, count) for operation, count in sorted(counts.items()) if count)
    body: tuple[Node, ...] = (Statement(show(call), call.span, operations, tuple(accesses)),)
    lengths = [value(position) for position in operation.lengths]
    if operation.blocked:
        return [_blocked_product(variables, lengths, body, call)]
    if operation.triangle is not None:
        lengths[operation.triangle[0]] = Expr.name(variables[operation.triangle[1]]) + 1
    for variable, length in reversed(list(zip(variables, lengths, strict=True))):
        body = (_loop_of_routine(variable, length, body, call),)
    return list(body)


def _blocked_product(
    variables: list[str], lengths: list[Expr], body: tuple[Node, ...], call: CallExpr
) -> Node:
    """Returns the loops of a blocked matrix product, in which a block of one matrix is reused for
    all columns of the other.

    for l in blocks, for i in blocks, for j: for l in the block, for i in the block
    """
    block = Expr.const(int(BLAS_BLOCK.value))
    outer, middle, inner = variables
    inside: tuple[Node, ...] = body
    for name, length in ((inner, lengths[2]), (middle, lengths[1])):
        begin = Expr.name(f"{name}^")
        end = Expr.atom("min", length, begin + block)
        inside = (Loop(name, begin, end, "<", ONE, inside, call.span),)
    inside = (_loop_of_routine(outer, lengths[0], inside, call),)
    for name, length in ((inner, lengths[2]), (middle, lengths[1])):
        inside = (Loop(f"{name}^", ZERO, length, "<", block, inside, call.span),)
    return inside[0]


def _number_argument(
    argument: Expression, context: Context, frame: Frame, *, by_address: bool
) -> Expr:
    """Returns the value of an integer argument, which Fortran interfaces receive by address."""
    if not by_address:
        return context.value(argument, frame)
    bare = _without_cast(argument)
    if isinstance(bare, Unary) and bare.op == "&":
        return context.value(bare.operand, frame)
    if context.address_in(bare, frame) is None:
        return context.value(bare, frame)
    return context.value(Unary("*", bare, Span("", 0)), frame)


# -- nodes ----------------------------------------------------------------------------------------


def _new_loop_variable(name: str, call: CallExpr, context: Context) -> str:
    """Returns the name of a new loop variable that no enclosing loop uses."""
    variable = f"{name}@{call.span.line}"
    while variable in context.open_loops:
        variable += "'"
    return variable


def _loop_of_routine(variable: str, length: Expr, body: tuple[Node, ...], call: CallExpr) -> Loop:
    return Loop(variable, ZERO, length, "<", ONE, body, call.span)


def _access_by_call(place: Pointer, kind: str, call: CallExpr, size: int) -> Access:
    return Access(
        place.array, kind, place.subscripts, show(call), call.span, size, place.member, place.offset
    )
