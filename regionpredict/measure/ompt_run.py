"""Runs a program with the recording tool of `runtime/ompt_record.c` loaded into its runtime.

What it leaves in the folder is for `tasks/` to read, or for `trace/`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from regionpredict.errors import InputError
from regionpredict.measure.binary import source_places
from regionpredict.measure.child import end_with_parent, run_with_interrupts
from regionpredict.measure.counter_names import Counter
from regionpredict.measure.ompt_runtime import is_fixed, runtime_for, stand_in
from regionpredict.measure.runtime_library import preload_library

SOURCE = "ompt_record.c"
Level = Literal["all", "regions", "trace"]


def recorded_run(
    command: Sequence[str],
    program: Path,
    folder: Path,
    *,
    compiler: Sequence[str],
    cache: Path,
    environment: Mapping[str, str],
    threads: int | None = None,
    level: Level = "all",
    runtime: Path | None = None,
    silent: bool = False,
    counters: Sequence[Counter] = (),
    in_turns: bool = False,
) -> int:
    """Runs the command, whose file is `program`; returns its exit code, negative for a signal.

    `folder` gets its events, `cache` keeps the compiled tool; `threads` sets OMP_NUM_THREADS,
    `level` says whether all or only parallel regions are recorded, `silent` drops what the program
    writes; `counters`, at most three, are read with each event (`refused_counters` says where they
    are not). With `in_turns` all threads share one processor, and times are of each thread's own
    use of it: as on one thread, but with the work dealt as among several.
    Raises InputError where it cannot run so, and where nothing was recorded.
    """
    substitute = runtime_for(program, runtime)
    tool = preload_library(compiler, cache, SOURCE)
    settings = recording_environment(tool, folder, level, environment)
    loaded = []
    if level == "all" or substitute is not None:  # for the calls by which loops get their chunks
        loaded.append(str(tool))
    if substitute is not None:
        loaded.append(str(stand_in(substitute, cache)))
    if loaded:
        settings["LD_PRELOAD"] = _joined(":".join(loaded), environment.get("LD_PRELOAD", ""))
    if counters:
        settings["REGIONPREDICT_OMPT_COUNTERS"] = ",".join(
            f"{counter.type}:{counter.config}" for counter in counters
        )
    if threads is not None:
        settings["OMP_NUM_THREADS"] = str(threads)
    if in_turns:
        settings |= {
            "REGIONPREDICT_OMPT_CLOCK": "thread", "OMP_WAIT_POLICY": "passive",
            "KMP_BLOCKTIME": "0", "OMP_DYNAMIC": "false", "OMP_PROC_BIND": "false",
        }  # fmt: skip
    try:
        code, interrupted = run_with_interrupts(
            command, settings, silent=silent, begin=partial(_begin, os.getpid(), in_turns)
        )
    except OSError as error:
        raise InputError(
            f"'{command[0]}' does not run: {error.strerror}", remedy="is it a program?"
        ) from None
    if interrupted and code == 0:
        code = -signal.SIGINT
    if not any(folder.glob("events-*")):
        raise InputError(
            f"'{command[0]}' ({_ended(code)}) used no OpenMP runtime with support for tools (OMPT)",
            remedy="build it with clang -fopenmp, and name the program itself rather than a script",
        )
    return code


def _begin(parent: int, in_turns: bool) -> None:
    end_with_parent(signal.SIGKILL, parent)
    if in_turns:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def refused_counters(folder: Path) -> str | None:
    """Why the counters that were asked for cannot be read here; None where they were."""
    for file in folder.glob("counters-*"):
        said = file.read_text(encoding="ascii", errors="replace").strip()
        if said != "read":
            return os.strerror(int(said)) if said.isdigit() else "?"
    return None


def recording_environment(
    tool: Path, folder: Path, level: Level, environment: Mapping[str, str]
) -> dict[str, str]:
    """The environment in which a program's runtime finds the compiled tool and where to write."""
    return {
        **environment,
        "OMP_TOOL": "enabled",
        "OMP_TOOL_LIBRARIES": _joined(str(tool), environment.get("OMP_TOOL_LIBRARIES", "")),
        "REGIONPREDICT_OMPT": str(folder.resolve()),
        "REGIONPREDICT_OMPT_LEVEL": level,
    }


def _ended(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _joined(first: str, others: str) -> str:
    return f"{first}:{others}" if others else first


def site_lines(folder: Path) -> dict[int, str]:
    """`file:line` of each place of the code that a recording names, where debug information tells.

    The folder's recordings are of one process. Raises InputError where addr2line is missing.
    """
    modules: dict[str, dict[int, int]] = {}
    for file in folder.glob("sites-*"):
        for line in file.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            fields = line.split(" ", 3)
            if len(fields) == 4 and fields[0].isdigit():
                address = int(fields[2] if is_fixed(Path(fields[3])) else fields[1], 16)
                # It is where the call returns to: the call is before it.
                modules.setdefault(fields[3], {})[int(fields[0])] = address - 1
    lines = {}
    for module, addresses in modules.items():
        places = source_places(Path(module), sorted(set(addresses.values())))
        for site, address in addresses.items():
            name, number = places.get(address, ("", 0))
            if number:
                lines[site] = f"{name}:{number}"
    return lines
