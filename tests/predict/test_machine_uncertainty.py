"""How far figures in doubt move a curve, by hand."""

from __future__ import annotations

import pytest

from regionpredict.predict.curve import Point
from regionpredict.predict.machine_uncertainty import UncertainLoop, moves_of, quotient_deviation


def point(threads: int, **terms: float) -> Point:
    return Point(threads, sum(terms.values()), 1.0, "", terms, 0.0, 0.0)


def test_a_term_moves_the_time_by_its_share() -> None:
    """A tenth of 1 in 4 s, and of 2 in 4 s."""
    points = [point(1, compute=3.0, overhead=1.0), point(2, compute=2.0, overhead=2.0)]
    moves = moves_of([UncertainLoop(points, {"overhead": 0.1})], points)
    assert moves == {1: {"overhead": pytest.approx(0.025)}, 2: {"overhead": pytest.approx(0.05)}}
    assert quotient_deviation(moves, 1, 2) == pytest.approx(0.025)
    assert moves_of([UncertainLoop(points, {})], points) == {}


def test_imbalance_is_the_work_of_the_last_thread() -> None:
    """Whatever scales all of the work scales what others wait for the last: the two move alike.
    Of two parts each has its part of the waiting."""
    points = [point(1, compute=4.0), point(2, compute=2.0, imbalance=1.0)]
    moves = moves_of([UncertainLoop(points, {"compute": 0.4})], points)
    assert moves == {1: {"compute": pytest.approx(0.4)}, 2: {"compute": pytest.approx(0.4)}}
    assert quotient_deviation(moves, 1, 2) == pytest.approx(0.0)
    mixed = [point(2, compute=1.0, cache=3.0, imbalance=2.0, overhead=2.0)]
    (moved,) = moves_of([UncertainLoop(mixed, {"cache": 0.8, "overhead": 0.8})], mixed).values()
    assert moved == {"cache": pytest.approx(0.8 * 4.5 / 8), "overhead": pytest.approx(0.8 * 2 / 8)}


def test_loops_are_off_together() -> None:
    """Three runs of 1 of 2 s and one of 2 of 4 s, in a team of 10 s; a third is not in doubt."""
    first, second = point(4, cache=1.0, compute=1.0), point(4, cache=2.0, compute=2.0)
    loops = [UncertainLoop([first], {"cache": 0.2}, 3.0), UncertainLoop([second], {"cache": 0.2}),
             UncertainLoop([second], {})]  # fmt: skip
    team = [point(4, cache=7.0, compute=7.0)]
    assert moves_of(loops, team) == {4: {"cache": pytest.approx(0.2 * 5.0 / 14.0)}}


def test_different_figures_are_off_each_for_itself() -> None:
    moves = {1: {"cache": 0.3, "compute": 0.0}, 2: {"cache": 0.0, "compute": 0.4}}
    assert quotient_deviation(moves, 1, 2) == pytest.approx(0.5)
    assert quotient_deviation({1: {}, 2: {"cache": 0.2}}, 1, 2) == pytest.approx(0.2)


def test_what_takes_no_time_is_not_moved() -> None:
    none = [point(1, cache=0.0)]
    assert moves_of([UncertainLoop(none, {"cache": 0.5})], none) == {1: {"cache": 0.0}}
