"""What a loop around a call hands the function: a name that runs over the loop's range."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, facts_of

from regionpredict.analysis import RegionFacts

SWEEP = """\
double a[40][40];
static int first(int w) { return w - 18 > 1 ? w - 18 : 1; }
static int last(int w) { return w - 1 < 18 ? w - 1 : 18; }
static void solve(int wave) {
#pragma omp parallel for
  for (int k = first(wave); k <= last(wave); k++) a[k][wave - k] += 1.0;
}
"""
DOWN = "for (int w = 36; w >= 2; w--) solve(w);"
UP = "for (int w = 2; w <= 36; w++) solve(w);"


def asked(facts: RegionFacts) -> list[str]:
    return facts.bindings.unbound(facts.free_names)


def mean_of_waves() -> float:
    """Rows of each diagonal of an interior of 18 x 18 points, by counting the points."""
    rows = [sum(1 <= w - k <= 18 for k in range(1, 19)) for w in range(2, 37)]
    return sum(rows) / len(rows)


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("loops", [UP, DOWN, UP + DOWN])
def test_a_counter_has_as_many_iterations_as_on_average(
    tmp_path: Path, frontend: str, loops: str
) -> None:
    facts = facts_of(tmp_path, SWEEP + f"void sweep(void) {{ {loops} }}\n", frontend)
    assert asked(facts) == []
    assert facts.iterations.value == round(mean_of_waves()) == 9
    (line,) = (line for line in facts.bindings.assumed if "loop around the call" in line)
    assert "from 2 to 36" in line


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_through_two_calls_and_a_sum(tmp_path: Path, frontend: str) -> None:
    """Rows 1 to 99 of a triangle: 50 on average, as in its middle."""
    text = """
double a[100];
static void row(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] += 1.0;
}
static void step(int k) { row(k + 1); }
void all(void) { for (int k = 0; k < 99; k++) step(k); }
"""
    facts = facts_of(tmp_path, text, frontend)
    assert (asked(facts), facts.iterations.value) == ([], 50)


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "calls",
    [
        UP + "for (int w = 2; w <= 30; w++) solve(w);",  # two ranges
        "int w; for (w = 2; w <= 36; w++) ; solve(w - w / 2);",  # behind the loop
        "for (int w = 2; w <= 36; w++) { solve(w); w += unseen(); }",  # the body moves it
        "for (int w = unseen(); w <= 36; w++) solve(w);",  # begins where nobody knows
        UP + "solve(unseen());",
    ],
)
def test_no_range_is_taken_where_there_is_none(tmp_path: Path, frontend: str, calls: str) -> None:
    text = f"int unseen(void);\n{SWEEP}void sweep(void) {{ {calls} }}\n"
    facts = facts_of(tmp_path, text, frontend)
    assert facts.iterations.value is None


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_what_is_given_goes_before_the_range(tmp_path: Path, frontend: str) -> None:
    facts = facts_of(
        tmp_path, SWEEP + f"void sweep(void) {{ {UP} }}\n", frontend, given={"wave": 10}
    )
    assert facts.iterations.value == 9  # k from 1 to 9
    assert not any("loop around the call" in line for line in facts.bindings.assumed)
