"""Replaces divisions by constants by the operations that compilers generate for them.

A floating-point division by a power of two becomes an exact product, and an integer division a
shift. An integer division by another constant becomes the upper half of a product, shifted. See
Granlund, Montgomery 1994, "Division by invariant integers using multiplication", PLDI, figures 4.2
and 5.2. A quotient of two constants is evaluated at compile time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from regionpredict.ir import Operation, Statement
from regionpredict.workload.constants import EXACT_RECIPROCAL


def executed_operations(
    statement: Statement, *, reassociates: bool
) -> tuple[tuple[Operation, int], ...]:
    """Returns the operations that a core executes for a statement, with their numbers.

    `reassociates` says that the compiler may change rounding, so that a division by any constant
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
    """Returns the operations of a statement as written in the source, with their numbers."""
    count: dict[tuple[str, int], int] = {}
    for operation, number in statement.operations:
        written = operation.arithmetic, operation.bits
        count[written] = count.get(written, 0) + number
    return tuple((kind, number) for (kind, _), number in sorted(count.items()))


def executed_path(kinds: Sequence[str], *, reassociates: bool) -> tuple[str, ...]:
    """Returns the executed operations for the source operations on a dependence path, in order."""
    return tuple(made for kind in kinds for made in _strength_reduced(kind, reassociates))


def _divisor_part(kind: str) -> str:
    """Returns the divisor part of a division's kind: `folded`, or the operator and the divisor.
    Empty for other operations.
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
    """Returns the operation of a division outside the critical path: the shift that computes the
    sign.
    """
    by = _divisor_part(kind)
    if not kind.startswith("int_") or by in ("", "folded") or by.endswith("u"):
        return ()
    size = abs(int(by[1:]))
    return ("int_logic",) if size & (size - 1) else ()
