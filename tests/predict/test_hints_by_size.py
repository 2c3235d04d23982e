"""Where a hint turns with an open size: found by bisection, few questions asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.predict import (
    Choice,
    OpenHint,
    choices_by_size,
    open_hint,
)
from regionpredict.predict.by_size import (
    choices_by_name,
    hints_by_size,
    part_boundaries,
    split_names,
)
from regionpredict.predict.constants import MOST_TRIALS, SIZE_PRECISION
from regionpredict.predict.deciding_names import SIZES_OF_ONE, TRIED_SIZES
from regionpredict.predict.hints import Hint, common_threads

MACHINE = load("skylake-gold-6148")
ONE = Choice(Hint(1, 1, 1.0), frozenset({1}))
FEW = Choice(Hint(1, 7, 1.0), frozenset({7, 8}))
SOME = Choice(Hint(1, 8, 1.0), frozenset({8, 20}))
ALL = Choice(Hint(2, 36, 1.0), frozenset({36, 40}))


def told_by(ask: Callable[[int], Choice | None], *names: str) -> OpenHint:
    together = choices_by_size(ask)
    name = names or ("n",)
    return open_hint(name, ALL, name, together, {name[0]: together})


@given(st.integers(3, 10**7))
def test_one_turn_is_found_to_the_precision(turn: int) -> None:
    asked: list[int] = []

    def ask(size: int) -> Choice:
        asked.append(size)
        return FEW if size < turn else ALL

    first, second = hints_by_size(("n", "m"), choices_by_size(ask))
    assert first.below is not None
    assert turn <= first.below <= turn * (1 + SIZE_PRECISION.value) + 1
    assert (first.packages, first.threads) == (1, 7)
    assert (second.packages, second.threads, second.below) == (2, 36, None)
    assert first.name == second.name == "n, m"
    assert len(asked) <= 20  # nine sizes, and a tenth halved to 5 % by ratio


def test_parts_are_told_apart_by_what_is_good_in_all_of_one() -> None:
    # 8 threads are good at 10 and at 100, 7 at 10 alone: one part.
    told = hints_by_size(("n",), {2: ONE, 10: FEW, 100: SOME, 1000: ALL})
    assert [(one.below, one.packages, one.threads) for one in told] == [
        (10, 1, 1), (1000, 1, 8), (None, 2, 36),
    ]  # fmt: skip


def test_a_hint_that_turns_back_has_three_parts() -> None:
    told = hints_by_size(("n",), {2: ALL, 10: FEW, 100: ALL})
    assert [(one.below, one.packages) for one in told] == [(10, 2), (100, 1), (None, 2)]


def test_sizes_that_no_program_has_say_nothing() -> None:
    assert choices_by_size(lambda n: None) == {}
    assert hints_by_size(("n",), {}) == ()
    told = hints_by_size(("n",), choices_by_size(lambda n: FEW if n < 50 else None))
    assert [(one.below, one.threads) for one in told] == [(None, 7)]


def test_iterations_tell_parts_apart_only_where_they_grow_with_the_size() -> None:
    choices = {2: ONE, 10: FEW, 100: ALL}
    grow = hints_by_size(("n",), choices, lambda n: n // 2)
    assert [one.iterations_below for one in grow] == [5, 50, None]
    for other in (lambda n: 7, lambda n: -n, lambda n: None if n == 2 else n):
        assert {one.iterations_below for one in hints_by_size(("n",), choices, other)} == {None}


@given(
    st.dictionaries(st.sampled_from(TRIED_SIZES), st.sampled_from([ONE, FEW, SOME, ALL, None])),
    st.sampled_from([ONE, FEW, SOME, ALL]),
)
def test_a_hint_is_known_exactly_where_one_number_is_good_everywhere(
    answers: dict[int, Choice | None], now: Choice
) -> None:
    asked: list[Choice] = [now]

    def ask(size: int) -> Choice | None:
        nearest = max((known for known in answers if known <= size), default=None)
        answer = None if nearest is None else answers[nearest]
        asked.extend([answer] if answer is not None else [])
        return answer

    together = choices_by_size(ask)
    found = open_hint(("n",), now, ("n",), together, {"n": together})
    common = common_threads(asked)
    assert (found.threads in common) if common else (found.threads is None)
    assert bool(found.deciding) == (found.threads is None)
    for one in asked:
        assert found.range.packages[0] <= one.hint.packages <= found.range.packages[1]
        assert found.range.threads[0] <= one.hint.threads <= found.range.threads[1]
    for part in found.by_size:
        assert found.range.packages[0] <= part.packages <= found.range.packages[1]
    belows = [part.below for part in found.by_size[:-1]]
    assert belows == sorted(set(belows), key=lambda below: below or 0)
    assert len(together) <= MOST_TRIALS.value + len(TRIED_SIZES)


def test_a_name_decides_where_its_own_trials_differ() -> None:
    found = open_hint(
        ("a", "b"),
        FEW,
        ("a", "b"),
        {10: FEW, 100: ALL},
        {"a": {10: FEW, 100: ALL}, "b": {10: SOME}},
    )
    assert (found.deciding, found.threads) == (frozenset("a"), None)
    assert {one.name for one in found.by_size} == {"a"}
    # Neither does by itself: both do.
    both = open_hint(("a", "b"), FEW, ("a", "b"), {10: FEW, 100: ALL}, {"a": {}, "b": {}})
    assert both.deciding == frozenset("ab")


def test_names_that_decide_only_together_are_those_of_the_size_or_all() -> None:
    together = {10: FEW, 100: ALL}
    assert open_hint(("a", "b"), FEW, ("a",), together, {}).deciding == {"a"}
    assert open_hint(("a", "b"), FEW, (), together, {}).deciding == {"a", "b"}


def test_an_open_hint_is_as_sure_as_the_least_sure_of_its_sizes() -> None:
    def choice(threads: int, margin: float, chance: float, *good: int) -> Choice:
        return Choice(Hint(1, threads, margin), frozenset(good), chance)

    now = choice(8, 0.5, 0.9, 7, 8)
    together, apart = {10: choice(9, 0.2, 0.8, 7, 8, 9)}, {"b": {10: choice(7, 0.3, 0.7, 7, 8)}}
    found = open_hint(("a", "b"), now, ("a",), together, apart)
    assert (found.unbound, found.deciding) == (("a", "b"), frozenset())
    assert (found.margin, found.chance, found.threads) == (0.2, 0.7, 8)
    assert found.range == ((1, 1), (7, 9))
    # Where its own number is not good everywhere, the fewest threads that are.
    other = {10: choice(9, 0.2, 0.8, 6, 7, 9)}
    assert open_hint(("a",), now, ("a",), other, {"a": other}).threads == 7


def test_no_iteration_is_no_evidence() -> None:
    """What a size tells with which the loop does not run decides nothing; where it does not run
    with any, the hint is not known."""
    runs = {10: FEW, 100: FEW}
    found = open_hint(("n",), ONE, ("n",), runs, {"n": runs}, now_runs=False)
    assert (found.threads, found.deciding) == (7, frozenset())
    assert found.range == ((1, 1), (7, 7))
    never = open_hint(("n", "m"), ONE, ("n",), {}, {"n": {}, "m": {}}, now_runs=False)
    assert (never.threads, never.deciding) == (None, frozenset("n"))
    assert never.range == ((1, 1), (1, 1))


SOURCES = {
    "copy": ("n", """void f(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = b[i];
}
"""),
    "triangle": ("n", """void f(int n, double a[n][n]) {
  for (int k = 0; k < n; k++) {
#pragma omp parallel for
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++) a[i][j] -= a[i][k] * a[k][j];
  }
}
"""),
    "team": ("n", """void f(int n, double *a, double *b) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 1; i < n - 1; i++) a[i] = b[i - 1] + b[i + 1];
    for (int t = 0; t < n / 1000; t++) {
#pragma omp for
      for (int i = 0; i < n; i++) b[i] = 2 * a[i];
    }
  }
}
"""),
}  # fmt: skip


def predicted(path: Path, **sizes: int) -> Predictions:
    return predict(analyse(requests_for([str(path)]), sizes), MACHINE, "saturation")


@pytest.mark.parametrize("name", SOURCES)
def test_the_turns_are_those_of_given_sizes(tmp_path: Path, name: str) -> None:
    size, text = SOURCES[name]
    path = tmp_path / "f.c"
    path.write_text(text)
    (team,) = predicted(path).teams
    assert (team.packages, team.deciding) == (2, (size,))  # at the assumed large size
    assert team.threads is not None and team.threads > MACHINE.cores_per_package
    assert 0 < team.confidence < 0.9
    assert {one.name for one in team.by_size} == {size}
    assert len(team.by_size) > 2 and team.range is not None
    checked = 0
    for one, after in pairwise(team.by_size):
        assert one.below is not None
        if (one.packages, one.threads > 1) == (after.packages, after.threads > 1):
            continue  # turns of threads alone are looked for less closely
        # A turn is right to 5 %, and round numbers of threads may move it a little: 10 % off it.
        for value, expected in ((int(0.9 * one.below), one), (int(1.1 * one.below), after)):
            (known,) = predicted(path, **{size: value}).teams
            assert (known.unbound, known.by_size, known.range) == ((), (), None)
            assert known.packages is not None and known.threads is not None
            assert team.range.packages[0] <= known.packages <= team.range.packages[1]
            if _part(team.by_size, value) != expected:
                continue  # a part that is narrower than 10 %
            checked += 1
            curve = {point.threads: point.value for point in known.speedup}
            best = max(curve.values())
            # Where another number of packages is about as good, that is said.
            assert known.packages == expected.packages or known.borderline
            # By size only round numbers are tried: the best of all may gain a little more.
            assert (known.threads == 1) == (expected.threads == 1) or best < 1.15
            assert curve[expected.threads] >= 0.85 * best
    assert checked >= 3


def _part(parts: tuple, size: int) -> object:  # type: ignore[type-arg]
    return next(one for one in parts if one.below is None or size < one.below)


def test_turns_by_hand() -> None:
    assert part_boundaries({2: FEW, 10: SOME, 100: ALL}) == [(10, 100)]
    # 20 and 7 share nothing, though each shares 8 with the other's choices.
    assert part_boundaries({2: SOME, 10: FEW, 100: Choice(Hint(1, 20, 1.0), frozenset({20}))}) == [
        (10, 100)
    ]


def test_the_sizes_that_are_tried() -> None:
    """Two, then every power of ten up to a vector of 0.8 GB; of one among several each second."""
    assert TRIED_SIZES == (2, 10, 10**2, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
    assert SIZES_OF_ONE == (2, 10**2, 10**4, 10**6, 10**8)


def test_where_packages_stay_a_turn_is_looked_for_less_closely() -> None:
    """Between 10 and 100 at 31, the root of 1000: enough for threads alone, not for packages."""

    def asked_by(after: Choice) -> list[int]:
        asked: list[int] = []

        def ask(size: int) -> Choice:
            asked.append(size)
            return FEW if size < 31 else after

        choices_by_size(ask)
        return sorted(size for size in asked if 10 < size < 100)

    threads_alone = Choice(Hint(1, 20, 1.0), frozenset({20}))
    # 10 to 31 is 21 apart, more than half of 10; 17 to 31 is 14, more than 8; 22 to 31 is not.
    assert asked_by(threads_alone) == [17, 22, 31]
    # To a twentieth, or to neighbours: from 30 to 31.
    assert {30, 31} <= set(asked_by(ALL))


@pytest.mark.parametrize(
    "names", [["n"], ["n", "m"], ["a[i, j]", "n"], ["f(1, g(2, 3))", "b{1, 2}"]]
)
def test_commas_part_names_but_not_their_arguments(names: list[str]) -> None:
    assert split_names(", ".join(names)) == tuple(names)


@pytest.mark.parametrize(("rounds", "tried"), [(0, 0), (0.5, 1), (1, 1), (1.9, 2), (2, 2), (9, 3)])
def test_a_name_is_tried_at_all_sizes_or_not_at_all(rounds: float, tried: int) -> None:
    """A name is begun while another size may be asked for, and then has all of its own."""
    asked: list[dict[str, int]] = []

    def ask(sizes: Mapping[str, int]) -> Choice | None:
        asked.append(dict(sizes))
        return ONE

    most = int(rounds * len(SIZES_OF_ONE))
    apart = choices_by_name(("n", "m", "l"), ask, lambda: len(asked) < most)
    names = ["n", "m", "l"][:tried]
    assert asked == [{name: size} for name in names for size in SIZES_OF_ONE]
    assert apart == {name: dict.fromkeys(SIZES_OF_ONE, ONE) for name in names}
