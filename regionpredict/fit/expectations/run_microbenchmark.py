"""Compiles and runs the micro-benchmarks: OpenMP constructs and MPI collectives.

They follow Shudler 2018, secs. 3.3.1 and 3.4.2: warm-up, a common start of all threads or
processes, the maximum of their times, and many repetitions. The OpenMP benchmarks repeat a
construct within each timing and subtract the time of the repetitions without it, as in Bull 1999. A
single construct is shorter than the clock resolution. Their output is comma-separated and becomes
an `Experiment`, which is compared with the shipped expectations. Messages on standard error become
its problems.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev

from regionpredict.documents import reading
from regionpredict.errors import InputError, percent
from regionpredict.fit.experiment import Experiment, SeriesBuilder
from regionpredict.scratch_folder import scratch_folder

_FOLDER = Path(__file__).parent / "microbenchmarks"
_COMPILATION_LIMIT_S = 120
MOST_ROUNDS = 5
"""The maximum number of times that a run is repeated to reach the precision."""

_FEWEST = 3  # minimum repetitions to estimate their scatter
_NORMAL_95 = 1.96
_WAITING = "contain waiting"  # both programs' message for more threads than cores


@dataclass(frozen=True, slots=True)
class Microbenchmark:
    """A program of the package, with its commands for compiling and running.

    `launch` is the command before the program, with `{n}` for the number of processes. It is empty
    for OpenMP, where the environment sets the number of threads.
    """

    source: Path
    compile: str
    launch: str = ""


OPENMP = Microbenchmark(_FOLDER / "omp_constructs.c", "gcc -O2 -std=c11 -fopenmp")
MPI = Microbenchmark(_FOLDER / "mpi_collectives.c", "mpicc -O2 -std=gnu11", "mpirun -n {n}")
BENCHMARKS = {"openmp": OPENMP, "mpi-collectives": MPI, "mpi-memory": MPI}
"""The micro-benchmark for each shipped expectation file."""


def run_microbenchmark(
    benchmark: Microbenchmark,
    counts: Sequence[int],
    *,
    repetitions: int = 50,
    compiler: str | None = None,
    launcher: str | None = None,
    environment: Mapping[str, str] | None = None,
    limit_s: float = 300.0,
    precision: float | None = None,
    message_bytes: int | None = None,
) -> Experiment:
    """Compiles the benchmark and runs it on each of `counts` threads or processes.

    With `precision`, a run is repeated until the 95 % intervals of all means are within that share
    of the mean (Shudler 2018, sec. 3.3.1). After `MOST_ROUNDS` repetitions, less precise means are
    problems of the experiment. `message_bytes` is the size of a collective's messages.

    `compiler` and `launcher` replace the benchmark's commands. `environment` (default: this
    process's) is passed on, and `limit_s` is the time limit of one run in seconds. More threads or
    processes than cores, and constructs without measurable time, are problems of the experiment,
    not errors. Raises `InputError` if a command is missing, fails, takes too long or measures
    nothing.
    """
    variables = dict(os.environ if environment is None else environment)
    with scratch_folder() as folder:
        program = folder / benchmark.source.stem
        command = [*shlex.split(compiler or benchmark.compile)]
        command += [str(benchmark.source), "-o", str(program)]
        _run(command, variables, _COMPILATION_LIMIT_S, "give a compiler that works")
        builder = SeriesBuilder(("p",))
        doubts: list[InputError] = []
        for count in counts:
            launch = (launcher or benchmark.launch).format(n=count)
            size = () if message_bytes is None else (str(message_bytes),)
            seen: dict[tuple[str, str], list[float]] = {}
            text, said, wide = "", [], {}
            for _ in range(1 if precision is None else MOST_ROUNDS):
                more, messages = _run(
                    [*shlex.split(launch), str(program), str(repetitions), *size],
                    {**variables, "OMP_NUM_THREADS": str(count), "OMP_DYNAMIC": "false"},
                    limit_s,
                    "use fewer threads or processes, or fewer repetitions",
                )
                text += more
                said += messages.splitlines()
                for line in more.splitlines():
                    with reading(program.name, "a line of measurements", "give the right launcher"):
                        callpath, metric, place, value = line.split(",")
                        builder.add(callpath, metric, (float(place),), (float(value),))
                        seen.setdefault((callpath, metric), []).append(float(value))
                wide = _imprecise_means(seen, precision)
                if not wide or _WAITING in messages:  # more repetitions would not help
                    break
            doubts.extend(
                InputError(line.removeprefix(f"{program.name}: "), path=benchmark.source.name)
                for line in dict.fromkeys(said)
                if line.startswith(f"{program.name}: ")
            )
            if wide and precision is not None:
                worst, share = max(wide.items(), key=lambda item: item[1])
                doubts.append(InputError(
                    f"{len(wide)} of {len(seen)} means on {count} have a 95 % interval beyond "
                    f"{percent(precision)}; the widest is {worst} with {percent(share)}",
                    remedy="repeat it on a quiet machine", path=benchmark.source.name,
                ))  # fmt: skip
            if not text.strip():
                reason = doubts[-1].message if doubts else "it said nothing"
                where = "1 thread or process" if count == 1 else f"{count} threads or processes"
                raise InputError(
                    f"'{program.name}' measured nothing on {where}: {reason}",
                    remedy="repeat it on a quiet machine",
                )
    waiting = any(_WAITING in doubt.message for doubt in doubts)
    return Experiment(
        builder.series(),
        tuple(doubts),
        "the times contain waiting: more threads or processes than cores" if waiting else "",
    )


def _imprecise_means(
    seen: Mapping[tuple[str, str], Sequence[float]], precision: float | None
) -> dict[str, float]:
    """The call paths with a mean that is less precise than requested, and their precision."""
    wide = {}
    for (callpath, metric), values in seen.items():
        if precision is None or metric != "time" or len(values) < _FEWEST:
            continue
        mean = fmean(values)
        half = _NORMAL_95 * stdev(values) / sqrt(len(values))
        if half > precision * mean:
            wide[callpath] = half / mean
    return wide


def _run(
    command: Sequence[str], variables: Mapping[str, str], limit_s: float, remedy: str
) -> tuple[str, str]:
    name = " ".join(Path(part).name for part in command[:2])
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit_s, check=False,
            env=dict(variables),
        )  # fmt: skip
    except FileNotFoundError as error:
        raise InputError(f"'{command[0]}' was not found", remedy=remedy) from error
    except subprocess.TimeoutExpired as error:
        raise InputError(f"'{name}' took longer than {limit_s:g} s", remedy=remedy) from error
    if done.returncode:
        # mpirun frames its messages with lines of dashes, and a sanitizer with equal signs.
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip(" -=")]
        message = lines[0] if lines else "it said nothing"
        raise InputError(f"'{name}' failed: {message}", remedy=remedy)
    return done.stdout, done.stderr
