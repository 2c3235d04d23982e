"""What `predict --format slurm` asks for, as a real Slurm reads it.

The made-up nodes have the shape of the machine model: dunnington, 4 packages of 6 cores. Slurm
names the cores of a node by number, package by package (`CPU_IDs` of `scontrol show job -d`);
where cores have two hardware threads, each core has two numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from private_slurm import Cluster, private_slurm

from regionpredict.machine import Machine, load
from regionpredict.predict import Recommendation
from regionpredict.report.slurm import slurm_options

CORES = 6


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with private_slurm(tmp_path_factory.mktemp("slurm")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load("dunnington")


def _options(threads: int, packages: int, cores: int) -> tuple[str, ...]:
    return slurm_options(
        Recommendation(
            main="", packages=packages, threads=threads, cores_per_package=cores,
            threads_per_core=1, seconds=None, speedup=1.0, low=1.0, high=1.0, serial_share=0.0,
            confidence=1.0, sizes_from="source", assumed=(), weighted_by="equally", curve=(),
            regions=1, left_out=(),
        )
    )  # fmt: skip


def _allocated(slurm: Cluster, options: tuple[str, ...], partition: str) -> str:
    """What scontrol says of a job while it runs."""
    said = "scontrol show job -d $SLURM_JOB_ID"
    done = slurm.call("salloc", *options, f"--partition={partition}", "sh", "-c", said)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _cores_by_package(said: str, threads_per_core: int) -> list[int]:
    """How many cores of each package the job has, without those that have none."""
    found = re.search(r"CPU_IDs=(\S+)", said)
    assert found is not None, said
    cores = set()
    for part in found[1].split(","):
        first, _, last = part.partition("-")
        cores |= {n // threads_per_core for n in range(int(first), int(last or first) + 1)}
    packages = [core // CORES for core in cores]
    return [packages.count(package) for package in sorted(set(packages))]


@pytest.mark.parametrize(
    ("threads", "packages", "filled"),
    [(1, 1, [1]), (6, 1, [6]), (8, 2, [6, 2]), (12, 2, [6, 6]), (24, 4, [6, 6, 6, 6])],
)
@pytest.mark.parametrize(("partition", "hardware_threads"), [("main", 1), ("threads", 2)])
def test_a_job_has_the_cores_of_the_hint(
    slurm: Cluster, threads: int, packages: int, filled: list[int], partition: str,
    hardware_threads: int,
) -> None:  # fmt: skip
    """One package after the other, and whole cores, whatever Slurm does by default."""
    options = _options(threads, packages, min(threads, CORES))
    said = _allocated(slurm, options, partition)
    assert _cores_by_package(said, hardware_threads) == filled
    assert f"NumCPUs={threads * hardware_threads} NumTasks=1 CPUs/Task={threads} " in said


@pytest.mark.parametrize(
    ("threads", "packages", "cores"),
    [(12, 5, 6), (7, 1, 7), (30, 4, 6)],
    ids=["a package too many", "a core a package too many", "more cores than there are"],
)
def test_what_no_node_has_is_refused(
    slurm: Cluster, tmp_path: Path, threads: int, packages: int, cores: int
) -> None:
    lines = [f"#SBATCH {option}" for option in _options(threads, packages, cores)]
    (tmp_path / "job.sh").write_text("\n".join(["#!/bin/bash", *lines, "true", ""]))
    done = slurm.call("sbatch", "--test-only", str(tmp_path / "job.sh"))
    assert done.returncode == 1
    assert "Requested node configuration is not available" in done.stderr


def test_the_script_of_a_program_runs(
    slurm: Cluster, tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the command line to the job: sbatch takes the script, and srun its own last line."""
    from click.testing import CliRunner

    from regionpredict.cli.predict import command

    (tmp_path / "f.c").write_text(
        "void f(int n, double *a) {\n#pragma omp parallel for\n"
        "for (int i = 0; i < n; i++) a[i] = a[i] * a[i] / (a[i] + 1.0);\n}\n"
    )
    words = [str(tmp_path / "f.c"), "-m", machine.name, "--format", "slurm", "--set", "n=90000000"]
    made = CliRunner().invoke(command, words, catch_exceptions=False)
    assert made.exit_code == 0
    (tmp_path / "job.sh").write_text(made.stdout)
    tested = slurm.call("sbatch", "--test-only", str(tmp_path / "job.sh"))
    assert tested.returncode == 0, tested.stderr
    assert "to start at" in tested.stderr

    shown = "echo $OMP_NUM_THREADS $OMP_PLACES $OMP_PROC_BIND; scontrol show step $SLURM_STEP_ID"
    (tmp_path / "program").write_text(f"#!/bin/sh\n{shown}\n")
    (tmp_path / "program").chmod(0o755)
    (tmp_path / "job.sh").write_text(made.stdout.replace("# srun", "srun"))
    given = slurm.call("sbatch", "--parsable", "-o", "said", "job.sh", cwd=tmp_path)
    assert given.returncode == 0, given.stderr
    state = slurm.end_of(given.stdout.strip())
    said = (tmp_path / "said").read_text()
    assert state == "COMPLETED", said
    (threads,) = re.findall(r"--cpus-per-task=(\d+)$", made.stdout, re.MULTILINE)
    assert f"{threads} cores close\n" in said
    assert f" CPUs={threads} Tasks=1 " in said
