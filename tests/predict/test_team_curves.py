"""The curve of a team is what its loops, its fork and its barriers add up to."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.predict import TeamPrediction, points_of
from regionpredict.predict.saturation.team_costs import team_cost

TEAM = """double a[400000], b[400000];
void solve(void) {
#pragma omp parallel%s
  {
    for (int k = 0; k < 3; k++) {
#pragma omp for
      for (int i = 0; i < 400000; i++) a[i] = b[i];
#pragma omp for%s
      for (int i = 0; i < 400000; i++) b[i] = 2 * a[i];
    }
#pragma omp barrier
  }
}
"""


def made(folder: Path, text: str, threads: tuple[int, ...] = ()) -> Predictions:
    (folder / "f.c").write_text(text)
    analysis = analyse(requests_for([str(folder / "f.c")]), {})
    return predict(analysis, load("skylake-gold-6148"), "saturation", threads=threads)


def team_of(
    folder: Path, clauses: str = "", nowait: str = ""
) -> tuple[TeamPrediction, Predictions]:
    result = made(folder, TEAM % (clauses, nowait))
    (team,) = result.teams
    return team, result


def test_a_team_takes_what_its_parts_take(tmp_path: Path) -> None:
    team, result = team_of(tmp_path)
    met, clock = ("fork_join", "barrier"), result.machine.clock_hz
    first, second = (points_of(one) for one in result.predictions)
    assert len(team.points) == result.machine.cores
    for point, one, other in zip(team.points, first, second, strict=True):
        own = sum(team_cost(result.machine, name, point.threads) for name in met)
        expected = 3 * (one.seconds + other.seconds) + own / clock
        assert point.seconds == pytest.approx(expected)
        assert sum(point.terms.values()) == pytest.approx(point.seconds)
    assert team.seconds == team.points[0].seconds
    assert [point.value for point in team.speedup] == pytest.approx(
        [team.points[0].seconds / point.seconds for point in team.points]
    )
    assert all(point.low <= point.value <= point.high for point in team.speedup)


def test_nowait_saves_a_barrier_a_turn(tmp_path: Path) -> None:
    waits, result = team_of(tmp_path)
    not_waiting, _ = team_of(tmp_path, nowait=" nowait")
    for one, other in zip(waits.points, not_waiting.points, strict=True):
        saved = 3 * team_cost(result.machine, "barrier", one.threads) / result.machine.clock_hz
        assert one.seconds - other.seconds == pytest.approx(saved)


def test_the_clauses_of_the_parallel_hold_for_the_team(tmp_path: Path) -> None:
    team, result = team_of(tmp_path, " num_threads(4)")
    assert [point.threads for point in team.points] == [1, 2, 3, 4]
    assert team.threads is not None and team.threads <= 4
    assert all(one.threads is not None and one.threads <= 4 for one in result.predictions)
    alone, _ = team_of(tmp_path, " if(0)")
    assert (alone.threads, alone.packages) == (1, 1)


def test_a_combined_loop_is_a_team_of_one(tmp_path: Path) -> None:
    text = """double a[400000];
void f(void) {
#pragma omp parallel for
  for (int i = 0; i < 400000; i++) a[i] += 1;
}
"""
    result = made(tmp_path, text)
    (team,), (region,) = result.teams, result.predictions
    assert team.points == points_of(region)
    assert (team.packages, team.threads, team.confidence) == (
        region.packages, region.threads, region.confidence,
    )  # fmt: skip


def test_only_what_was_asked_for_is_shown(tmp_path: Path) -> None:
    (team,) = made(tmp_path, TEAM % ("", ""), threads=(2, 8)).teams
    assert [point.threads for point in team.speedup] == [2, 8]
    assert team.threads in (2, 8)
    assert team.points[0].threads == 1


def test_a_loop_without_a_prediction_makes_the_team_partial(tmp_path: Path) -> None:
    text = TEAM.replace("#pragma omp barrier", "#pragma omp for\nnothing_that_is_a_loop();")
    result = made(tmp_path, text % ("", ""))
    (team,) = result.teams
    assert team.status == "partial" and team.threads is not None
    assert any("has no prediction" in line for line in team.assumed)
