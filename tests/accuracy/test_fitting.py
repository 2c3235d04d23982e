"""What is fitted to curves of which is known what they were made of."""

from __future__ import annotations

import math

import pytest
from calibrating import fitted_to
from curves_made_up import made_up
from evaluate import by_model
from fitting import curves_of, walk_of
from predictor import FULL


def test_a_fit_finds_what_the_curves_were_made_of() -> None:
    found = walk_of(curves_of([made_up(0.06, 0.2, 0.05)]))
    assert found.creep == pytest.approx(0.06, abs=0.02)
    assert found.lost == pytest.approx(0.2, abs=0.03)
    assert found.spreads.threads == pytest.approx(0.05, rel=0.25)


def test_what_another_package_adds_is_told_apart() -> None:
    """A step from 16 to 32 threads of 2 x 20 cores is one to another package."""
    found = walk_of(curves_of([made_up(0.06, 0.2, 0.05, package=0.2)]))
    assert found.spreads.threads == pytest.approx(0.05, rel=0.25)
    assert found.spreads.places == pytest.approx(0.2, rel=0.25)


def test_a_band_reaches_as_far_as_a_normal_distribution_s() -> None:
    """With one of five files half inside, 0.875 of the four have to be: 1.53 deviations."""
    files = [made_up(0.06, 0.2, 0.05, file=str(number), seed=number) for number in range(4)]
    found = fitted_to(files)
    assert found.reach == pytest.approx(1.53, rel=0.05)
    judged = [
        case
        for one in files
        for case in by_model(one.data, [answers[FULL.name] for answers in one.answers], found)
    ]
    inside = [one.inside for one in judged if one.inside is not None]
    # more, since a band holds what is predicted, too
    assert 0.87 < sum(inside) / len(inside) < 0.94
    right = sum(bool(one.right) for one in judged) / len(judged)
    sure = sum(one.confidence for one in judged) / len(judged)
    assert sure == pytest.approx((4 * right + 0.5) / 5, abs=0.05)


def test_means_are_never_of_the_wrong_sign() -> None:
    """Curves that sink beyond the knee, and rise more steeply than predicted."""
    found = walk_of(curves_of([made_up(-0.05, -0.1, 0.02)]))
    assert (found.creep, found.lost) == (0.0, 0.0)


def test_many_cases_of_one_file_do_not_outweigh_few_of_others() -> None:
    """400 curves of one file that lose nothing, 3 files of 40 that lose 0.3: nearer to the
    three."""
    files = [made_up(0.0, 0.0, 0.02, file="many")]
    files += [made_up(0.0, 0.3, 0.02, cases=40, file=str(number)) for number in range(3)]
    assert 0.15 < walk_of(curves_of(files)).lost < 0.3


def test_sets_of_a_file_share_its_weight() -> None:
    one, two, other = (made_up(0.0, 0.0, 0.02, cases=cases, file=file)
                       for cases, file in ((10, "a"), (40, "a"), (20, "b")))  # fmt: skip
    weights = [one.weight for one in curves_of([one, two, other])]
    assert weights == pytest.approx([1 / 20] * 10 + [1 / 80] * 40 + [1 / 20] * 20)


def test_nothing_is_learned_of_figures_that_machine_files_hold() -> None:
    read_off = made_up(0.0, 0.0, 0.0, tabulated=True)
    known = made_up(0.0, 0.3, 0.02, file="other")
    assert {one.data.file for one in curves_of([read_off, known])} == {"other"}
    assert math.isclose(walk_of(curves_of([read_off, known])).lost, 0.3, abs_tol=0.03)
