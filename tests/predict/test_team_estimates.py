"""A team of two loops that run three times each, from estimates of the loops made up by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from regionpredict.analysis.teams import TeamFacts, program_teams
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse
from regionpredict.predict import TeamPrediction, predict_team
from regionpredict.predict.coschedule import phases_of
from regionpredict.predict.curve import CoreTime, Point, SaturationDerivation
from regionpredict.predict.estimate import Estimate
from regionpredict.predict.teams import points_of
from regionpredict.predict.uncertainty import SHIPPED, band_of, chance_of, confidence_of, outlook_of

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
    spreads: dict[str, float] | None = None,
) -> Estimate:  # fmt: skip
    """An estimate by threads, all its time that of one class."""
    base = next(iter(seconds.values()), 1.0)
    points = tuple(
        Point(n, s, base / s, label, {**dict.fromkeys(CLASSES, 0.0), label: s}, 1.0 / n, 5.0)
        for n, s in seconds.items()
    )
    told = tuple((p.threads, p.speedup) for p in points if not asked or p.threads in asked)
    derivation = SaturationDerivation(
        points,
        CoreTime(0.0, 0.0, ()),
        (),
        (),
        1,
        "parallel",
        "",
        "",
        0.05,
        1.0,
        1.0,
        spreads or {},
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


def test_the_band_of_a_curve(facts: TeamFacts) -> None:
    """One thread is what the others are compared with: of it nothing is uncertain."""
    team = predict_team(facts, [loop({1: 4.0, 2: 2.0}), loop({1: 2.0, 2: 1.0})], MACHINE)
    one, two = team.speedup
    assert (one.threads, one.value, one.low, one.high) == (1, 1.0, 1.0, 1.0)
    assert (two.low, two.high) == band_of(outlook_of(team.points, MACHINE))[1]


def test_only_the_numbers_of_threads_asked_for(facts: TeamFacts) -> None:
    seconds = {1: 4.0, 2: 2.0, 4: 1.0}
    for asked, shown in (((2,), [2]), ((1, 4), [1, 4]), ((3,), [1, 2, 4])):
        team = predict_team(facts, [loop(seconds, asked=asked), loop(seconds)], MACHINE)
        assert [point.threads for point in team.speedup] == shown
        assert len(team.points) == 3


def test_confidence_is_that_of_the_team_s_own_curve(facts: TeamFacts) -> None:
    """A clear gain on four threads, and one that is as likely as not; what its loops said before
    does not count.
    """
    clear = {1: 4e6, 2: 2e6, 4: 1e6}
    team = predict_team(facts, [loop(clear, confidence=0.3)] * 2, MACHINE)
    outlook = outlook_of(team.points, MACHINE)
    chance = chance_of(outlook, 4, 0.05)
    assert team.threads == 4 and chance > 0.9
    assert team.confidence == confidence_of(chance)
    even = predict_team(facts, [loop({1: 4e6, 2: 3.9e6, 4: 3.8e6})] * 2, MACHINE)
    assert even.confidence < team.confidence


def test_figures_in_doubt_of_a_loop_are_doubt_in_the_team(facts: TeamFacts) -> None:
    """One loop's time goes down and the other's up: where that is in doubt, 62 % of the team's time
    on four threads are, and 29 % on two. Where both are off alike, none is better for it."""
    rising = {1: 1e5, 2: 2e5, 4: 4e5, 8: 8e5}
    falling = {1: 1e6, 2: 5e5, 4: 2.5e5, 8: 1.25e5}
    sure = predict_team(facts, [loop(rising), loop(falling)], MACHINE)
    unsure = predict_team(
        facts, [loop(rising, label="overhead", spreads={"overhead": 2.0}), loop(falling)], MACHINE
    )
    alike = predict_team(
        facts, [loop(rising, spreads={"compute": 2.0}), loop(falling, spreads={"compute": 2.0})],
        MACHINE,
    )  # fmt: skip
    assert unsure.confidence < sure.confidence == alike.confidence


def test_a_team_that_takes_no_time(facts: TeamFacts) -> None:
    team = predict_team(facts, [_timeless(loop({1: 1.0}))] * 2, MACHINE)
    assert (team.threads, team.status) == (1, "predicted")


def _timeless(one: Estimate) -> Estimate:
    none = Point(1, 0.0, 1.0, "compute", dict.fromkeys(CLASSES, 0.0), 0.0, 0.0)
    made = SaturationDerivation(
        (none,), CoreTime(0.0, 0.0, ()), (), (), 1, "", "", "", 0.05, 1.0, 1.0, {}
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
        "n = 7", "m = 8", "loops in the single at line 9 count as serial time of the program",
    )  # fmt: skip


def test_without_curves_the_largest_hint_counts(facts: TeamFacts) -> None:
    loops = [without_curve(8, packages=2, confidence=0.9), without_curve(4, confidence=0.7)]
    for given in (loops, loops[::-1]):
        team = predict_team(facts, given, MACHINE)
        assert (team.packages, team.threads, team.bottleneck) == (2, 8, "class of 8")
        assert (team.confidence, team.borderline, team.status) == (0.7, True, "predicted")
        assert (team.points, team.speedup, team.seconds) == ((), (), None)


def test_hardware_threads_of_all_the_hint_s_packages(facts: TeamFacts) -> None:
    """Two packages of four cores are the hint: with two threads a core that is 16 threads.

    A run of theirs takes a fifth less than one on the cores alone, more than may be lost. Eight
    threads are those of one package, which are not the hint's.
    """
    machine = load("clovertown")
    node = replace(machine.node, threads_per_core=replace(machine.node.packages, value=2))
    machine = replace(machine, node=node)
    times = loop({1: 4e6, 4: 1e6, 8: 0.5e6})
    for threads, seats in ((16, (16, 2)), (8, (8, 1))):
        point = doubled(times, threads, 0.4e6)
        team = predict_team(facts, [point, point], machine)
        assert (team.packages, team.threads, team.threads_per_core) == (2, *seats)
        if threads == 16:
            assert team.shared_core_speedup == pytest.approx(10.0, rel=1e-4)


def doubled(one: Estimate, threads: int, seconds: float) -> Estimate:
    """The estimate with a time on so many threads, several of them on a core."""
    assert isinstance(one.derivation, SaturationDerivation)
    (point,) = points_of(loop({threads: seconds}))
    return replace(one, derivation=replace(one.derivation, doubled=point))


def test_phases_are_the_teams_with_times_on_both_machines(facts: TeamFacts) -> None:
    """Three runs of each loop in a run of the team, which nobody knows how often there is."""
    whole = predict_team(facts, [loop({1: 4.0, 2: 2.0}), loop({1: 2.0, 2: 1.0})], MACHINE)
    half = predict_team(facts, [loop({1: 8.0, 2: 4.0}), loop({1: 2.0, 2: 1.0})], MACHINE)
    none = predict_team(facts, [without_curve(8), without_curve(4)], MACHINE)
    (phase,) = phases_of([whole, whole, none], [half, none, half])
    assert phase.id == facts.id
    assert {n: load.seconds for n, load in phase.alone.items()} == pytest.approx(
        {1: 18.0 + own(1), 2: 9.0 + own(2)}
    )
    assert {n: load.seconds for n, load in phase.beside.items()} == pytest.approx(
        {1: 30.0 + own(1), 2: 15.0 + own(2)}
    )


def hinted(facts: TeamFacts, within: float, **seconds: float) -> TeamPrediction:
    times = {int(name[1:]): value for name, value in seconds.items()}
    return predict_team(facts, [loop(times), loop(times)], MACHINE, within=within)


def test_a_hint_near_its_turn_is_borderline(facts: TeamFacts) -> None:
    """Seconds beside which the team's own overhead is nothing; four cores are a package.

    Twice as fast on eight threads as on four: 78 % of ln 2 are to be expected, 0.54. A package
    costs twice what may be lost: 0.52 or 0.56 are within that of 0.54, 0.2 is not.
    """
    expected = (1.0 - SHIPPED.lost) * math.log(2)
    for within, packages, borderline in (
        (0.1, 2, False), (expected / 2 - 0.01, 2, True), (expected / 2 + 0.01, 1, True),
    ):  # fmt: skip
        team = hinted(facts, within, t1=4e6, t4=2e6, t8=1e6)
        assert (team.packages, team.borderline) == (packages, borderline)
    assert hinted(facts, 0.1, t1=4e6, t4=2e6, t8=1e6).threads == 8
