"""Runs a program with the recording tool `runtime/ompt_record.c` loaded into its OpenMP runtime.

`tasks/` and `trace/` read the resulting folder.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from regionpredict.documents import whole_number
from regionpredict.errors import InputError
from regionpredict.measure.binary import source_places
from regionpredict.measure.child import end_with_parent, run_with_interrupts
from regionpredict.measure.counter_names import Counter
from regionpredict.measure.ompt_runtime import has_fixed_address, runtime_for, stand_in
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
    """Runs the command with the executable `program`. Returns its exit code, negative for a signal.

    `folder` receives the events, and `cache` the compiled tool. `threads` sets OMP_NUM_THREADS.
    `level` selects all events or only parallel regions, and `silent` discards the program's output.
    `counters` (up to three) are read at each event (see `refused_counters`). With `in_turns`, all
    threads share one processor, and times are each thread's own processor time. This gives times as
    on one thread, but with work distributed over several. Raises InputError if the program cannot
    run in this way, or if nothing was recorded.
    """
    substitute = runtime_for(program, runtime)
    tool = preload_library(compiler, cache, SOURCE)
    settings = recording_environment(tool, folder, level, environment)
    loaded = []
    if (
        level == "all" or substitute is not None
    ):  # also intercepts the calls with which loops get their chunks
        loaded.append(str(tool))
    if substitute is not None:
        loaded.append(str(stand_in(substitute, cache)))
    if loaded:
        settings["LD_PRELOAD"] = _join_paths(":".join(loaded), environment.get("LD_PRELOAD", ""))
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
            command, settings, silent=silent, begin=partial(_prepare_child, os.getpid(), in_turns)
        )
    except OSError as error:
        raise InputError(
            f"'{command[0]}' does not run: {error.strerror}", remedy="is it a program?"
        ) from None
    if interrupted and code == 0:
        code = -signal.SIGINT
    if not any(folder.glob("events-*")):
        raise InputError(
            f"'{command[0]}' ({_exit_text(code)}) used no OpenMP runtime with support for tools "
            "(OMPT)",
            remedy="build it with clang -fopenmp, and name the program itself rather than a script",
        )
    return code


def _prepare_child(parent: int, in_turns: bool) -> None:
    end_with_parent(signal.SIGKILL, parent)
    if in_turns:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def refused_counters(folder: Path) -> str | None:
    """Returns the reason why requested counters cannot be read on this host. None if they were
    read.
    """
    for file in folder.glob("counters-*"):
        said = file.read_text(encoding="ascii", errors="replace").strip()
        if said != "read":
            number = whole_number(said)
            return os.strerror(number) if number in errno.errorcode and number else "?"
    return None


def recording_environment(
    tool: Path, folder: Path, level: Level, environment: Mapping[str, str]
) -> dict[str, str]:
    """Returns the environment in which a program's runtime finds the compiled tool and its output
    folder.
    """
    return {
        **environment,
        "OMP_TOOL": "enabled",
        "OMP_TOOL_LIBRARIES": _join_paths(str(tool), environment.get("OMP_TOOL_LIBRARIES", "")),
        "REGIONPREDICT_OMPT": str(folder.resolve()),
        "REGIONPREDICT_OMPT_LEVEL": level,
    }


def _exit_text(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _join_paths(first: str, others: str) -> str:
    return f"{first}:{others}" if others else first


def site_lines(folder: Path) -> dict[int, str]:
    """Returns `file:line` of each recorded code address, from debug information.

    The folder's recordings belong to one process. Raises InputError if addr2line is missing or
    fails, or if the addresses are damaged.
    """
    lines = {}
    for kind in ("sites", "bodies"):
        modules: dict[str, dict[int, int]] = {}
        for file in folder.glob(f"{kind}-*"):
            for line in file.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
                fields = line.split(" ", 3)
                if len(fields) == 4 and (site := whole_number(fields[0])) is not None:
                    address = int(
                        fields[2] if has_fixed_address(Path(fields[3])) else fields[1], 16
                    )
                    # The recorded address is a return address, so the call is before it.
                    modules.setdefault(fields[3], {})[site] = address - 1
        for module, addresses in modules.items():
            # A body may begin with code of a function that the compiler has inlined.
            places = source_places(
                Path(module), sorted(set(addresses.values())), outermost=kind == "bodies"
            )
            for site, address in addresses.items():
                name, number = places.get(address, ("", 0))
                if number:
                    lines[site] = f"{name}:{number}"
    return lines
