"""The first lines say which parallel regions would be slower on all threads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict
from regionpredict.predict import Bounds, predict_team, recommendation_of
from regionpredict.report.recommendation import recommendation_lines

SOURCE = """void f(int n, double a[n]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 2;
}
"""


def test_the_first_lines_say_why_not_all_threads(tmp_path: Path) -> None:
    """Both take 10 s alone and 2 s on 6 threads; on 24, one takes 1 s and the other 7 s."""
    (tmp_path / "f.c").write_text(SOURCE)
    machine = load("dunnington")
    requests = requests_for([str(tmp_path / "f.c")])
    made = predict(analyse(requests, {"n": 1000}), machine, "density")
    teams, seconds = [], {}
    for team, prediction, last in zip(made.teams, made.predictions, (10.0, 10 / 7), strict=True):
        curve = ((1, 1.0), (6, 5.0), (24, last))
        band = tuple(Bounds(value, value) for _, value in curve)
        own = replace(prediction, threads=6, packages=1, speedup=curve, band=band)
        teams.append(predict_team(team.facts, [own], machine))
        seconds[prediction.facts.region.id] = 10.0
    hint = recommendation_of(teams, machine, measured=seconds)
    assert hint is not None
    assert (hint.threads, hint.speedup) == (6, 5.0)
    assert hint.slower == ((teams[1].facts.id, 7 / 8, 0.5, "cache"),)
    lines = recommendation_lines(hint)
    assert lines[1].endswith(
        "On 24 threads: 2.5x, because f.c:4 is slower (cache). It takes 50 % of the time on 1 "
        "thread, and 88 % on 24."
    )
    assert not recommendation_of(teams[:1], machine, measured=seconds).slower  # type: ignore[union-attr]
