"""For which teams and terms a change is looked for, from times made up by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from regionpredict.machine import load
from regionpredict.predict.advice import _best_time, _RegionTrials, advised_teams
from regionpredict.predict.curve import Point
from regionpredict.predict.teams import TeamPrediction

MACHINE = load("clovertown")


def point(threads: int, **terms: float) -> Point:
    """A point of a curve whose time is that of its terms."""
    return Point(threads, sum(terms.values()), 1.0, "compute", terms, 0.0, 0.0)


def team(
    name: str, *seconds: float, weight: float = 1.0, threads: int | None = 4
) -> TeamPrediction:
    """A team by its times on 1, 2, ... threads."""
    points = tuple(point(n, compute=s) for n, s in enumerate(seconds, start=1))
    facts = SimpleNamespace(id=name, executions=SimpleNamespace(weight=weight))
    known = SimpleNamespace(facts=facts, points=points, threads=threads, range=None)
    return cast("TeamPrediction", known)


def advised(*teams: TeamPrediction) -> str:
    return " ".join(one.facts.id for one in advised_teams(teams))


def test_the_longest_at_their_best_come_first() -> None:
    assert advised(team("a", 9.0, 2.0), team("b", 4.0, 3.0), team("c", 8.0, 2.5)) == "b c a"
    # how often each runs counts
    assert advised(team("a", 2.0, weight=5.0), team("b", 3.0, weight=2.0)) == "a b"


def test_a_hundredth_of_the_time_is_not_enough() -> None:
    assert advised(team("long", 99.0), team("short", 1.0)) == "long"
    assert advised(team("long", 98.9), team("short", 1.0)) == "long short"
    # What has no curve or no hint takes no part, and is no part of the whole.
    assert advised(team("none"), team("open", 999.0, threads=None), team("a", 1.0)) == "a"
    assert advised(team("a", 0.0)) == ""


def test_twenty_teams_are_enough() -> None:
    teams = [team(str(number), 30.0 - number) for number in range(25)]
    assert advised(*teams) == " ".join(map(str, range(20)))


def tried(*points: Point, counts: tuple[int, ...] = (1, 2, 4, 8)) -> _RegionTrials:
    one = cast("TeamPrediction", SimpleNamespace(points=points))
    return _RegionTrials(one, [], MACHINE, counts)


def test_the_largest_share_on_several_threads() -> None:
    curve = (
        point(1, compute=1.0, overhead=9.0), point(2, compute=3.0, overhead=1.0),
        point(3, compute=0.0, overhead=9.0), point(4, compute=1.0, overhead=1.0),
        point(8, compute=0.0, overhead=0.0),
    )  # fmt: skip
    some = tried(*curve)
    # On one thread, on three, which are not tried, and where nothing takes time, it does not count.
    assert some.share(("overhead",)) == 0.5
    assert some.share(("compute",)) == 0.75
    assert some.share(("compute", "overhead")) == 1.0
    assert (some.counts, some.best) == ((1, 2, 4, 8), 0.0)
    assert tried(curve[0]).share(("overhead",)) == 0.0
    assert tried(*curve[:2], counts=(1, 2)).best == 4.0


@pytest.mark.parametrize(("part", "worth"), [(0.0908, False), (0.0910, True)])
def test_a_term_is_worth_a_tenth_of_the_speed(part: float, worth: bool) -> None:
    """Without a share of 1/11 of the time it is 11/10 times as fast."""
    assert tried(point(2, compute=1.0 - part, overhead=part)).is_worthwhile(("overhead",)) == worth


def test_the_best_of_the_counts_that_are_tried() -> None:
    points = [point(1, compute=3.0), point(2, compute=2.0), point(3, compute=1.0)]
    assert _best_time(points, (1, 2)) == 2.0
    assert _best_time(points, (4,)) is None
