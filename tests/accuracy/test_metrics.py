"""The measures of agreement: by hand, and by laws that each must keep."""

from __future__ import annotations

from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics import (
    bootstrap,
    brier,
    calibration_error,
    geometric_mean,
    relative_errors,
    share,
    spearman,
)

numbers = st.lists(st.floats(-1e6, 1e6).map(lambda v: round(v, 3)), min_size=5, max_size=40)


def test_the_base_of_a_speedup_is_no_error() -> None:
    # Measured 10, 5, 4 s: speedups 2 and 2.5. Predicted 3, 1, 1 s: 3 and 3.
    assert relative_errors({1: 3.0, 2: 1.0, 3: 1.0}, {1: 10.0, 2: 5.0, 3: 4.0}, 1) == pytest.approx(
        [0.5, 0.2]
    )


def test_rank_correlation_with_a_tie_by_hand() -> None:
    # Ranks 1 2 3 4 5 and 1 2.5 2.5 4 5: deviations -2 -1 0 1 2 and -2 -.5 -.5 1 2;
    # sum of products 9.5, squares 10 and 9.5.
    found = spearman([1, 2, 3, 4, 5], [10, 20, 20, 30, 40])
    assert found == pytest.approx(9.5 / (10 * 9.5) ** 0.5)


def test_no_rank_of_few_or_of_equal_values() -> None:
    assert spearman([1, 2, 3, 4], [1, 2, 3, 4]) is None
    assert spearman([1, 1, 1, 1, 1], [1, 2, 3, 4, 5]) is None


@settings(deadline=None)
@given(numbers)
def test_ranks_do_not_change_under_a_rising_function(values: list[float]) -> None:
    found = spearman(values, [value**3 for value in values])
    assert found is None or found == pytest.approx(1.0)


@settings(deadline=None)
@given(numbers, numbers)
def test_rank_correlation_is_symmetric_and_bounded(a: list[float], b: list[float]) -> None:
    size = min(len(a), len(b))
    found, back = spearman(a[:size], b[:size]), spearman(b[:size], a[:size])
    assert found == back
    assert found is None or -1.0 - 1e-9 <= found <= 1.0 + 1e-9


def test_brier_score_and_calibration_by_hand() -> None:
    # (0.9 - 1)^2 = 0.01, (0.6 - 0)^2 = 0.36; bins apart: half of |1 - 0.9| and of |0 - 0.6|.
    assert brier([0.9, 0.6], [True, False]) == pytest.approx(0.185)
    assert calibration_error([0.9, 0.6], [True, False]) == pytest.approx(0.35)


def test_a_confidence_of_one_has_a_bin() -> None:
    assert calibration_error([1.0, 1.0], [True, True]) == 0.0


def test_the_interval_is_the_same_each_time_and_holds_the_value() -> None:
    values = [0.01 * n * n for n in range(40)]
    found = bootstrap(values, median)
    assert found == bootstrap(values, median)
    assert found.low < found.value < found.high
    assert found.value == median(values)


def test_equal_items_have_no_spread() -> None:
    assert bootstrap([0.3] * 20, median) == (0.3, 0.3, 0.3)


def test_the_interval_narrows_with_more_cases() -> None:
    few = bootstrap([0.0, 1.0] * 10, share)
    many = bootstrap([0.0, 1.0] * 200, share)
    assert many.high - many.low < (few.high - few.low) / 2


def test_geometric_mean_of_losses() -> None:
    assert geometric_mean([1.0, 2.0, 4.0]) == pytest.approx(2.0)
