"""Compiles and runs the micro-benchmarks: OpenMP constructs and MPI collectives.

The method follows Shudler 2018, secs. 3.3.1 and 3.4.2. After a warm-up, all threads or processes
start together. The maximum of their times is recorded in many repetitions. The OpenMP benchmarks
repeat a construct within each timing and subtract the time of the repetitions without it, as in
Bull 1999. The reason is that a single construct is shorter than the clock resolution. The
comma-separated output becomes an `Experiment`, which is compared with the shipped expectations.
Messages on standard error become problems of the experiment.
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

from regionpredict.documents import input_errors_while_reading
from regionpredict.errors import InputError, percent
from regionpredict.fit.experiment import Experiment, SeriesBuilder
from regionpredict.scratch_folder import scratch_folder

_FOLDER = Path(__file__).parent / "microbenchmarks"
_COMPILATION_LIMIT_S = 120
MOST_ROUNDS = 5
"""The maximum number of times that a run is repeated to reach the precision."""

_FEWEST = 3  # minimum number of repetitions for estimating their standard deviation
_NORMAL_95 = 1.96
_WAITING = "contain waiting"  # part of the programs' message for more threads than cores


@dataclass(frozen=True, slots=True)
class Microbenchmark:
    """A micro-benchmark program, with the commands that compile and run it.

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
        _output_of_command(command, variables, _COMPILATION_LIMIT_S, "give a compiler that works")
        builder = SeriesBuilder(("p",))
        doubts: list[InputError] = []
        for count in counts:
            launch = (launcher or benchmark.launch).format(n=count)
            size = () if message_bytes is None else (str(message_bytes),)
            values_by_path: dict[tuple[str, str], list[float]] = {}
            text, messages_so_far, imprecise = "", [], {}
            for _ in range(1 if precision is None else MOST_ROUNDS):
                more, messages = _output_of_command(
                    [*shlex.split(launch), str(program), str(repetitions), *size],
                    {**variables, "OMP_NUM_THREADS": str(count), "OMP_DYNAMIC": "false"},
                    limit_s,
                    "use fewer threads or processes, or fewer repetitions",
                )
                text += more
                messages_so_far += messages.splitlines()
                for line in more.splitlines():
                    with input_errors_while_reading(
                        program.name, "a line of measurements", "give the right launcher"
                    ):
                        callpath, metric, place, value = line.split(",")
                        builder.add(callpath, metric, (float(place),), (float(value),))
                        values_by_path.setdefault((callpath, metric), []).append(float(value))
                imprecise = _imprecise_means(values_by_path, precision)
                if not imprecise or _WAITING in messages:  # more repetitions would not help
                    break
            doubts.extend(
                InputError(line.removeprefix(f"{program.name}: "), path=benchmark.source.name)
                for line in dict.fromkeys(messages_so_far)
                if line.startswith(f"{program.name}: ")
            )
            if imprecise and precision is not None:
                worst, share = max(imprecise.items(), key=lambda item: item[1])
                doubts.append(InputError(
                    f"{len(imprecise)} of {len(values_by_path)} means on {count} have a 95 % "
                    f"interval beyond {percent(precision)}; the widest is {worst} with "
                    f"{percent(share)}",
                    remedy="repeat it on a quiet machine", path=benchmark.source.name,
                ))  # fmt: skip
            if not text.strip():
                reason = doubts[-1].message if doubts else "it printed no message"
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
    values_by_path: Mapping[tuple[str, str], Sequence[float]], precision: float | None
) -> dict[str, float]:
    """Returns the call paths whose mean is less precise than requested, with their precision."""
    imprecise = {}
    for (callpath, metric), values in values_by_path.items():
        if precision is None or metric != "time" or len(values) < _FEWEST:
            continue
        mean = fmean(values)
        half = _NORMAL_95 * stdev(values) / sqrt(len(values))
        if half > precision * mean:
            imprecise[callpath] = half / mean
    return imprecise


def _output_of_command(
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
        message = lines[0] if lines else "it printed no message"
        raise InputError(f"'{name}' failed: {message}", remedy=remedy)
    return done.stdout, done.stderr
