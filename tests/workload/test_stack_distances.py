"""Orders, ranks and runs of references, against enumeration."""

from __future__ import annotations

import random

import numpy as np
import pytest

from regionpredict.workload.stack_distances import (
    LineRuns,
    References,
    earlier_and_lower,
    stable_order,
)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 8, 17, 100])
def test_lower_ranks_before_each_place(number: int) -> None:
    ranked = list(range(number))
    random.Random(number).shuffle(ranked)
    rank = {place: turn for turn, place in enumerate(ranked)}
    expected = [sum(rank[other] < rank[place] for other in range(place)) for place in range(number)]
    assert earlier_and_lower(np.array(ranked, dtype=np.int64)).tolist() == expected


def test_numbers_of_several_digits_are_put_in_order() -> None:
    choose = random.Random(3)
    numbers = [choose.choice([5, 65535, 65536, 70000, 1 << 33]) for _ in range(200)]
    expected = sorted(range(200), key=numbers.__getitem__)
    assert stable_order(np.array(numbers), (1 << 33) + 1).tolist() == expected


@pytest.mark.parametrize("near", [1, 3, 8])
def test_runs_however_long_give_the_same_misses(near: int) -> None:
    """Eight lines, each used twice in a row, and again after a hundred others: 107 between."""
    lines = [*[line for line in range(8) for _ in range(2)], *range(8, 108), *range(8)]
    number = len(lines)
    references = References(
        np.array(lines), 108, np.zeros(number, dtype=np.int64), 1, np.zeros(number, dtype=np.bool_)
    )
    runs = LineRuns(references, np.array([0]), near)
    assert [int(runs.moved(held)[0][0]) for held in (8, 107, 108)] == [116, 116, 108]
