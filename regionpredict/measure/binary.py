"""Finds a program's outlined functions and their source lines, from its debug information.

Compilers move the body of a parallel region into a separate function: gcc names it
`main._omp_fn.0`, clang `main.omp_outlined`. With `-g`, its first line is the line of the directive.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regionpredict.errors import InputError, is_missing

_OUTLINED = re.compile(r"\._omp_fn\.\d+$|\.?omp_outlined(_debug__)?(\.\d+)?$")
_SYMBOL = re.compile(r"^([0-9a-f]+) ([0-9a-f]+) [tTwW] (\S+)")
_LIBRARY = re.compile(r"=> (/\S+)")
_SYSTEM = ("/lib", "/usr/lib")
_BATCH = 200_000
SECONDS = 120


@dataclass(frozen=True, slots=True)
class OutlinedFunction:
    """An outlined function: file and offset as in `nm`, and the source lines of its code. `line` is
    its first line, which is that of the directive.
    """

    module: str
    offset: int
    name: str
    file: str
    line: int
    lines: frozenset[tuple[str, int]]

    @property
    def function(self) -> str:
        """Returns the source function that contains the outlined one."""
        return re.split(r"\._omp_fn|\.?omp_outlined", self.name, maxsplit=1)[0]


def outlined_functions(program: Path) -> tuple[OutlinedFunction, ...]:
    """Returns the outlined functions of a program and of the libraries next to it. Raises
    InputError if the required tools or the debug information are missing.
    """
    functions: list[OutlinedFunction] = []
    for module in [program.resolve(), *_own_libraries(program)]:
        functions += _of_module(module)
    if not functions:
        raise InputError(
            "no parallel region in this program", remedy="is it the right one, and not stripped?",
            path=str(program),
        )  # fmt: skip
    known = [function for function in functions if function.line]
    if not known:
        raise InputError(
            "no debug information: the lines of its regions are unknown", remedy="build it with "
                                                                                 "-g too",
            path=str(program),
        )  # fmt: skip
    return tuple(_with_debug_lines(known))


def _own_libraries(program: Path) -> list[Path]:
    done = _run_tool(["ldd", str(program)], check=False)
    paths = [match.group(1) for line in done.splitlines() if (match := _LIBRARY.search(line))]
    return [Path(path).resolve() for path in paths if not path.startswith(_SYSTEM)]


def _of_module(module: Path) -> list[OutlinedFunction]:
    symbols = []
    for line in _run_tool(["nm", "-S", str(module)], check=False).splitlines():
        match = _SYMBOL.match(line)
        if match and _OUTLINED.search(match.group(3)):
            symbols.append((int(match.group(1), 16), int(match.group(2), 16), match.group(3)))
    addresses = [a for begin, size, _ in symbols for a in range(begin, begin + max(size, 1))]
    places = source_places(module, addresses)
    functions = []
    for begin, size, name in symbols:
        file, first = places.get(begin, ("", 0))
        lines = {places[a] for a in range(begin, begin + size) if places.get(a, ("", 0))[1]}
        functions.append(OutlinedFunction(str(module), begin, name, file, first, frozenset(lines)))
    return functions


def source_places(
    module: Path, addresses: Sequence[int], *, outermost: bool = False
) -> dict[int, tuple[str, int]]:
    """Returns the file and line of each address, or 0 for an unknown line. In inlined code, the
    line is that of the inlined function, or with `outermost` that of the call.
    """
    places: dict[int, tuple[str, int]] = {}
    for at in range(0, len(addresses), _BATCH):
        part = addresses[at : at + _BATCH]
        text = _run_tool(
            ["addr2line", "-a", *(["-i"] if outermost else []), "-e", str(module)],
            given="\n".join(f"{a:#x}" for a in part),
        )
        address = 0
        for answer in text.splitlines():
            if answer.startswith("0x"):
                address = int(answer, 16)
                continue
            file, _, line = answer.split(" (", 1)[0].rpartition(":")
            places[address] = (file, int(line)) if line.isdigit() else ("", 0)
    return places


def _with_debug_lines(functions: Sequence[OutlinedFunction]) -> list[OutlinedFunction]:
    """Returns the functions with corrected lines: clang's `omp_outlined` gets the lines of the
    `omp_outlined_debug__` that it calls.
    """
    lines: dict[tuple[str, str, int], frozenset[tuple[str, int]]] = {}
    for function in functions:
        key = (function.module, function.file, function.line)
        lines[key] = lines.get(key, frozenset()) | function.lines
    return [
        replace(function, lines=lines[function.module, function.file, function.line])
        for function in functions
    ]


def _run_tool(line: list[str], *, given: str = "", check: bool = True) -> str:
    try:
        done = subprocess.run(
            line, capture_output=True, text=True, input=given, timeout=SECONDS, check=False
        )
    except OSError as error:
        if not is_missing(line[0], error):
            raise
        raise InputError(
            f"no '{line[0]}' installed, which reads the debug information",
            remedy="install binutils",
        ) from None
    if check and done.returncode:
        raise InputError(
            f"{line[0]} cannot read it: {done.stderr.strip()[:120]}", remedy="is it a program?",
            path=line[-1],
        )  # fmt: skip
    return done.stdout
