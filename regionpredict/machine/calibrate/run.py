"""Runs the microbenchmarks until all have converged or the time budget is used."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from regionpredict.errors import InputError
from regionpredict.machine.calibrate.build import build
from regionpredict.machine.calibrate.figures import figures
from regionpredict.machine.calibrate.plan import Measurement, plan
from regionpredict.machine.calibrate.samples import LEAST_SAMPLES, State, has_converged, is_sample
from regionpredict.machine.detect.topology import Topology
from regionpredict.machine.writer import Figures
from regionpredict.scratch_folder import scratch_folder

GRACE_SECONDS = 20.0
"""The additional seconds for the setup of a program, before it is stopped."""
LEAST_SLICE = 0.05
MOST_SLICE = 2.0


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a calibration after the measurement `key`: `done` out of `total` measurements
    have converged, and `spent_s` seconds of the budget are used.
    """

    key: str
    done: int
    total: int
    spent_s: float
    budget_s: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The result of a calibration.

    `total`, `settled` and `resumed` are the numbers of all measurements, of converged ones, and of
    those with samples from an earlier run.
    """

    figures: Figures
    total: int
    settled: int
    resumed: int


def calibrate(
    topology: Topology,
    *,
    compiler: str,
    budget_s: float,
    state_path: Path,
    free_bytes: int,
    cpus: tuple[int, ...] | None = None,
    progress: Callable[[Progress], None] | None = None,
    other_runtime: str | None = None,
    quiet: Callable[[], float] | None = None,
) -> Calibration:
    """Measures this host. Rounds over all measurements are repeated until all have converged or the
    budget is used.

    A measurement has converged if its 95 % confidence interval is within 5 % of the mean. Samples
    are stored in the file `state_path` immediately. A later call with the same path continues with
    them. `cpus` are the hardware threads for pinning (default: all cores). `free_bytes` is the
    available memory. `other_runtime` is the OpenMP library of LLVM or Intel, which is measured in
    addition to the compiler's runtime. `quiet` waits for an idle host and returns the seconds of
    waiting, which do not count towards the budget. Raises InputError if the compiler fails or the
    state cannot be stored.
    """
    pinned = cpus or topology.threads or tuple(range(topology.cores))
    todo = plan(topology, free_bytes, pinned, other_runtime)
    state = State.read(state_path, _signature(topology, compiler))
    with scratch_folder() as folder:
        programs = build(compiler, folder)
        state.save()
        begin = time.monotonic()
        absent: set[str] = set()
        while True:
            unconverged = [m for m in todo if m.key not in absent and not _settled(state, m)]
            if not unconverged:
                break
            for place, measurement in enumerate(unconverged):
                left = budget_s - (time.monotonic() - begin)
                if left <= 0:
                    break
                share = left / (len(unconverged) - place)
                if quiet is not None:
                    begin += quiet()
                seconds = min(max(share / 2, LEAST_SLICE), MOST_SLICE, left)
                samples = _run(programs[measurement.program], measurement, seconds, left)
                if not samples:
                    absent.add(measurement.key)
                state.add(measurement.key, samples)
                if progress is not None:
                    done = sum(_settled(state, m) or m.key in absent for m in todo)
                    spent = time.monotonic() - begin
                    progress(Progress(measurement.key, done, len(todo), spent, budget_s))
            if time.monotonic() - begin >= budget_s:
                break
    wanted = tuple(m for m in todo if m.key not in absent)
    return Calibration(
        figures=figures(topology, wanted, state.samples),
        total=len(wanted),
        settled=sum(_settled(state, m) for m in wanted),
        resumed=state.resumed,
    )


def _settled(state: State, measurement: Measurement) -> bool:
    return has_converged(state.samples.get(measurement.key, []))


def _run(program: Path, measurement: Measurement, seconds: float, left: float) -> list[float]:
    """Runs a microbenchmark once and returns its samples. Empty if the program prints no samples or
    exceeds its time limit.
    """
    line = [str(program), str(LEAST_SAMPLES), f"{seconds:.3f}", *measurement.arguments]
    loaded = None
    if measurement.preload is not None:
        loaded = {**os.environ, "LD_PRELOAD": measurement.preload}
    try:
        done = subprocess.run(
            line,
            env=loaded,
            capture_output=True,
            text=True,
            timeout=seconds + min(GRACE_SECONDS, max(left, 1.0)),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return []
    except OSError as failure:
        raise InputError(
            f"the microbenchmark {measurement.program} does not run: {failure.strerror}",
            remedy="the compiler must build for this machine",
        ) from None
    if done.returncode not in (0, 1) or (done.returncode == 1 and not done.stdout):
        return []
    try:
        samples = [float(text) for text in done.stdout.split()]
    except ValueError:
        return []
    return list(filter(is_sample, samples))


def _signature(topology: Topology, compiler: str) -> str:
    caches = ",".join(f"{c.level}:{c.shown or c.size}/{c.cores}" for c in topology.caches)
    return f"{topology.name} {topology.packages}x{topology.cores_per_package} {caches} {compiler}"
