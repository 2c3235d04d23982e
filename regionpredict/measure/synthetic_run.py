"""Runs a program of synthetic loops, and reads what it says of their times."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from regionpredict.errors import InputError

_COMPILE_S = 120
_FLAGS = ("-O3", "-march=native", "-fopenmp")


def synthetic_times(
    text: str, threads: Sequence[int], compiler: str, folder: Path, budget_s: float
) -> dict[tuple[int, int], float]:
    """Seconds by (place of the loop, threads), of those that end within the budget.

    `text` is a program that takes numbers of threads and writes lines of place, threads, seconds;
    `folder` is where it is built. Threads lie close. Raises InputError where it cannot be compiled.
    """
    source, program = folder / "loops.c", folder / "loops"
    source.write_text(text, encoding="utf-8")
    line = [compiler, *_FLAGS, str(source), "-o", str(program)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=_COMPILE_S, check=False)
    if done.returncode:
        message = next((t for t in done.stderr.splitlines() if "error" in t), done.stderr)
        raise InputError(
            f"'{compiler}' cannot compile the loops: {message.strip()[:200]}",
            remedy="name a compiler with OpenMP by --cc",
        )
    settings = {**os.environ, "OMP_PLACES": "cores", "OMP_PROC_BIND": "close",
                "OMP_DYNAMIC": "false"}  # fmt: skip
    settings.pop("OMP_NUM_THREADS", None)
    try:
        told = subprocess.run(
            [str(program), *map(str, threads)], env=settings, stdout=subprocess.PIPE, text=True,
            timeout=budget_s, check=False,
        ).stdout  # fmt: skip
    except subprocess.TimeoutExpired as ended:
        before = ended.stdout or b""
        told = before.decode() if isinstance(before, bytes) else before
    times = {}
    for words in map(str.split, told.splitlines(keepends=True)):
        if len(words) == 3:
            times[int(words[0]), int(words[1])] = float(words[2])
    return times
