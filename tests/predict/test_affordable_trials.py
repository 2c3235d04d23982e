"""A search over open sizes asks for no more than it may; what it did not ask for is not known."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from regionpredict.predict.by_size import (
    OpenHint,
    affordable_trials,
    choices_apart,
    choices_by_size,
    open_hint,
)
from regionpredict.predict.constants import MOST_TRIALS, TRIED_REFERENCES
from regionpredict.predict.deciding_names import SIZES_OF_ONE, TRIED_SIZES, deciding_elsewhere
from regionpredict.predict.hints import Choice, Hint

FEW = Choice(Hint(1, 1, 1.0), frozenset({1}))
MANY = Choice(Hint(1, 4, 1.0), frozenset({4}))
NEVER = 10**9
NAMES = ("a", "b", "c", "d", "e")


class Asked:
    """A loop whose choice turns at a size of each name; it notes what it was asked for."""

    def __init__(self, turns: Mapping[str, int]) -> None:
        self.turns = turns
        self.settings: list[dict[str, int]] = []

    def __call__(self, values: Mapping[str, int]) -> Choice:
        self.settings.append(dict(values))
        return MANY if any(size >= self.turns[name] for name, size in values.items()) else FEW


def hint_of(turns: Mapping[str, int], most: int) -> OpenHint:
    """The hint of five names, no common size among them, with `most` trials a search."""
    ask = Asked(turns)
    apart = choices_apart(NAMES, ask, most)
    untried = [name for name in NAMES if name not in apart]
    return open_hint(NAMES, FEW, (), {}, apart, ask=ask, most=most, untried=untried)


@given(st.integers(0, 10**9))
def test_trials_times_references_stay_in_their_bound_and_one_is_always_made(refs: int) -> None:
    most = affordable_trials(refs)
    assert most >= 1
    assert most == 1 or most * refs <= TRIED_REFERENCES.value
    assert most >= affordable_trials(refs + 1)


@given(st.integers(0, 100))
def test_a_name_is_tried_at_all_its_sizes_or_left_out(most: int) -> None:
    ask = Asked({"a": 50, "b": NEVER, "c": 2, "d": NEVER, "e": 10**6})
    apart = choices_apart(NAMES, ask, most)
    assert list(apart) == list(NAMES[: len(apart)])
    assert apart
    assert all(list(own) == list(SIZES_OF_ONE) for own in apart.values())
    assert len(ask.settings) == len(apart) * len(SIZES_OF_ONE)
    assert len(ask.settings) <= max(most, len(SIZES_OF_ONE))


def test_a_size_that_no_program_has_is_asked_for_and_left_out() -> None:
    apart = choices_apart(["n"], lambda values: FEW if values["n"] < 10**5 else None, 100)
    assert list(apart["n"]) == [size for size in SIZES_OF_ONE if size < 10**5]


@given(
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from([10, 10**4, 10**7])),
    st.lists(st.integers(0, 60), min_size=2, max_size=8),
)
def test_fewer_trials_never_make_a_hint_known(turns: dict[str, int], mosts: list[int]) -> None:
    whole = {name: turns.get(name, NEVER) for name in NAMES}
    for fewer, more in pairwise(sorted(mosts)):
        if hint_of(whole, more).threads is None:
            assert hint_of(whole, fewer).threads is None
        assert hint_of(whole, fewer).deciding >= turns.keys()


def test_a_name_for_which_no_trial_is_left_counts_as_deciding() -> None:
    harmless = dict.fromkeys(NAMES, NEVER)
    whole = len(NAMES) * len(SIZES_OF_ONE)
    assert hint_of(harmless, whole).threads == 1
    assert hint_of(harmless, whole).deciding == frozenset()
    assert hint_of(harmless, whole - 1).threads is None
    assert hint_of(harmless, whole - 1).deciding == {"e"}
    assert hint_of(harmless, 0).threads is None
    assert hint_of(harmless, 0).deciding == {"b", "c", "d", "e"}


def test_turns_are_not_looked_for_beyond_the_bound() -> None:
    ask = Asked({"n": 12_345})
    choices_by_size(lambda size: ask({"n": size}), most=1)
    assert [setting["n"] for setting in ask.settings] == list(TRIED_SIZES)
    more = Asked({"n": 12_345})
    choices_by_size(lambda size: more({"n": size}), most=10**6)
    assert len(TRIED_SIZES) < len(more.settings) <= MOST_TRIALS.value


def test_nothing_is_asked_elsewhere_without_a_trial_left() -> None:
    ask = Asked({"n": 50, "m": 500})
    apart = choices_apart(["n", "m"], ask, 100)
    before = len(ask.settings)
    assert deciding_elsewhere({"n"}, apart, ask, most=0) == frozenset()
    assert len(ask.settings) == before
