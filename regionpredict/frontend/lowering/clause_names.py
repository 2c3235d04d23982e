"""Reads variable names and numbers from the clauses of a directive."""

from __future__ import annotations

from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import Pragma
from regionpredict.frontend.text import parse_expression
from regionpredict.ir import Span


def private_variables(pragma: Pragma) -> set[str]:
    """Returns the variables in the `private`, `firstprivate` and `lastprivate` clauses."""
    names: set[str] = set()
    for clause in pragma.clauses:
        if clause.name in ("private", "firstprivate", "lastprivate") and clause.text:
            names.update(name.strip() for name in clause.text.split(":")[-1].split(","))
    return names


def reduction_variables(simd: Pragma | None) -> frozenset[str]:
    """Returns the variables in the `reduction` clauses of a `simd` directive, if there is one."""
    clauses = simd.clauses if simd is not None else ()
    texts = [clause.text or "" for clause in clauses if clause.name == "reduction"]
    names = (name.partition("[")[0].strip() for text in texts
             for name in text.rpartition(":")[2].split(","))  # fmt: skip
    return frozenset(name for name in names if name)


def collapsed_loops(pragma: Pragma, context: Context, span: Span) -> int | None:
    """Returns the argument of the `collapse` clause, or 1 without the clause. Returns None if it is
    not a constant.
    """
    clause = pragma.clause("collapse")
    if clause is None or clause.text is None:
        return 1
    value = parse_expression(clause.text, lambda name: None, span)
    number = context.value(value, Frame({})).constant
    return int(number) if number is not None and number >= 1 else None
