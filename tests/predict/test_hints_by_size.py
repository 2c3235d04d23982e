"""Where a hint turns with an open size: found by bisection, few questions asked."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict
from regionpredict.predict import hints_by_size
from regionpredict.predict.constants import LARGEST_SIZE_TRIED, SIZE_PRECISION
from regionpredict.predict.hints import Hint


@given(st.integers(3, 10**6), st.integers(100, 10**7))
def test_one_turn_is_found_to_the_precision(turn: int, assumed: int) -> None:
    asked: list[int] = []

    def ask(size: int) -> Hint:
        asked.append(size)
        return Hint(1, 7, 1.0) if size < turn else Hint(2, 36, 1.0)

    told = hints_by_size(("n", "m"), assumed, ask)
    if turn > LARGEST_SIZE_TRIED.value * assumed:
        assert [one.below for one in told] == [None] and told[0].packages == 1
    else:
        first, second = told
        assert first.below is not None
        assert turn <= first.below <= turn * (1 + SIZE_PRECISION.value) + 1
        assert (first.packages, second.packages, second.below) == (1, 2, None)
    assert {one.name for one in told} == {"n, m"}
    assert len(asked) <= 40  # a few dozen questions, whatever the sizes


def test_one_thread_is_a_turn_and_other_counts_are_none() -> None:
    def ask(size: int) -> Hint:
        return Hint(1, 1 if size < 90 else min(20, size // 10), 1.0)

    told = hints_by_size(("n",), 1000, ask)
    assert [(one.packages, one.threads) for one in told] == [(1, 1), (1, 20)]
    assert told[0].below is not None and 90 <= told[0].below <= 90 * (1 + SIZE_PRECISION.value)


def test_a_size_without_a_hint_says_nothing() -> None:
    assert hints_by_size(("n",), 100, lambda n: None if n > 50 else Hint(1, 2, 1.0)) == ()


SOURCE = """void f(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = b[i];
}
"""


def test_the_turns_are_those_of_given_sizes(tmp_path: Path) -> None:
    machine = load("skylake-gold-6148")
    (tmp_path / "f.c").write_text(SOURCE)
    requests = requests_for([str(tmp_path / "f.c")])
    (open_size,) = predict(analyse(requests, {}), machine, "saturation").predictions
    turns = [one for one in open_size.by_size if one.below is not None]
    assert turns and [one.name for one in turns] == ["n"] * len(turns)
    # A turn is right to 5 %, and round numbers of threads may move it a little: 10 % off it.
    lowest = 2
    for one, after in zip(turns, open_size.by_size[1:], strict=False):
        assert one.below is not None
        for size, expected in (
            (max(lowest, int(0.9 * one.below)), one),
            (int(1.1 * one.below), after),
        ):
            (known,) = predict(analyse(requests, {"n": size}), machine, "saturation").predictions
            assert known.by_size == ()
            assert (known.packages, known.threads == 1) == (
                expected.packages,
                expected.threads == 1,
            )
        lowest = one.below
