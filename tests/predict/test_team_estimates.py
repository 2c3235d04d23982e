"""A team of two loops that run three times each, from estimates of the loops made up by hand."""

from __future__ import annotations

import pytest

from regionpredict.analysis.teams import TeamFacts, program_teams
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse
from regionpredict.predict import TeamPrediction, predict_team
from regionpredict.predict.constants import CURVE_ERROR
from regionpredict.predict.curve import CoreTime, Point, SaturationDerivation
from regionpredict.predict.estimate import Estimate

MACHINE = load("clovertown")  # 2 packages of 4 cores
CLASSES = ("compute", "cache", "memory-bandwidth", "imbalance", "overhead", "serialization")
TEXT = """double a[1000], b[1000];
void solve(void) {
#pragma omp parallel
  for (int k = 0; k < 3; k++) {
#pragma omp for
    for (int i = 0; i < 1000; i++) a[i] = b[i];
#pragma omp for
    for (int i = 0; i < 1000; i++) b[i] = 2 * a[i];
#pragma omp single
    b[0] = 0;
  }
}
"""


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> TeamFacts:
    """The team of the text: two loops and a `single` at whose end all meet, three times each."""
    path = tmp_path_factory.mktemp("text") / "f.c"
    path.write_text(TEXT)
    analysis = analyse(requests_for([str(path)]), {})
    (team,) = program_teams(analysis.program, analysis.facts, {}).teams
    return team


def loop(
    seconds: dict[int, float], *, confidence: float = 1.0, status: str = "predicted",
    label: str = "compute", asked: tuple[int, ...] = (), assumed: tuple[str, ...] = (),
) -> Estimate:  # fmt: skip
    """An estimate by threads, all its time that of one class."""
    base = next(iter(seconds.values()), 1.0)
    points = tuple(
        Point(n, s, base / s, label, {**dict.fromkeys(CLASSES, 0.0), label: s}, 1.0 / n, 5.0)
        for n, s in seconds.items()
    )
    told = tuple((p.threads, p.speedup) for p in points if not asked or p.threads in asked)
    derivation = SaturationDerivation(
        points, CoreTime(0.0, 0.0, ()), (), (), 1, "parallel", "", "", 0.05, 1.0, 0
    )
    return Estimate(
        "saturation", status, None, None, None, told, 1, max(seconds, default=1), label, confidence,
        borderline=False, assumed=assumed, diagnostics=(), derivation=derivation,
    )  # fmt: skip


def without_curve(threads: int | None, *, packages: int = 1, confidence: float = 1.0) -> Estimate:
    return Estimate(
        "density", "predicted" if threads else "skipped", 1.0, 0.5, 8, (),
        packages if threads else None, threads, f"class of {threads}", confidence,
        borderline=threads == 8, assumed=(), diagnostics=(),
    )  # fmt: skip


def own(threads: int) -> float:
    """Seconds of one fork, and of meeting after the `single` three times."""
    tables = MACHINE.overheads
    cycles = tables.fork_join.at(threads) + 3 * tables.barrier.at(threads)
    return float(cycles) / MACHINE.clock_hz


def test_the_time_of_a_team(facts: TeamFacts) -> None:
    """4 s and 2 s on one thread three times; the second does not gain from threads."""
    loops = [loop({1: 4.0, 2: 2.0, 4: 1.0}), loop({1: 2.0, 2: 2.0, 8: 2.0}, label="cache")]
    team = predict_team(facts, loops, MACHINE)
    # on those numbers of threads that both know
    assert [point.threads for point in team.points] == [1, 2]
    for point, expected in zip(team.points, (18.0, 12.0), strict=True):
        assert point.seconds == pytest.approx(expected + own(point.threads))
        assert point.terms["overhead"] == pytest.approx(own(point.threads))
        assert point.terms["cache"] == pytest.approx(6.0)
    one, two = team.points
    assert (one.bottleneck, one.speedup, one.bandwidth) == ("compute", 1.0, 5.0)
    assert two.terms["compute"] == pytest.approx(6.0)
    assert two.speedup == pytest.approx(one.seconds / two.seconds)
    assert team.seconds == one.seconds
    assert (team.seconds_at(1), team.seconds_at(2), team.seconds_at(7)) == (
        one.seconds, two.seconds, two.seconds,
    )  # fmt: skip
    assert team.seconds_at(0) is None


def test_the_band_of_a_curve(facts: TeamFacts) -> None:
    """One thread is what the others are compared with: of it nothing is uncertain."""
    team = predict_team(facts, [loop({1: 4.0, 2: 2.0}), loop({1: 2.0, 2: 1.0})], MACHINE)
    one, two = team.speedup
    assert (one.threads, one.value, one.low, one.high) == (1, 1.0, 1.0, 1.0)
    assert (two.low, two.high) == pytest.approx(
        (two.value / (1 + CURVE_ERROR.value), two.value / (1 - CURVE_ERROR.value))
    )


def test_only_the_numbers_of_threads_asked_for(facts: TeamFacts) -> None:
    seconds = {1: 4.0, 2: 2.0, 4: 1.0}
    for asked, shown in (((2,), [2]), ((1, 4), [1, 4]), ((3,), [1, 2, 4])):
        team = predict_team(facts, [loop(seconds, asked=asked), loop(seconds)], MACHINE)
        assert [point.threads for point in team.speedup] == shown
        assert len(team.points) == 3


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [((1.0, 0.5), (3.0, 0.9), 0.8), ((1.0, 0.5), (2.0, 0.9), 0.767), ((0.0, 0.5), (0.0, 0.9), 0.0)],
)
def test_confidence_is_that_of_where_the_time_goes(
    facts: TeamFacts, first: tuple[float, float], second: tuple[float, float], expected: float
) -> None:
    """(0.5 + 3 * 0.9) / 4, and (0.5 + 2 * 0.9) / 3 to a thousandth."""
    loops = [loop({1: max(s, 1e-300)}, confidence=c) for s, c in (first, second)]
    if not first[0]:
        loops = [_timeless(one) for one in loops]
    assert predict_team(facts, loops, MACHINE).confidence == expected


def _timeless(one: Estimate) -> Estimate:
    none = Point(1, 0.0, 1.0, "compute", dict.fromkeys(CLASSES, 0.0), 0.0, 0.0)
    made = SaturationDerivation(
        (none,), CoreTime(0.0, 0.0, ()), (), (), 1, "", "", "", 0.05, 1.0, 0
    )
    return Estimate(
        "saturation", "predicted", None, None, None, ((1, 1.0),), 1, 1, "compute", one.confidence,
        borderline=False, assumed=(), diagnostics=(), derivation=made,
    )  # fmt: skip


def status_of(facts: TeamFacts, *loops: Estimate) -> tuple[str, int]:
    """The status, and how many lines of `assumed` tell of a loop without a prediction."""
    team = predict_team(facts, loops, MACHINE)
    return team.status, sum("has no prediction" in line for line in team.assumed)


def test_one_partial_loop_makes_a_team_partial(facts: TeamFacts) -> None:
    whole, part = loop({1: 1.0}), loop({1: 1.0}, status="partial")
    skipped = without_curve(None)
    assert status_of(facts, whole, whole) == ("predicted", 0)
    assert status_of(facts, whole, part) == status_of(facts, part, part) == ("partial", 0)
    assert status_of(facts, skipped, whole) == ("partial", 1)
    assert status_of(facts, skipped, skipped) == ("skipped", 2)


def test_a_team_of_loops_without_a_prediction_says_nothing(facts: TeamFacts) -> None:
    team = predict_team(facts, [without_curve(None)] * 2, MACHINE)
    assert (team.packages, team.threads, team.seconds, team.bottleneck) == (None,) * 4
    assert (team.points, team.speedup, team.confidence, team.borderline) == ((), (), 0.0, False)


def test_what_was_assumed_is_told_once(facts: TeamFacts) -> None:
    loops = [loop({1: 1.0}, assumed=("n = 7", "m = 8")), loop({1: 1.0}, assumed=("m = 8",))]
    team = predict_team(facts, loops, MACHINE)
    assert team.assumed == (
        "n = 7", "m = 8", "what the single at line 9 does is not in the team's time",
    )  # fmt: skip


def test_without_curves_the_largest_hint_counts(facts: TeamFacts) -> None:
    loops = [without_curve(8, packages=2, confidence=0.9), without_curve(4, confidence=0.7)]
    for given in (loops, loops[::-1]):
        team = predict_team(facts, given, MACHINE)
        assert (team.packages, team.threads, team.bottleneck) == (2, 8, "class of 8")
        assert (team.confidence, team.borderline, team.status) == (0.7, True, "predicted")
        assert (team.points, team.speedup, team.seconds) == ((), (), None)
        assert team.seconds_at(8) is None


def hinted(facts: TeamFacts, within: float, **seconds: float) -> TeamPrediction:
    times = {int(name[1:]): value for name, value in seconds.items()}
    return predict_team(facts, [loop(times), loop(times)], MACHINE, within=within)


def test_a_hint_near_its_turn_is_borderline(facts: TeamFacts) -> None:
    """Seconds beside which the team's own overhead is nothing; four cores are a package.

    Speedups 2 and 4 on four and eight threads: one package is half as good. It is enough where
    half may be lost, and misses what a tenth may be lost of by 0.4.
    """
    for within, packages, borderline in ((0.1, 2, False), (0.48, 2, True), (0.52, 1, True)):
        team = hinted(facts, within, t1=4e6, t4=2e6, t8=1e6)
        assert (team.packages, team.borderline) == (packages, borderline)
    assert hinted(facts, 0.1, t1=4e6, t4=2e6, t8=1e6).threads == 8
