"""Conditions whose share is given: how often each side runs, counted by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse
from regionpredict.workload.loop_bodies import LoopBody, loop_bodies
from regionpredict.workload.loop_nest import LoopNest, innermost_iterations
from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.synchronisation import synchronisation_counts

N, M = 1000, 40
TEXT = """void f(int n, int m, double *a, double *b, const double *c, const int *k) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    if (c[i] > 0.5)
      a[i] = a[i] * 3.0;
    else
      b[i] = 1.0 / c[i];
    if (k[i] > 1) {
      for (int j = 0; j < m; j++)
        a[i] += c[j];
      if (k[i] > 2)
#pragma omp atomic
        b[0] += 1.0;
    }
    if (k[i] > 7) continue;
    a[i] = a[i] - 7.0;
  }
}
"""
FRONTENDS = ("libclang", "pycparser")
each_frontend = pytest.mark.parametrize("frontend", FRONTENDS)
SHARES = [Fraction(0), Fraction(1, 8), Fraction(1, 2), Fraction(1)]


class Counted:
    """The region of the text with shares given for lines of it."""

    def __init__(self, folder: Path, frontend: str, shares: dict[int, float | Fraction]) -> None:
        path = folder / "f.c"
        path.write_text(TEXT)
        given: dict[str, float | Fraction] = {"n": N, "m": M}
        given |= {f"f.c:{line}": share for line, share in shares.items()}
        (self.facts,) = analyse(requests_for([str(path)]), given, frontend=frontend).facts
        nest = loop_nest(self.facts.region, self.facts.bindings.values)
        assert nest is not None
        self.nest: LoopNest = nest
        self.bodies: dict[int, LoopBody] = {
            body.line: body for body in loop_bodies(nest, self.facts.statements, reassociates=False)
        }

    def operations(self) -> dict[str, float]:
        """All that the region does, by kind."""
        total: dict[str, float] = {}
        for body in self.bodies.values():
            for kind, number in body.operations:
                total[kind] = total.get(kind, 0.0) + body.executions * number
        return total

    def atomics(self) -> float:
        source = self.facts.region.nest
        assert source is not None
        return synchronisation_counts(self.facts.region, source, self.nest).atomics

    def arrays(self) -> set[str]:
        return {group.array for group in self.nest.groups()}


@each_frontend
@pytest.mark.parametrize("share", SHARES)
def test_each_side_runs_in_its_share(frontend: str, share: Fraction, tmp_path: Path) -> None:
    """s n multiplications on one side, (1 - s) n divisions on the other."""
    counted = Counted(tmp_path, frontend, {4: share}).operations()
    assert counted.get("fp_mul", 0.0) == share * N
    assert counted.get("fp_div", 0.0) == (1 - share) * N
    assert counted["fp_compare"] == N  # the condition itself, always


@each_frontend
@pytest.mark.parametrize("share", SHARES)
def test_loops_and_constructs_under_a_condition(
    frontend: str, share: Fraction, tmp_path: Path
) -> None:
    """s n m sums; of the atomics a quarter of s n."""
    counted = Counted(tmp_path, frontend, {8: share, 11: Fraction(1, 4), 15: Fraction(1)})
    assert counted.operations().get("fp_add", 0.0) == share * N * M + share * N / 4
    assert counted.atomics() == share * N / 4
    assert (9 in counted.bodies) == (share > 0)


@each_frontend
@pytest.mark.parametrize("share", SHARES)
def test_what_follows_a_continue_is_the_other_side(
    frontend: str, share: Fraction, tmp_path: Path
) -> None:
    counted = Counted(tmp_path, frontend, {8: 0.0, 15: share})
    assert counted.operations().get("fp_add", 0.0) == (1 - share) * N


def test_one_half_is_what_is_assumed(tmp_path: Path) -> None:
    """Of a side without loops: where nobody says, it runs every second time."""
    given = Counted(tmp_path, "libclang", {4: 0.5, 15: 0.5})
    assert given.operations() == Counted(tmp_path, "libclang", {}).operations()


@each_frontend
def test_what_never_runs_moves_nothing(frontend: str, tmp_path: Path) -> None:
    assert Counted(tmp_path, frontend, {}).arrays() == {"a", "b", "c", "k"}
    assert Counted(tmp_path, frontend, {4: 1.0, 11: 0.0}).arrays() == {"a", "c", "k"}
    assert Counted(tmp_path, frontend, {4: 0.0, 8: 0.0, 15: 1.0}).arrays() == {"b", "c", "k"}
    assert Counted(tmp_path, frontend, {4: 0.01}).arrays() == {"a", "b", "c", "k"}


def test_whole_numbers_are_shares_where_no_loop_stands(tmp_path: Path) -> None:
    for share in (0, 1):
        counted = Counted(tmp_path, "libclang", {4: share}).operations()
        assert counted.get("fp_mul", 0.0) == share * N


def test_the_weight_of_an_iteration(tmp_path: Path) -> None:
    """A quarter of m inner iterations, by which threads are found to have more or less to do."""
    nest = Counted(tmp_path, "libclang", {8: 0.25}).nest
    assert innermost_iterations(nest.root.children, {"i": 1.0}) == M / 4


def test_compilers_do_not_know_that_a_side_never_runs(tmp_path: Path) -> None:
    """What vectors would work out, and why there are none, is as it stands in the source."""
    plain, never = (Counted(tmp_path, "libclang", shares) for shares in ({}, {4: 0.0, 8: 0.0}))
    assert never.bodies[3].on_all_sides == plain.bodies[3].on_all_sides
    assert never.bodies[3].scalar_because == plain.bodies[3].scalar_because
