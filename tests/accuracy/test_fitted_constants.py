"""What is fitted, as constants of the package, and the rates of the density model, by hand."""

from __future__ import annotations

import pytest
from curves_made_up import answer
from evaluate import Answered
from fitted_constants import (
    DENSITY,
    UNCERTAINTY,
    constants_of,
    density_constants,
    density_rates,
    with_values,
)
from measured import Case, DataSet
from predictor import FULL, Code

from regionpredict.predict.uncertainty import SHIPPED


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
    text = UNCERTAINTY.read_text()
    assert with_values(text, constants_of(SHIPPED)) == text
    changed = with_values(text, {"CREEP": 0.25, "BAND_REACH": 2.0})
    assert [line.strip() for line in changed.splitlines() if line not in text.splitlines()] == [
        '0.25, "of the speed, per doubling of threads", "measured",',
        '2, "standard deviations", "measured",',
    ]
    density = DENSITY.read_text()
    rates = dict.fromkeys(density_rates([]), (0.25, 1, 4))
    assert with_values(density, density_constants(rates)).count("    0.25, ") == len(rates)
