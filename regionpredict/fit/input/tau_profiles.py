"""Reads folders of TAU profiles: `RUN/profile.NODE.CONTEXT.THREAD`, or `RUN/MULTI__METRIC/...`.

`run_folders.py` describes the names of run folders. A profile begins with the number of functions
and the metric (`3 templated_functions_MULTI_TIME`). Each following line has the name of a function
in quotes, its calls, subroutines, exclusive and inclusive value. Times are in microseconds (TAU
User Guide, "TAU profile format").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from regionpredict.documents import read_text
from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment
from regionpredict.fit.input.run_folders import Run, read_runs
from regionpredict.fit.input.variables import number_of

FILES = "profile.*.*.*"
_METRICS = "MULTI__*"
_REMEDY = "give folders such as run.p4.r1 with the files profile.0.0.0, profile.1.0.0 in each"
_HEAD = re.compile(r"(\d{1,9}) templated_functions(?:_MULTI_(.+))?")
_FUNCTION = re.compile(r'"(.*)" (\S+) \S+ (\S+) \S+ \S+ GROUP=')
_LOCATION = re.compile(r" \[\{.*?\}(?: \{[\d,-]*\}(?:-\{[\d,]*\})?)?\]")
_ARROW = "=>"
_TIMES = ("TIME", "GET_TIME_OF_DAY", "P_WALL_CLOCK_TIME", "LINUX_TIMERS", "PAPI_TIME")
_MICRO = 1e-6


def read_tau(folder: Path) -> Experiment:
    """Reads the profiles of all runs in a folder: exclusive seconds or counts, and calls.

    A value is the mean over all nodes and threads, where a function that is not called counts as 0.
    From a profile with call paths, only the call paths and their roots are read. Raises the same
    errors as `read_runs`, and InputError if there is no profile.
    """
    parts = {
        file.parent: Run(file.relative_to(folder).parts[0], file.parent)
        for pattern in (f"*/{FILES}", f"*/{_METRICS}/{FILES}")
        for file in sorted(folder.glob(pattern))
    }
    if not parts:
        raise InputError("no TAU profiles in this folder", remedy=_REMEDY, path=str(folder))
    return read_runs(list(parts.values()), _mean_values)


def _mean_values(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Yields the call paths, metrics and values of a run."""
    files = sorted(folder.glob(FILES))
    sums: dict[tuple[str, str], float] = {}
    for file in files:
        for callpath, metric, value in _read_profile(file):
            key = (callpath, metric)
            sums[key] = sums.get(key, 0.0) + value
    # Flat entries of callees repeat the values of call paths.
    paths = {callpath for callpath, _ in sums if "->" in callpath}
    roots = {callpath.split("->")[0] for callpath in paths}
    for (callpath, metric), total in sums.items():
        if not paths or callpath in paths or callpath in roots:
            yield callpath, metric, total / len(files)


def _read_profile(file: Path) -> Iterator[tuple[str, str, float]]:
    lines = read_text(file, _REMEDY).splitlines()
    head = _HEAD.match(lines[0]) if lines else None
    if head is None:
        raise InputError("not a TAU profile", remedy=_REMEDY, path=str(file), line=1)
    metric = (head[2] or "TIME").strip()
    timed = metric in _TIMES
    for number, line in enumerate(lines[2 : 2 + int(head[1])], start=3):
        match = _FUNCTION.match(line)
        calls, value = (number_of(match[2]), number_of(match[3])) if match else (None, None)
        if match is None or calls is None or value is None:
            raise InputError(
                "not a line of a function", remedy="write the profile again",
                path=str(file), line=number,
            )  # fmt: skip
        names = _LOCATION.sub("", match[1]).split(_ARROW)
        callpath = "->".join(name.strip() for name in names)
        yield callpath, "time" if timed else metric, value * _MICRO if timed else value
        if timed:
            yield callpath, "calls", calls
