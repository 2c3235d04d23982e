"""Runs of addresses, few and many: both say the same, and what sets of bytes say."""

from __future__ import annotations

import random

import pytest

from regionpredict.ir import Expr
from regionpredict.workload.address_run_arrays import many_runs, sorted_distinct_runs
from regionpredict.workload.address_runs import (
    FewRuns,
    concatenated_runs,
    lines_of_runs,
    sorted_runs,
)
from regionpredict.workload.derived_number import Derived


@pytest.mark.parametrize("seed", range(30))
def test_few_and_many_say_the_same(seed: int) -> None:
    choose = random.Random(seed)
    runs = []
    for _ in range(choose.randint(1, 60)):
        begin = 8.0 * choose.randint(-50, 400)
        runs.append((begin, begin + 8.0 * choose.randint(1, 12)))
    few = FewRuns(runs, plain=True)
    many = few.as_many()
    places = [8.0 * choose.randint(-9, 90) / choose.choice([1, 3]) for _ in range(3)]
    for one, other in ((few, many), (FewRuns(few.runs, plain=False).repeated(places),
                                     many.repeated(places))):  # fmt: skip
        assert one.in_steps(24.0, 3).aligned_lines(64.0) == other.repeated(
            [0.0, 24.0, 48.0]
        ).aligned_lines(64.0)
        assert one.number == other.number
        assert one.lines(8.0, 64.0) == other.lines(8.0, 64.0)
        assert one.aligned_lines(64.0) == other.aligned_lines(64.0)
        assert one.merged(56.0).first() == other.merged(56.0).first()
        assert one.merged(56.0).number == other.merged(56.0).number
        both = concatenated_runs([one, other])
        assert both.aligned_lines(64.0) == one.aligned_lines(64.0)
    bytes_touched = {byte for begin, end in runs for byte in range(int(begin), int(end))}
    assert many.aligned_lines(64.0) == len({byte // 64 for byte in bytes_touched})


@pytest.mark.parametrize("seed", range(10))
def test_arrays_in_order_are_a_sorted_set(seed: int) -> None:
    choose = random.Random(seed)
    runs = [
        (8.0 * choose.randint(0, 9), 80.0 + 8.0 * choose.randint(0, 2))
        for _ in range(choose.randint(0, 60))
    ]
    cut = choose.randint(0, len(runs))
    found = sorted_distinct_runs([many_runs(runs[:cut]), many_runs(())], set(runs[cut:]))
    assert found.one_by_one() == sorted(set(runs))
    assert found.whole
    assert not many_runs([(0.0, 8.0), (16.0, 24.5)]).whole


def test_numbers_that_remember_stay_one_by_one() -> None:
    few = FewRuns([(0.0, 8.0)] * 100, plain=False)
    assert isinstance(few.repeated([0.0, 8.0]), FewRuns)
    assert not isinstance(FewRuns(few.runs, plain=True).repeated([0.0]), FewRuns)


def test_runs_of_numbers_that_remember_are_sorted_as_all_others() -> None:
    n = Derived(100.0, Expr.name("n"))
    runs = [(n * 8 + at * 24, n * 8 + at * 24 + 8) for at in (3, 0, 2, 1)]
    assert sorted_runs(runs) == sorted(runs)
    twice = [*runs, (n * 8 + 24.0, n * 8 + 64)]
    assert sorted_runs(twice) == sorted(twice)


def test_the_lines_of_a_run_have_the_expression_of_their_formula() -> None:
    n = Derived(100.0, Expr.name("n"))
    lines = lines_of_runs([(n, n + 8), (3 * n, 4 * n)], 8.0, 64.0)
    by_hand = 1.0 + (1.0 + (n - 8) / 64)
    assert isinstance(lines, Derived)
    assert float(lines) == float(by_hand) == 2 + 92 / 64
    assert str(lines.expr) == str(by_hand.expr) == "(n + 120)/64"
