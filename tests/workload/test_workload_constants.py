"""The numbers of the counting are those that docs/saturation.md gives sources for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from regionpredict.constant import Constant
from regionpredict.workload import constants

PAGE = Path(__file__).resolve().parents[2] / "docs" / "saturation.md"
ROW = re.compile(r"^\| `workload`: (\w+) \| ([^|]+) \|", re.MULTILINE)


def test_the_page_has_each_number() -> None:
    page = {name: float(value.replace(",", "")) for name, value in ROW.findall(PAGE.read_text())}
    here = {n: c.value for n, c in vars(constants).items() if isinstance(c, Constant)}
    assert page.keys() == here.keys()
    assert here == pytest.approx(page, rel=1e-9)


def test_bounds_that_are_powers_of_two() -> None:
    """As their sources say: 128 GiB of doubles, 47 bits of an address, 63 of a count."""
    assert constants.LARGEST_TRIAL.value * 8 == 128 * 1024**3
    assert constants.ADDRESS_SPACE.value == 2**47
    assert constants.LARGEST_COUNT.value == 2**63 - 1
    assert constants.UNKNOWN_EXTENT.value == 1024**2


def test_two_nodes_integrate_what_a_triangle_does() -> None:
    """Exact up to cubes: the integral of x^k over [0, 1] is 1/(k + 1), and of x^4 it is not."""
    for power in range(5):
        found = sum(weight * place**power for place, weight in constants.TRIANGLE_NODES)
        assert (found == pytest.approx(1 / (power + 1), abs=1e-9)) == (power < 4)


def test_places_whose_work_is_compared() -> None:
    """Both ends, and one between that is not the middle."""
    first, between, last = constants.WORK_PLACES
    assert (first, last) == (0.0, 1.0)
    assert 0.0 < between < 0.5
