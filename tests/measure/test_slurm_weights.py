"""Regions of a program weighed by what was measured, not by what is predicted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from regionpredict.compare.measured_weights import measured_seconds
from regionpredict.errors import InputError, UsageError
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.measure.records import Campaign, Host, RegionRun, Run
from regionpredict.measure.store import Store
from regionpredict.pipeline import analyse, predict
from regionpredict.predict import (
    Bounds,
    Prediction,
    TeamPrediction,
    predict_team,
    recommendation_of,
)
from regionpredict.report.slurm import slurm_script

SOURCE = """void f(int n, double a[n]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 2;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 3;
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    path = tmp_path / "src" / "f.c"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def predictions(source: Path) -> list[Prediction]:
    """Regions on lines 2 (scales to 24 threads), 4 (stops at 6) and 6 (has no hint)."""
    made = predict(analyse(requests_for([str(source)]), {"n": 1000}), load("dunnington"), "density")
    scales = tuple((n, float(n)) for n in (1, 6, 12, 18, 24))
    stops = tuple((n, float(min(n, 6))) for n in (1, 6, 12, 18, 24))
    first, second, third = made.predictions
    sure = tuple(Bounds(value, value) for _, value in scales)
    known = tuple(Bounds(value, value) for _, value in stops)
    return [
        replace(first, status="predicted", threads=24, packages=4, speedup=scales, band=sure),
        replace(second, status="predicted", threads=6, packages=1, speedup=stops, band=known),
        replace(third, status="skipped", threads=None, packages=None, speedup=()),
    ]


@pytest.fixture
def teams(source: Path, predictions: list[Prediction]) -> list[TeamPrediction]:
    """The same, each a team of its own."""
    machine = load("dunnington")
    made = predict(analyse(requests_for([str(source)]), {"n": 1000}), machine, "density")
    return [predict_team(team.facts, [one], machine)
            for team, one in zip(made.teams, predictions, strict=True)]  # fmt: skip


def _region(line: int, seconds: float, file: str) -> RegionRun:
    return RegionRun(
        file, line, line + 1, "f", "omp parallel for", "gcc", 5, seconds, seconds / 5, seconds / 5,
        seconds / 5, 5, 1000, 1000, 1000, 1, 1,
    )  # fmt: skip


def _campaign(
    times: dict[int, list[dict[int, float]]], file: str = "/built/elsewhere/src/f.c"
) -> Campaign:
    """Runs from {threads: [{line: seconds}]}."""
    runs = tuple(
        Run(threads, number, False, 1.0, "now", 0.0, "f", "gcc", "libgomp",
            tuple(_region(line, seconds, file) for line, seconds in regions.items()))
        for threads, each in times.items() for number, regions in enumerate(each)
    )  # fmt: skip
    return Campaign(("./f",), Host("h", "p", 4, 6, 1, 1), {"places": "cores"}, "now", runs)


def _chosen(script: str) -> str:
    return next(line for line in script.splitlines() if "--cpus-per-task=" in line)


def test_weights_are_medians_on_one_thread(predictions: list[Prediction]) -> None:
    runs = {1: [{2: 1.0, 4: 9.0}, {2: 3.0, 4: 7.0}, {2: 2.0, 4: 8.0}], 4: [{2: 99.0, 4: 99.0}]}
    found = measured_seconds(predictions, _campaign(runs), "m")
    names = [one.facts.region.id for one in predictions]
    assert found == {names[0]: 2.0, names[1]: 8.0}


BY_HAND = """#include <omp.h>
void f(int n, double *a)
{
#pragma omp parallel
  {
    int t = omp_get_thread_num(), p = omp_get_num_threads();
    for (int i = t * n / p; i < (t + 1) * n / p; i++) a[i] = 0.0;
#pragma omp for
    for (int i = 0; i < n; i++) a[i] += 1.0;
  }
}
"""


def test_a_loop_shared_by_hand_has_what_the_others_leave_of_its_team(tmp_path: Path) -> None:
    """The `parallel` at line 4 took 5 s, the loop at line 8 of it 2."""
    (tmp_path / "f.c").write_text(BY_HAND)
    analysis = analyse(requests_for([str(tmp_path / "f.c")]), {"n": 1000})
    made = predict(analysis, load("dunnington"), "density").predictions
    campaign = _campaign({1: [{8: 2.0}]}, str(tmp_path / "f.c"))
    team = replace(_region(4, 5.0, str(tmp_path / "f.c")), directive="omp parallel")
    campaign = replace(campaign, runs=(replace(campaign.runs[0], teams=(team,)),))
    assert measured_seconds(made, campaign, "m") == {
        str(tmp_path / "f.c:7"): 3.0, str(tmp_path / "f.c:8"): 2.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "threads"),
    [
        # Time on n threads is first / n + second / min(n, 6): with these weights it is
        # 9/24 + 1/6 = 0.54 s on 24 threads and 9/18 + 1/6 = 0.67 s on 18, which is 23 % more.
        (9.0, 1.0, 24),
        # 1/24 + 20/6 = 3.38 s on 24 and 1/6 + 20/6 = 3.50 s on 6 threads: 4 % more.
        (1.0, 20.0, 6),
    ],
)
def test_the_time_of_the_regions_decides(
    predictions: list[Prediction],
    teams: list[TeamPrediction],
    first: float,
    second: float,
    threads: int,
) -> None:
    seconds = measured_seconds(predictions, _campaign({1: [{2: first, 4: second}]}), "m")
    hint = recommendation_of(teams, load("dunnington"), measured=seconds)
    script = slurm_script(hint, teams, load("dunnington"), "saturation", seconds)
    assert _chosen(script) == f"#SBATCH --cpus-per-task={threads}"
    assert "2 loops weighted by measured time" in script


def test_what_the_hint_leaves_out_is_said(
    predictions: list[Prediction], teams: list[TeamPrediction]
) -> None:
    seconds = measured_seconds(predictions, _campaign({1: [{2: 1.0, 6: 3.0}]}), "m")
    hint = recommendation_of(teams, load("dunnington"), measured=seconds)
    script = slurm_script(hint, teams, load("dunnington"), "saturation", seconds)
    first, second, third = (one.facts.region.id for one in predictions)
    assert f"# without a hint: {third} (75 % of the measured time)\n" in script
    assert f"# not in the measurements: {second}\n" in script
    assert first not in script


@pytest.mark.parametrize(
    ("campaign", "message"),
    [
        (_campaign({2: [{2: 1.0}], 4: [{2: 1.0}]}), "m: no run on 1 thread in it, only on 2, 4"),
        (_campaign({}), "m: it contains no run"),
        (_campaign({1: [{2: 1.0}]}, "/src/g.c"), "m: measurements of another program"),
        (_campaign({1: [{3000: 1.0}]}), "m: measurements of another program"),
    ],
)
def test_measurements_that_say_nothing_are_refused(
    predictions: list[Prediction], campaign: Campaign, message: str
) -> None:
    with pytest.raises(InputError) as raised:
        measured_seconds(predictions, campaign, "m")
    assert str(raised.value).startswith(message)


def _predict(*words: str) -> Result:
    from regionpredict.cli.predict import command

    return CliRunner().invoke(command, ["-m", "dunnington", *words])


def test_the_command_reads_a_measurements_file(source: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    campaign = _campaign({1: [{2: 1.0, 4: 2.0, 6: 3.0}]}, str(source))
    store = Store(path)
    store.begin(campaign)
    for run in campaign.runs:
        store.add(run)
    words = (str(source), "--set", "n=1000000")
    made = _predict(*words, "--format", "slurm", "--weights", str(path))
    assert made.exit_code == 0, made.output
    assert "3 loops weighted by measured time" in made.stdout
    other = _predict(*words, "--weights", str(path))
    assert isinstance(other.exception, UsageError)
    assert str(other.exception) == "--weights is for --format slurm; add --format slurm"
    absent = _predict(*words, "--format", "slurm", "--weights", str(tmp_path / "absent"))
    assert isinstance(absent.exception, InputError)
