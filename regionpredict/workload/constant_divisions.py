"""The cost of a division by a constant. Compilers replace it by a product, a shift, or nothing.

Division by a power of two is an exact product with its reciprocal. For integers, it is a shift. For
other integer constants, it is the upper half of a product, shifted (Granlund, Montgomery 1994,
"Division by invariant integers using multiplication", PLDI: figures 4.2 and 5.2). A quotient of two
constants is evaluated at compile time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from regionpredict.ir import Operation, Statement
from regionpredict.workload.constants import EXACT_RECIPROCAL


def executed_operations(
    statement: Statement, *, reassociates: bool
) -> tuple[tuple[Operation, int], ...]:
    """The operations that one execution of a statement executes, with their numbers.

    `reassociates` says that the compiler may change rounding. A division by any constant then
    becomes a product.
    """
    if not any(_divisor_part(operation.kind) for operation, _ in statement.operations):
        return statement.operations
    count: dict[Operation, int] = {}
    for operation, number in statement.operations:
        for kind in (
            *_strength_reduced(operation.kind, reassociates),
            *_off_path_operation(operation.kind),
        ):
            made = Operation(kind, operation.bits)
            count[made] = count.get(made, 0) + number
    return tuple(sorted(count.items()))


def operations_written(statement: Statement) -> tuple[tuple[str, int], ...]:
    """The operations of one execution as written in the source, including divisions."""
    count: dict[tuple[str, int], int] = {}
    for operation, number in statement.operations:
        written = operation.arithmetic, operation.bits
        count[written] = count.get(written, 0) + number
    return tuple((kind, number) for (kind, _), number in sorted(count.items()))


def executed_path(kinds: Sequence[str], *, reassociates: bool) -> tuple[str, ...]:
    """The operations that are executed on the path of a value, in order."""
    return tuple(made for kind in kinds for made in _strength_reduced(kind, reassociates))


def _divisor_part(kind: str) -> str:
    """The divisor part of a division's kind: `folded`, or the operator and the divisor. "" for any
    other operation.
    """
    arithmetic, _, by = kind.partition(":")
    return by if arithmetic in ("fp_div", "int_div") else ""


def _strength_reduced(kind: str, reassociates: bool) -> tuple[str, ...]:
    by = _divisor_part(kind)
    if not by:
        return (kind,)
    if by == "folded":
        return ()
    if kind.startswith("fp_"):
        mantissa, exponent = math.frexp(float(by[1:]))
        exact = abs(2 * mantissa) == 1 and abs(exponent - 1) <= EXACT_RECIPROCAL.value
        return ("fp_mul",) if exact or reassociates else ("fp_div",)
    size, unsigned = abs(int(by[1:].rstrip("u"))), by.endswith("u")
    remainder = by.startswith("%")
    if size == 1:
        return ()
    if size & (size - 1):
        # The upper half of a product, shifted, plus one for negative numbers.
        quotient = ("int_mul", "int_logic") if unsigned else ("int_mul", "int_logic", "int_add")
        return (*quotient, "int_mul", "int_add") if remainder else quotient
    if unsigned:
        return ("int_logic",)
    # The addend for negative numbers is computed from the sign by one or two shifts.
    rounded = ("int_logic",) * (1 if size == 2 else 2) + ("int_add", "int_logic")
    return (*rounded, "int_add") if remainder else rounded


def _off_path_operation(kind: str) -> tuple[str, ...]:
    """The operation that is not on the critical path from the dividend. It computes the sign by a
    shift.
    """
    by = _divisor_part(kind)
    if not kind.startswith("int_") or by in ("", "folded") or by.endswith("u"):
        return ()
    size = abs(int(by[1:]))
    return ("int_logic",) if size & (size - 1) else ()
