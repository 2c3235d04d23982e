"""Runs a program of synthetic loops, and parses its times."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from regionpredict.errors import InputError
from regionpredict.machine.calibrate.build import compiled


def synthetic_times(
    text: str, threads: Sequence[int], compiler: str, folder: Path, budget_s: float
) -> dict[tuple[int, int], float]:
    """Seconds by (index of the loop, threads), for loops that end within the budget.

    `text` is a program that takes numbers of threads and writes lines with index, threads and
    seconds. It is built in `folder`. Threads are bound close. Raises InputError if it cannot be
    compiled, or fails.
    """
    source = folder / "loops.c"
    source.write_text(text, encoding="utf-8")
    program = compiled(compiler, source, ("-O3", "-fopenmp"), folder / "loops")
    settings = {**os.environ, "OMP_PLACES": "cores", "OMP_PROC_BIND": "close",
                "OMP_DYNAMIC": "false"}  # fmt: skip
    settings.pop("OMP_NUM_THREADS", None)
    try:
        done = subprocess.run(
            [str(program), *map(str, threads)], env=settings, stdout=subprocess.PIPE,
            timeout=budget_s, check=False,
        )  # fmt: skip
        if done.returncode:
            raise InputError(
                f"the loops failed (exit code {done.returncode})",
                remedy="give fewer --threads or a smaller --working-set",
            )
        told = done.stdout
    except subprocess.TimeoutExpired as ended:
        told = ended.stdout or b""
    rows = [line.split() for line in told.decode().splitlines()]
    return {(int(place), int(count)): float(seconds) for place, count, seconds in rows}
