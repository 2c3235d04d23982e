"""Simulates the environment of a program with a single process: environment variables, MPI and
mathematical functions.

getenv("SIZE")                      a null pointer, since no variable is set
MPI_Comm_size(comm, &size)          one process, whose rank is 0 (MPI 4.0, sec. 7.4.1)
MPI_Bcast(sizes, 3, ...)            no change, since the sender is the only process (sec. 6.4)
MPI_Allreduce(&own, &all, 1, ...)   a copy, since the sum has one operand (sec. 6.9)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from regionpredict.frontend.program_arguments.memory import (
    UNKNOWN,
    Address,
    Memory,
    Place,
    Value,
    array_at,
)
from regionpredict.frontend.syntax import CallExpr

_ONE_PROCESS = {"MPI_Comm_rank": 0, "MPI_Comm_size": 1}
_WITHOUT_EFFECT = frozenset(("MPI_Init", "MPI_Barrier", "MPI_Bcast", "MPI_Finalize"))
_REDUCTIONS = frozenset(("MPI_Reduce", "MPI_Allreduce", "MPI_Scan"))
_REAL: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc,
    "pow": math.pow, "exp": math.exp, "log": math.log, "log2": math.log2, "log10": math.log10,
    "fabs": abs, "sin": math.sin, "cos": math.cos, "tan": math.tan, "atan": math.atan,
    "fmod": math.fmod, "fmin": min, "fmax": max,
}  # fmt: skip
_EXACT = frozenset(("sqrt", "floor", "ceil", "trunc", "fabs", "fmod", "fmin", "fmax", "lround"))
_WHOLE: dict[str, Callable[[float], int]] = {
    "lround": lambda value: math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1),
    "lrint": round,
}


def environment_value(
    call: CallExpr, arguments: Sequence[Value], memory: Memory, *, assumed: bool
) -> Value | None:
    """Returns the result of a function that queries the environment. None for any other function.

    Results through pointers are stored in `memory`. If `assumed` is true, environment variables are
    unset. Otherwise, they are unknown.
    """
    if call.name == "getenv":
        return 0 if assumed else None
    if call.name in _ONE_PROCESS:
        if len(arguments) == 2 and isinstance(arguments[1], Address):
            memory.write(arguments[1].place, _ONE_PROCESS[call.name])
        return 0
    if call.name in _WITHOUT_EFFECT:
        return 0
    if call.name in _REDUCTIONS and len(arguments) > 1:
        _reduce(memory, *arguments[:2])
        return 0
    return _math_function_value(call.name, arguments)


def _reduce(memory: Memory, own: Value, reduced: Value) -> None:
    """Interprets a reduction over a single process. The result is the process's own value,
    including for `MPI_IN_PLACE`.
    """
    if not isinstance(reduced, Address):
        return
    source = array_at(own.place) if isinstance(own, Address) else None
    target = array_at(reduced.place)
    if source == target or (source is None and own is not UNKNOWN):
        return  # MPI_IN_PLACE
    inside = {} if source is None else memory.inside(source)
    memory.forget(target)
    for steps, value in inside.items():
        memory.write(Place(target.decl, (*target.steps, *steps)), value)


def exact_result(name: str, arguments: Sequence[Value]) -> Value | None:
    """Returns the result of a mathematical function if it is the same on every platform.

    None for any other function.
    """
    return _math_function_value(name, arguments) if name.removeprefix("std::") in _EXACT else None


def _math_function_value(name: str, arguments: Sequence[Value]) -> Value | None:
    """Returns the result of a mathematical function, including variants for `float` and in
    `std`.
    """
    plain = name.removeprefix("std::")
    single = plain not in _REAL and plain.endswith("f")
    key = plain.removesuffix("f") if single else plain
    function = _REAL.get(key) or _WHOLE.get(key) or _WHOLE.get(key.removeprefix("l"))
    if function is None:
        return None
    numbers = [value for value in arguments if isinstance(value, (int, float))]
    if len(numbers) != len(arguments):
        return UNKNOWN
    try:
        result = function(*map(float, numbers))
    except (ValueError, OverflowError, TypeError):
        return UNKNOWN
    return result if key in _WHOLE else float(result)
