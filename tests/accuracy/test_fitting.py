"""What is fitted finds what made-up curves were made of, and is written where it stands."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from evaluate import Answered, by_model
from fitting import (
    DENSITY,
    SURENESS,
    constants_of,
    density_constants,
    density_rates,
    fitted_to,
    with_values,
)
from measured import Case, DataSet
from predictor import FULL, Answer, Code

from regionpredict.predict.curve import Point
from regionpredict.predict.sureness import SHIPPED

THREADS = (1, 2, 4, 8, 16)
TERMS = ("compute", "cache", "memory-bandwidth", "overhead")


def answer(term: str, speedups: dict[int, float], *, assumed: bool = False) -> Answer:
    points = tuple(Point(t, 1.0 / s, s, "", {term: 1.0 / s}, 0.0, 0.0) for t, s in speedups.items())
    seconds = {point.threads: point.seconds for point in points}
    return Answer(seconds, seconds, points, assumed, partial=False, density_packages=2)


def made_up(creep: float, lost: float, spread: float, *, cases: int = 400) -> Answered:
    """Random walks around curves that gain 0.8 of each doubling at first and nothing from 4 on.

    Those of memory creep up, all lose a share of what is predicted; where a figure is assumed the
    steps are twice as wide.
    """
    draw = random.Random(11)
    found, answers = [], []
    for number in range(cases):
        term, assumed = TERMS[number % len(TERMS)], number % 8 >= 4
        speedups, measured, walk = {1: 1.0}, {1: 1.0}, 0.0
        for doubling, threads in enumerate(THREADS[1:], 1):
            speedups[threads] = math.exp(0.55 * min(2, doubling))
            walk += draw.gauss(0.0, spread * (2.0 if assumed else 1.0))
            gain = (1.0 - lost) * math.log(speedups[threads]) + walk
            gain += creep * doubling * (term == "memory-bandwidth")
            measured[threads] = math.exp(-gain)
        found.append(Case(str(number), Code(), "skylake-gold-6148", measured))
        answers.append({FULL.name: answer(term, speedups, assumed=assumed)})
    data = DataSet("made up", "", "", tuple(found), "threads", "out", "nothing")
    return Answered(data, tuple(answers))


def test_a_fit_finds_what_the_curves_were_made_of() -> None:
    found = fitted_to([made_up(0.06, 0.2, 0.05)])
    assert found.creep == pytest.approx(0.06, abs=0.02)
    assert found.lost == pytest.approx(0.2, abs=0.03)
    assert found.assumed == pytest.approx(2.0, rel=0.15)
    for name in ("core", "cache", "memory", "openmp"):
        assert getattr(found.spreads, name) == pytest.approx(0.05, rel=0.25), name
    # four in five of a normal distribution
    assert found.reach == pytest.approx(1.28, rel=0.1)


def test_a_band_holds_the_share_that_it_was_fitted_to() -> None:
    known = made_up(0.06, 0.2, 0.05)
    found = fitted_to([known])
    judged = by_model(known.data, [one[FULL.name] for one in known.answers], found)
    inside = [one.inside for one in judged if one.inside is not None]
    # more, since a band holds what is predicted, too
    assert 0.79 < sum(inside) / len(inside) < 0.88
    right = [bool(one.right) for one in judged]
    sure = [one.confidence for one in judged]
    assert sum(sure) / len(sure) == pytest.approx(sum(right) / len(right), abs=0.1)


def test_means_are_never_of_the_wrong_sign() -> None:
    """Curves that sink beyond the knee, and rise more steeply than predicted."""
    found = fitted_to([made_up(-0.05, -0.1, 0.02)])
    assert (found.creep, found.lost) == (0.0, 0.0)


def test_many_cases_of_one_machine_do_not_outweigh_few_of_others() -> None:
    """400 curves of one set that lose nothing, 3 sets of 40 that lose 0.3: not in the middle of
    the 520, but nearer to the three."""
    sets = [made_up(0.0, 0.0, 0.02)]
    for number in range(3):
        other = made_up(0.0, 0.3, 0.02, cases=40)
        sets.append(other._replace(data=replace(other.data, name=f"other {number}")))
    assert 0.15 < fitted_to(sets).lost < 0.3


def test_the_density_model_s_rates() -> None:
    """Two packages of twenty: as right as the second pays; half of a machine to begin with."""
    cases = [Case(str(n), Code(), "skylake-gold-6148", {20: 1.0, 40: 0.5 if n < 6 else 1.5})
             for n in range(10)]  # fmt: skip
    data = DataSet("d", "", "", tuple(cases), "packages", "out", "nothing")
    answers = tuple({FULL.name: answer("compute", {20: 1.0, 40: 2.0})} for _ in cases)
    rates = density_rates([Answered(data, answers)])
    # ten cases weigh 1/20 each: 0.3 of 0.5 are right
    rate, right, hints = rates["all packages, each its memory"]
    assert (rate, right, hints) == (pytest.approx((0.3 + 0.5) / 1.5, abs=1e-3), 6, 10)
    assert rates["fewer packages, one path to memory"] == (0.5, 0, 0)


def test_values_are_written_where_the_constants_stand() -> None:
    text = SURENESS.read_text()
    assert with_values(text, constants_of(SHIPPED)) == text
    changed = with_values(text, {"CREEP": 0.25, "BAND_REACH": 2.0})
    assert [line.strip() for line in changed.splitlines() if line not in text.splitlines()] == [
        '0.25, "of the speed, a doubling of threads", "measured",',
        '2, "standard deviations", "measured",',
    ]
    density = DENSITY.read_text()
    rates = dict.fromkeys(density_rates([]), (0.25, 1, 4))
    assert with_values(density, density_constants(rates)).count("    0.25, ") == len(rates)
