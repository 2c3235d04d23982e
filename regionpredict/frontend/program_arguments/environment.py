"""What a program finds around it when it is started on its own: files, variables, MPI, mathematics.

fopen("input.dat", "r")      a null pointer where there is no such file beside the source or in the
                             working folder
getenv("SIZE")               a null pointer: no variable is set
MPI_Comm_size(comm, &size)   one process, whose rank is 0 (MPI 4.0, sec. 7.4.1)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from regionpredict.file_presence import exists
from regionpredict.frontend.program_arguments.memory import (
    UNKNOWN,
    Address,
    Place,
    Text,
    Value,
)
from regionpredict.frontend.syntax import CallExpr, CType, Decl

_FILE = CType("unknown")
_ONE_PROCESS = {"MPI_Comm_rank": 0, "MPI_Comm_size": 1}
_REAL: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc,
    "pow": math.pow, "exp": math.exp, "log": math.log, "log2": math.log2, "log10": math.log10,
    "fabs": abs, "sin": math.sin, "cos": math.cos, "tan": math.tan, "atan": math.atan,
    "fmod": math.fmod, "fmin": min, "fmax": max,
}  # fmt: skip
_WHOLE: dict[str, Callable[[float], int]] = {
    "lround": lambda value: math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1),
    "lrint": round,
}


def environment_value(
    call: CallExpr, arguments: Sequence[Value], write: Callable[[Place, Value], None],
    *, assumed: bool,
) -> Value | None:  # fmt: skip
    """What a function gives that asks for what is around the program; None for any other.

    `write` puts a value to a place, for a function that returns it through a pointer. Files and
    variables are those above where they may be `assumed`; otherwise nothing is known of them.
    """
    if call.name in ("getenv", "fopen"):
        if not assumed:
            return None
        return 0 if call.name == "getenv" else _opened(call, arguments)
    if call.name in _ONE_PROCESS:
        if len(arguments) == 2 and isinstance(arguments[1], Address):
            write(arguments[1].place, _ONE_PROCESS[call.name])
        return 0
    return _number(call.name, arguments)


def _opened(call: CallExpr, arguments: Sequence[Value]) -> Value:
    name, mode = (*arguments, UNKNOWN, UNKNOWN)[:2]
    if isinstance(mode, Text) and not mode.rest.startswith("r"):
        return Address(Place(Decl("(file)", "local", _FILE, call.span)))
    if not isinstance(name, Text):
        return UNKNOWN
    folders = (Path(), Path(call.span.file).parent)
    there = any(exists(folder / name.rest) for folder in folders)
    return Address(Place(Decl("(file)", "local", _FILE, call.span))) if there else 0


def _number(name: str, arguments: Sequence[Value]) -> Value | None:
    """What a function of mathematics gives, also one for `float` and one of `std`."""
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
