"""Programs compiled and recorded by `regionpredict trace record`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from regionpredict.measure.ompt_runtime import find_runtime

# What pip brings lies beside the interpreter.
SEARCH = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
HAS_MPI = all(shutil.which(name, path=SEARCH) for name in ("mpicc", "mpirun"))
HAS_OPENMP = shutil.which("gcc") is not None and find_runtime() is not None


def environment() -> dict[str, str]:
    """Programs of MPI may be run by root, and threads that wait leave the cores to others."""
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    polite = {"KMP_BLOCKTIME": "0", "OMPI_MCA_mpi_yield_when_idle": "1"}
    return {**os.environ, **root, **polite, "PATH": SEARCH}


@contextmanager
def own_session(variables: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The environment with a new folder for temporary files.

    Runs of Open MPI 4 share a session folder there, which each removes at its end. The path is
    short because it becomes part of the names of sockets.
    """
    with tempfile.TemporaryDirectory(prefix="mpi-") as folder:
        yield {**variables, "TMPDIR": folder}


def built(folder: Path, text: str, compiler: str = "mpicc", *options: str) -> Path:
    """The program, with debug information and instrumented functions."""
    (folder / "program.c").write_text(text)
    subprocess.run(
        [compiler, "-g", "-finstrument-functions", *options, "program.c", "-o", "program"],
        cwd=folder, check=True, env=environment(),
    )  # fmt: skip
    return folder / "program"


def compiles(text: str) -> bool:
    """Whether the MPI has the functions that a program calls."""
    words = ["mpicc", "-x", "c", "-", "-pthread", "-o", "/dev/null"]
    done = subprocess.run(
        [*words, "-Werror=implicit-function-declaration"],
        input=text, text=True, capture_output=True, check=False, env=environment(),
    )  # fmt: skip
    return done.returncode == 0


def record(*words: str) -> subprocess.CompletedProcess[str]:
    """The command as a process."""
    with own_session(environment()) as variables:
        return subprocess.run(
            [sys.executable, "-m", "regionpredict", "trace", "record", *words],
            capture_output=True, text=True, check=False, timeout=600, env=variables,
        )  # fmt: skip


def record_ranks(folder: Path, ranks: int, program: Path, *words: str) -> None:
    """Records a program of MPI; fails where the command does."""
    done = record(
        "-o", str(folder), "--", "mpirun", "--oversubscribe", "-n", str(ranks), str(program), *words
    )
    assert done.returncode == 0, done.stderr
