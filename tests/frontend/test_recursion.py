"""A recursive function in a region: its calls are the iterations of a loop of unknown length."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis import RegionFacts
from regionpredict.ir import Loop
from tests.frontend.reading import FRONTENDS, facts_of

TREE = """struct node { double x; struct node *left, *right; };
double sum(struct node *t) {
  if (!t) return 0;
  return t->x + sum(t->left) + sum(t->right);
}
void run(int n, struct node **h, double *out) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) out[i] = sum(h[i]);
}
"""

ROWS = """void fill(double *a, int n, int k) {
  if (k == 0) return;
  for (int j = 0; j < n; j++) a[j] += k;
  fill(a, n, k - 1);
}
void run(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) fill(a + 100 * i, 100, 3);
}
"""

MUTUAL = """void odd(double *a, int k);
void even(double *a, int k) { a[0] += 1; if (k > 0) odd(a, k - 1); }
void odd(double *a, int k) { a[1] += 1; if (k > 0) even(a, k - 1); }
void run(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) even(a + 2 * i, 9);
}
"""

DEPTH = """struct node { struct node *next; };
int depth(struct node *t) { return t ? 1 + depth(t->next) : 0; }
void run(int n, struct node **h, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int k = depth(h[i]);
    for (int j = 0; j < k; j++) a[i] += j;
  }
}
"""


def loops_of(facts: RegionFacts) -> dict[str, Loop]:
    return {loop.variable: loop for loop in facts.region.loops()}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_the_calls_are_an_open_loop(tmp_path: Path, frontend: str) -> None:
    facts = facts_of(tmp_path, TREE, frontend)
    loop = loops_of(facts)["sum@2"]
    assert facts.status == "complete"
    assert loop.trips is None
    assert not loop.exits  # its return ends one call, not all
    assert [(note.id, note.span.line) for note in facts.region.diagnostics] == [("RP105", 2)]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_arguments_that_all_calls_pass_on_keep_their_value(tmp_path: Path, frontend: str) -> None:
    loops = loops_of(facts_of(tmp_path, ROWS, frontend))
    assert loops["fill@1"].trips is None
    trips = loops["j"].trips
    assert trips is not None
    assert trips.constant == 100


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_functions_that_call_each_other_are_one_loop(tmp_path: Path, frontend: str) -> None:
    facts = facts_of(tmp_path, MUTUAL, frontend)
    assert facts.status == "complete"
    assert set(loops_of(facts)) == {"i", "even@2"}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_the_result_is_unknown(tmp_path: Path, frontend: str) -> None:
    trips = loops_of(facts_of(tmp_path, DEPTH, frontend))["j"].trips
    assert trips is None or trips.constant is None
