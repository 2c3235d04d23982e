"""Giving the names that are said to decide settles the hint, whatever the other names are."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from further_cases import further_slow
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.predict import Choice
from regionpredict.predict.constants import MOST_TRIALS
from regionpredict.predict.deciding_names import SIZES_OF_ONE, deciding_at_other_values
from regionpredict.predict.hints import Hint, common_threads

MACHINE = load("skylake-gold-6148")
ONE = Choice(Hint(1, 1, 1.0), frozenset({1}))
ALL = Choice(Hint(2, 36, 1.0), frozenset({36, 40}))

SOURCES = {
    # The data are at most 16 rows of 100: with many rows, m makes the work.
    "repeated": ("n, m", """void f(int n, int m, double a[16][100], double *b) {
  for (int t = 0; t < m; t++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) b[i] += a[i % 16][j % 100];
  }
}
"""),
    # n alone decides at the assumed sizes of m and k; both small, they decide, too.
    "three loops": ("n, m, k", """void f(int n, int m, int k, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int l = 0; l < k; l++) b[i * m + j] += a[l] * a[j];
}
"""),
    "strided": ("n, s", """void g(int n, int s, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i * s] += a[i];
}
"""),
    "shifted": ("n", """void g(int n, int shift, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] += a[i + shift];
}
"""),
}  # fmt: skip


def test_of_two_other_names_the_second_is_tried_at_its_least_too() -> None:
    """m turns it where k is small, which is assumed to be large; k then where m is large."""

    def ask(values: Mapping[str, int]) -> Choice:
        at = {"n": 100, "m": 2, "k": 1000, **values}
        return ALL if at["n"] > 50 and at["m"] > 50 and at["k"] < 10 else ONE

    apart = {name: {size: ask({name: size}) for size in SIZES_OF_ONE} for name in "nmk"}
    assert deciding_at_other_values({"n"}, apart, ask) == {"m", "k"}


@pytest.mark.parametrize("turning", ["", "n", "m"])
def test_with_one_other_name_nothing_is_asked_twice(turning: str) -> None:
    """Where the rest is as assumed, and where it is the least, are then the same."""
    seen: list[frozenset[tuple[str, int]]] = []

    def ask(values: Mapping[str, int]) -> Choice:
        seen.append(frozenset(values.items()))
        return ALL if values.get(turning, 2) > 50 else ONE

    apart = {name: dict.fromkeys(SIZES_OF_ONE, ONE) for name in "nm"}
    assert deciding_at_other_values({"n"}, apart, ask) == ({"m"} if turning == "m" else set())
    assert len(seen) == len(set(seen))


def at_sizes(path: Path, sizes: dict[str, int]) -> Predictions:
    return predict(analyse(requests_for([str(path)]), sizes), MACHINE, "saturation")


@pytest.mark.parametrize("case", further_slow(1, SOURCES))
def test_giving_what_decides_settles_the_region(tmp_path: Path, case: str) -> None:
    names, text = SOURCES[case]
    deciding = names.split(", ")
    path = tmp_path / "f.c"
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "sizes", str(path), "-m", MACHINE.name,
         "--format", "json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    ranked = json.loads(done.stdout)["unbound"]
    assert {one["name"] for one in ranked if one["decides"]} == set(deciding)
    others = [one["name"] for one in ranked if not one["decides"]]
    dice = random.Random(11)
    for values in itertools.product((2, 300, 50_000), repeat=len(deciding)):
        sizes = dict(zip(deciding, values, strict=True))
        (settled,) = at_sizes(path, sizes).teams
        assert settled.deciding == () and settled.packages is not None
        for _ in range(3 if others else 0):
            rest = {name: round(10 ** dice.uniform(0.4, 6)) for name in others}
            (known,) = at_sizes(path, {**sizes, **rest}).teams
            assert (known.packages, known.threads) == (settled.packages, settled.threads)


@given(st.lists(st.sampled_from(SIZES_OF_ONE), min_size=4, max_size=4))
def test_a_name_is_found_wherever_a_deciding_one_is_at_an_end(turns: list[int]) -> None:
    """Work from some product of sizes on: what is found is what a search over all sizes finds."""
    assumed = dict(zip("nmk", turns, strict=False))

    def ask(values: Mapping[str, int]) -> Choice:
        n, m, k = ({**assumed, **values}[name] for name in "nmk")
        return ALL if n * m > turns[3] and k > 1 else ONE

    apart = {name: {size: ask({name: size}) for size in SIZES_OF_ONE} for name in "nmk"}
    now = ask({})
    alone = {name for name in "nmk" if not common_threads([now, *apart[name].values()])}
    found = alone | deciding_at_other_values(alone, apart, ask)
    searched = {
        name for name in "nm"
        if any(
            not common_threads([ask({**dict(zip("nm", other, strict=True)), name: size})
                                for size in SIZES_OF_ONE])
            for other in itertools.product(SIZES_OF_ONE, repeat=2)
        )
    }  # fmt: skip
    assert found == (searched if alone else set())


def test_sizes_that_no_program_has_decide_nothing() -> None:
    apart = {"n": {2: ONE, 100: ALL}, "m": {2: ONE}}
    assert deciding_at_other_values({"n"}, apart, lambda values: None) == frozenset()
    assert deciding_at_other_values({"n"}, {"n": {}, "m": {}}, lambda values: ALL) == frozenset()


def test_a_region_with_many_names_asks_no_more_than_a_limit() -> None:
    asked = []

    def ask(values: Mapping[str, int]) -> Choice:
        asked.append(values)
        return ONE

    apart = {f"n{i}": dict.fromkeys(SIZES_OF_ONE, ONE) for i in range(40)}
    assert deciding_at_other_values({"n0"}, apart, ask) == frozenset()
    assert len(asked) <= MOST_TRIALS.value
