"""A search over open sizes asks for no more than it may, and what it did not ask is not known."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from regionpredict.predict.by_size import (
    OpenHint,
    choices_at_tried_sizes,
    choices_by_name,
    choices_by_size,
    open_hint,
)
from regionpredict.predict.constants import MOST_TRIALS
from regionpredict.predict.deciding_names import SIZES_OF_ONE, TRIED_SIZES, deciding_at_other_values
from regionpredict.predict.hints import Choice, Hint

FEW = Choice(Hint(1, 1, 1.0), frozenset({1}))
MANY = Choice(Hint(1, 4, 1.0), frozenset({4}))
NAMES = tuple("abcde")
BEYOND = 10**9


class Loop:
    """A loop whose choice turns at a size of each name; it may be asked for `most` sizes."""

    def __init__(self, turns: Mapping[str, int], most: int = BEYOND) -> None:
        self.turns = turns
        self.most = most
        self.asked = 0

    def allows_another_trial(self) -> bool:
        return self.asked < self.most

    def __call__(self, values: Mapping[str, int]) -> Choice:
        self.asked += 1
        return MANY if any(size >= self.turns[name] for name, size in values.items()) else FEW


def hint_within(turns: Mapping[str, int], most: int) -> OpenHint:
    """The hint where a search may ask for `most` sizes; no common size stands for the names."""
    loop = Loop(turns, most)
    apart = choices_by_name(NAMES, loop, loop.allows_another_trial)
    untried = [name for name in NAMES if name not in apart]
    return open_hint(
        NAMES, FEW, (), {}, apart, ask=loop, more=loop.allows_another_trial, untried_names=untried
    )


@given(st.integers(0, 40))
def test_each_name_has_all_its_sizes_or_none(most: int) -> None:
    loop = Loop({"a": 50, "b": BEYOND, "c": 10**7, "d": 2, "e": BEYOND}, most)
    apart = choices_by_name(NAMES, loop, loop.allows_another_trial)
    assert list(apart) == list(NAMES[: len(apart)])
    assert all(list(own) == list(SIZES_OF_ONE) for own in apart.values())
    assert len(apart) == min(len(NAMES), -(-most // len(SIZES_OF_ONE)))
    assert loop.asked == len(apart) * len(SIZES_OF_ONE)


@given(st.dictionaries(st.sampled_from(NAMES), st.sampled_from([2, 50, 10**5, 10**8])))
def test_fewer_trials_never_make_a_hint_known_or_a_name_harmless(turns: dict[str, int]) -> None:
    all_turns = {name: turns.get(name, BEYOND) for name in NAMES}
    hints = [hint_within(all_turns, most) for most in range(0, 8 * len(SIZES_OF_ONE), 3)]
    for fewer, more in pairwise(hints):
        if more.threads is None:
            assert fewer.threads is None
        assert fewer.deciding >= {name for name in more.deciding if turns.get(name)}
    assert hints[-1].deciding == turns.keys()
    assert (hints[-1].threads is None) == bool(turns)


def test_a_name_that_was_not_tried_leaves_the_hint_open() -> None:
    alike = dict.fromkeys(NAMES, BEYOND)
    assert hint_within(alike, 21).threads == 1
    assert hint_within(alike, 20).threads is None
    assert hint_within(alike, 20).deciding == {"e"}
    assert hint_within(alike, 0).deciding == {"a", "b", "c", "d", "e"}


@given(
    st.lists(st.sampled_from([FEW, MANY, None]), min_size=9, max_size=9),
    st.sampled_from([FEW, MANY]),
    st.booleans(),
)
def test_fewer_values_of_the_common_size_never_raise_the_share(
    answers: list[Choice | None], now: Choice, runs: bool
) -> None:
    """A known hint has a share of 1."""
    by_size = dict(zip(TRIED_SIZES, answers, strict=True))

    def share(most: int) -> float:
        left = iter([True] * most)
        together, refused = choices_at_tried_sizes(by_size.get, lambda: next(left, False))
        assert len(refused) == len(TRIED_SIZES) - most
        hint = open_hint(("n",), now, ("n",), together, {"n": together}, impossible_sizes=refused,
                         now_runs=runs)  # fmt: skip
        assert bool(hint.deciding) == (hint.threads is None)
        return hint.share

    shares = [share(most) for most in range(len(TRIED_SIZES) + 1)]
    assert shares == sorted(shares)


def test_excluded_values_count_as_wrong_by_hand() -> None:
    """Right at 2 and 100,000,000, wrong at 10,000, and six excluded: (2 + 1) / (9 + 2)."""
    tried = {TRIED_SIZES[0]: FEW, 10**4: MANY, TRIED_SIZES[-1]: FEW}
    refused = [size for size in TRIED_SIZES if size not in tried]
    assert (
        open_hint(("n",), FEW, ("n",), tried, {"n": tried}, impossible_sizes=refused).share
        == 3 / 11
    )


def test_turns_are_not_looked_for_beyond_the_bound() -> None:
    sizes: list[int] = []

    def ask(size: int) -> Choice:
        sizes.append(size)
        return FEW if size < 12_345 else MANY

    choices_by_size(ask, lambda: len(sizes) < len(TRIED_SIZES))
    assert sorted(sizes) == list(TRIED_SIZES)
    sizes.clear()
    choices_by_size(ask)
    assert len(TRIED_SIZES) < len(sizes) <= MOST_TRIALS.value + len(TRIED_SIZES)


def test_where_work_runs_out_the_ends_are_known() -> None:
    sizes: list[int] = []

    def ask(size: int) -> Choice:
        sizes.append(size)
        return FEW

    assert list(choices_by_size(ask, lambda: len(sizes) < 2)) == [TRIED_SIZES[0], TRIED_SIZES[-1]]


def test_nothing_is_asked_elsewhere_without_a_trial_left() -> None:
    loop = Loop({"a": 50, "b": BEYOND})
    apart = choices_by_name(("a", "b"), loop)
    before = loop.asked
    assert deciding_at_other_values({"a"}, apart, loop, lambda: False) == frozenset()
    assert loop.asked == before
