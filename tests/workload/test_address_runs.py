"""Runs of addresses, few and many: both say the same, and what sets of bytes say."""

from __future__ import annotations

import random

import pytest

from regionpredict.workload.address_runs import FewRuns, together


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
        assert one.number == other.number
        assert one.lines(8.0, 64.0) == other.lines(8.0, 64.0)
        assert one.aligned_lines(64.0) == other.aligned_lines(64.0)
        assert one.joined(56.0).first() == other.joined(56.0).first()
        assert one.joined(56.0).number == other.joined(56.0).number
        both = together([one, other])
        assert both.aligned_lines(64.0) == one.aligned_lines(64.0)
    bytes_touched = {byte for begin, end in runs for byte in range(int(begin), int(end))}
    assert many.aligned_lines(64.0) == len({byte // 64 for byte in bytes_touched})


def test_numbers_that_remember_stay_one_by_one() -> None:
    few = FewRuns([(0.0, 8.0)] * 100, plain=False)
    assert isinstance(few.repeated([0.0, 8.0]), FewRuns)
    assert not isinstance(FewRuns(few.runs, plain=True).repeated([0.0]), FewRuns)
