"""Advice: its gain is that of the fixed source predicted by itself, and it is rare."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.predict.advice import _RegionTrials
from regionpredict.predict.constants import ADVICE_GAIN
from regionpredict.predict.curve import Point
from regionpredict.predict.saturation.region_time import RegionTime
from regionpredict.predict.saturation.team_costs import team_cost
from regionpredict.report.rules import rule_page

MACHINE = load("skylake-gold-6148")
FRONTENDS = ("libclang", "pycparser")


def result_of(folder: Path, text: str, frontend: str = "libclang", **sizes: int) -> Predictions:
    (folder / "f.c").write_text(text)
    analysis = analyse(requests_for([str(folder / "f.c")]), sizes, frontend=frontend, flows=True)
    return predict(analysis, MACHINE, "saturation")


def example(rule: str, which: str) -> str:
    found = re.search(rf"^```c {which}\n(.*?)^```$", rule_page(rule), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def best(result: Predictions) -> float:
    """Seconds of all executions of the last team on its best number of threads."""
    team = result.teams[-1]
    return min(point.seconds for point in team.points) * team.facts.executions.weight


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("rule", "gain", "line"),
    [
        ("RP201", 2.0, 6),  # two packages' bandwidth instead of one's; the serial loop's line
        ("RP202", 1.9, 4),  # the last of p equal pieces of a triangle is almost 2/p of it
        ("RP203", 2.23, 4),  # 122 us on 6 threads; 44 of memory, 3 and 8 to start on 40
        ("RP204", None, 6),
    ],
)
def test_a_gain_is_that_of_the_fixed_source(
    tmp_path: Path, frontend: str, rule: str, gain: float | None, line: int
) -> None:
    failing = result_of(tmp_path, example(rule, "failing"), frontend)
    told = failing.advice[failing.teams[-1].facts.id]
    (one,) = [one for one in told if one.id == rule]
    assert told[0] == one and one.span.line == line
    if gain is not None:
        assert one.gain == pytest.approx(gain, rel=0.06)
    fixed = result_of(tmp_path, example(rule, "fixed"), frontend)
    # Tried on round numbers of threads, so that the best may lie a little beside.
    assert best(failing) / best(fixed) == pytest.approx(one.gain, rel=0.05)
    assert best(failing) - best(fixed) == pytest.approx(one.saved, rel=0.08)


def test_one_team_for_all_turns_saves_their_starts(tmp_path: Path) -> None:
    failing = result_of(tmp_path, example("RP205", "failing"))
    (one,) = failing.advice[failing.teams[0].facts.id]
    fixed = result_of(tmp_path, example("RP205", "fixed"))
    # 1,000 runs in one team: one start for all of them.
    assert best(failing) / best(fixed) == pytest.approx(one.gain, rel=0.05)
    assert "loop at line 4" in one.message


def test_needless_barriers_cost_what_is_saved_without_them(tmp_path: Path) -> None:
    failing = result_of(tmp_path, example("RP206", "failing"))
    (advice,) = (a for a in failing.advice[failing.teams[0].facts.id] if a.id == "RP206")
    assert (advice.span.line, advice.message) == (6, "write nowait at line 6")
    fixed = result_of(tmp_path, example("RP206", "fixed"))
    assert best(failing) / best(fixed) == pytest.approx(advice.gain, rel=0.05)
    # One of two barriers a turn: its cost on the best number of threads, 1,000 times.
    now = min(failing.teams[0].points, key=lambda point: point.seconds)
    barrier = team_cost(MACHINE, "barrier", now.threads) / MACHINE.clock_hz
    assert best(failing) - best(fixed) >= 1000 * barrier > 0


def test_loops_side_by_side_share_a_team(tmp_path: Path) -> None:
    loop = "#pragma omp parallel for\n  for (int i = 0; i < 2000; i++) {0}[i] += 1.0;\n"
    text = "double a[2000], b[2000];\nvoid f(void) {\n" + loop.replace("{0}", "a")
    text += loop.replace("{0}", "b") + "}\n"
    result = result_of(tmp_path, text)
    first, second = (result.advice[team.facts.id] for team in result.teams)
    assert not [one for one in first if one.id == "RP205"]
    assert [one.message for one in second if one.id == "RP205"] == [
        "share one parallel region with the loop at line 3"
    ]


@pytest.mark.parametrize(
    "body",
    [
        "double s = 0; for (int j = 0; j < 100000; j++) s += a[f][j]; y[f] = s;",
        "for (int j = 0; j < 100000; j++) y[f] += a[f][j];",
        "for (int j = 1; j < 100000; j++) a[f][j] += a[f][j - 1];",
        "for (int j = f; j < 100000; j++) a[f][j] = 1.0 / a[f][j];",
        "for (int j = 0; j < 100000; j++) a[f][j / 2] += 1.0;",
        "for (int j = 0; j < 100000; j++) { if (a[f][j] < 0) break; a[f][j] = 1; }",
        "for (int j = 0; j < 100000; j++) take(&a[f][j]);",
    ],
)
def test_what_may_not_share_its_iterations_is_not_told_to(tmp_path: Path, body: str) -> None:
    text = f"""double a[6][100000], y[6];
void take(double *x);
void fields(void) {{
#pragma omp parallel for
    for (int f = 0; f < 6; f++) {{ {body} }}
}}
"""
    result = result_of(tmp_path, text)
    assert not [one for told in result.advice.values() for one in told if one.id == "RP203"]


def test_an_ordered_loop_keeps_its_schedule(tmp_path: Path) -> None:
    text = example("RP202", "failing").replace("parallel for", "parallel for ordered")
    result = result_of(tmp_path, text)
    assert not [one for told in result.advice.values() for one in told]


def test_a_loop_that_scales_has_no_advice(tmp_path: Path) -> None:
    text = "double a[40000000];\nvoid f(void) {\n#pragma omp parallel for\n"
    text += "  for (int i = 0; i < 40000000; i++) a[i] = 1.0 / (1.0 + a[i] * a[i]);\n}\n"
    result = result_of(tmp_path, text)
    assert [told for told in result.advice.values() if told] == []


@pytest.mark.parametrize("part", ["stencils", pytest.param(".", marks=pytest.mark.slow)])
def test_no_gain_is_told_that_is_not_worth_it(part: str) -> None:
    root = Path(__file__).resolve().parents[2] / "polybench_samples" / part
    result = predict(analyse(requests_for([str(root)]), {}, flows=True), MACHINE, "saturation")
    gains = [one.gain for told in result.advice.values() for one in told]
    assert gains and min(gains) >= ADVICE_GAIN.value
    # Each of a team's advice is of another rule, the best first.
    for told in result.advice.values():
        assert len({one.id for one in told}) == len(told)
        assert [one.gain for one in told] == sorted((one.gain for one in told), reverse=True)


def test_what_is_not_counted_would_not_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing known beforehand, the traffic of every trial is counted: the same is told."""
    root = Path(__file__).resolve().parents[2] / "polybench_samples" / "stencils"
    analysis = analyse(requests_for([str(root)]), {}, flows=True)
    told = predict(analysis, MACHINE, "saturation").advice
    least = RegionTime.least
    asked = []

    def nothing(time: RegionTime, counts: Sequence[int]) -> tuple[Point, ...]:
        asked.append(time)
        return tuple(
            one._replace(seconds=0.0, terms=dict.fromkeys(one.terms, 0.0))
            for one in least(time, counts)
        )

    monkeypatch.setattr(RegionTime, "least", nothing)
    assert predict(analysis, MACHINE, "saturation").advice == told
    assert asked and any(told.values())


@pytest.mark.slow
def test_costs_that_gain_too_little_need_no_traffic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where less of what OpenMP costs cannot gain enough, nothing is counted or lost."""
    root = Path(__file__).resolve().parents[2] / "polybench_samples"
    folders = [str(root / "data_mining"), str(root / "solvers")]
    machine = load("epyc-9654")
    analysis = analyse(requests_for(folders), {}, flows=True)
    points = RegionTime.points
    asked: list[RegionTime] = []

    def counted(time: RegionTime, counts: Sequence[int]) -> tuple[Point, ...]:
        asked.append(time)
        return points(time, counts)

    monkeypatch.setattr(RegionTime, "points", counted)
    told = predict(analysis, machine, "saturation").advice
    fewer = len(asked)
    monkeypatch.setattr(_RegionTrials, "_time_bound_without_overhead", lambda *_: 0.0)
    assert predict(analysis, machine, "saturation").advice == told
    assert fewer < len(asked) - fewer
    assert {"RP205"} <= {advice.id for of_team in told.values() for advice in of_team}


def test_loops_of_no_iterations_are_left_as_they_are(tmp_path: Path) -> None:
    text = example("RP205", "failing").replace("i < 4000", "i < n").replace("(void)", "(int n)")
    assert any(result_of(tmp_path, text, n=4000).advice.values())
    assert not any(result_of(tmp_path, text, n=0).advice.values())
