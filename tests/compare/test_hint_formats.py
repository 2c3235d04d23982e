"""Hints for Slurm and as OpenMP clauses, from predictions of known curves."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from regionpredict.errors import InputError
from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.pipeline import analyse, predict
from regionpredict.predict import (
    Bounds,
    Prediction,
    TeamPrediction,
    predict_team,
    recommendation_of,
)
from regionpredict.report.openmp_clauses import openmp_clauses
from regionpredict.report.slurm import slurm_script

SOURCE = """void f(int n, double a[n]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 2;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++) a[i] = 3;
  }
}
"""


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load("dunnington")  # 4 packages of 6 cores


@pytest.fixture
def made(tmp_path: Path, machine: Machine) -> tuple[list[Prediction], list[TeamPrediction]]:
    """Three regions, each a team: one scales to 24 threads, one stops at 6, one has no hint."""
    (tmp_path / "f.c").write_text(SOURCE)
    made = predict(analyse(requests_for([str(tmp_path / "f.c")]), {"n": 1000}), machine, "density")
    scales = tuple((n, float(n)) for n in (1, 6, 12, 18, 24))
    stops = tuple((n, float(min(n, 6))) for n in (1, 6, 12, 18, 24))
    first, second, third = made.predictions
    sure = tuple(Bounds(value, value) for _, value in scales)
    known = tuple(Bounds(value, value) for _, value in stops)
    regions = [
        replace(first, status="predicted", threads=24, packages=4, speedup=scales, band=sure),
        replace(second, status="predicted", threads=6, packages=1, speedup=stops, band=known),
        replace(third, status="skipped", threads=None, packages=None, speedup=()),
    ]
    return regions, [predict_team(team.facts, [one], machine)
                     for team, one in zip(made.teams, regions, strict=True)]  # fmt: skip


@pytest.fixture
def predictions(made: tuple[list[Prediction], list[TeamPrediction]]) -> list[Prediction]:
    return made[0]


@pytest.fixture
def teams(made: tuple[list[Prediction], list[TeamPrediction]]) -> list[TeamPrediction]:
    return made[1]


def _threads(teams: list[TeamPrediction], machine: Machine, weights: tuple[float, float]) -> int:
    names = [one.facts.members[0].facts.region.id for one in teams]
    hint = recommendation_of(teams, machine, measured=dict(zip(names, weights, strict=False)))
    assert hint is not None
    assert hint.weighted_by == "measured time"
    assert hint.left_out == (teams[2].facts.id,)
    return hint.threads


def test_the_program_gets_what_its_time_needs(
    teams: list[TeamPrediction], machine: Machine
) -> None:
    # Time on n threads: w1/n + w2/min(n, 6). Best is on 24; taken is the least within 10 %.
    assert _threads(teams, machine, (1.0, 0.0)) == 24
    assert _threads(teams, machine, (0.0, 1.0)) == 6
    # 1/24 + 20/6 = 3.375; on 6 threads 1/6 + 20/6 = 3.5, which is 3.7 % more.
    assert _threads(teams, machine, (1.0, 20.0)) == 6
    # 1/24 + 1/6 = 0.208; on 18 threads 0.222 (+6.7 %), on 12 0.25 (+20 %).
    assert _threads(teams, machine, (1.0, 1.0)) == 18


def test_a_slurm_script(teams: list[TeamPrediction], machine: Machine, tmp_path: Path) -> None:
    names = [one.facts.members[0].facts.region.id for one in teams]
    seconds = {names[0]: 1.0, names[1]: 1.0}
    hint = recommendation_of(teams, machine, measured=seconds)
    script = slurm_script(hint, teams, machine, "saturation", seconds)
    options = [line.split()[1] for line in script.splitlines() if line.startswith("#SBATCH")]
    assert options == [
        "--nodes=1", "--ntasks=1", "--sockets-per-node=3", "--cores-per-socket=6",
        "--threads-per-core=1", "--cpus-per-task=18", "--distribution=block:block",
    ]  # fmt: skip
    assert f"# without a hint: {teams[2].facts.id}" in script
    (tmp_path / "job.sh").write_text(script + "echo $OMP_NUM_THREADS $OMP_PROC_BIND\n")
    done = subprocess.run(
        ["bash", "-eu", "job.sh"], cwd=tmp_path, capture_output=True, text=True, timeout=600,
        check=True,
    )  # fmt: skip
    assert done.stdout == "18 close\n"


def test_a_model_without_a_curve(teams: list[TeamPrediction], machine: Machine) -> None:
    flat = [replace(one, speedup=()) for one in teams]
    hint = recommendation_of(flat, machine)
    assert hint is not None
    assert hint.weighted_by == "equally"
    assert (hint.threads, hint.packages) == (18, 3)


def test_nothing_to_ask_for_is_said(teams: list[TeamPrediction], machine: Machine) -> None:
    with pytest.raises(InputError, match="no loop has a hint"):
        slurm_script(recommendation_of(teams[2:], machine), teams[2:], machine, "density")


def test_clauses(predictions: list[Prediction], teams: list[TeamPrediction]) -> None:
    inside = replace(predictions[2], status="predicted", threads=4)
    shown = openmp_clauses(predictions, [*teams[:2], replace(teams[2], threads=4)], ()).splitlines()
    assert shown[5:] == [
        "     6: #pragma omp parallel   num_threads(4) proc_bind(close)",
        "     8: #pragma omp for   // in the parallel region at line 6",
    ]
    text = openmp_clauses([*predictions, inside], teams[:2], ()).splitlines()
    assert text[3:] == [
        "     2: #pragma omp parallel for   num_threads(24) proc_bind(close)",
        "     4: #pragma omp parallel for   num_threads(6) proc_bind(close)",
        "     8: #pragma omp for   // no hint",
        "     8: #pragma omp for",
        "        // 4 threads: write num_threads(4) at the parallel directive around it",
    ]
