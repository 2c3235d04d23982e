"""Finds the addresses of functions that a recording leaves out, by patterns of their names."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from regionpredict.errors import InputError

_SECONDS = 60
_PARAMETERS = re.compile(r"\(.*")


def excluded_addresses(programs: Iterable[Path], patterns: Sequence[str]) -> list[int]:
    """Returns the addresses of functions whose name matches a pattern, in the files of programs.

    A name is that of the symbol, or that of C++ without parameters. Raises InputError if the
    program nm is missing, or if a pattern matches no function.
    """
    found: dict[int, None] = {}
    unused = set(patterns)
    for program in programs:
        for (address, symbol), (_, name) in zip(
            _read_functions(program), _read_functions(program, "-C"), strict=True
        ):
            names = (symbol, _PARAMETERS.sub("", name))
            matching = {p for p in patterns if any(fnmatchcase(one, p) for one in names)}
            unused -= matching
            if matching:
                found[address] = None
    if unused:
        raise InputError(
            f"no function of the program matches '{min(unused)}'",
            remedy="--exclude takes names of functions, with * for any characters",
        )
    return list(found)


def _read_functions(program: Path, *options: str) -> list[tuple[int, str]]:
    """Returns address and name of each function in a file. A file without symbols has none."""
    try:
        done = subprocess.run(
            ["nm", "--defined-only", *options, str(program)],
            capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"nm does not run: {error}", remedy="install binutils") from None
    symbols = (line.split(" ", 2) for line in done.stdout.splitlines())
    return [
        (int(symbol[0], 16), symbol[2])
        for symbol in symbols
        if len(symbol) == 3 and symbol[1] in "tTwWi" and symbol[0]
    ]
