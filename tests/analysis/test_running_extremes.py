"""Branches that follow a running extreme are taken as often as one is found; others are a guess."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from regionpredict.analysis import RegionFacts
from regionpredict.frontend import requests_for
from regionpredict.ir import Branch, Node, Statement
from regionpredict.pipeline import analyse
from regionpredict.workload.if_conversion import shares_of_sides

each_frontend = pytest.mark.parametrize("frontend", ("libclang", "pycparser"))
HEAD = """struct room { int used, size; double *list; };
void f(int n, int m, double *a, double *b, double *best, int limit) {
  #pragma omp parallel for
  for (int j = 0; j < m; j++) {
    unsigned long rows = 0;
    double most = 0, v = 1; int at = 0, count = 0, x = 0, y = 0; struct room r = {0, 0, 0};
    for (int i = 0; i < n; i++) {
      """
EXTREMES = {
    "greatest": "if (a[i] > most) most = a[i];",
    "least": "if (a[i] < most) most = a[i];",
    "with its place": "if (a[i] >= most) { most = a[i]; at = i; }",
    "and more": "if (a[i] > 0 && a[i] > most) most = a[i];",
    "an element": "if (a[i] > best[j]) best[j] = a[i];",
    "room": "if (r.used >= r.size) { r.size += 100; b[0] = 1; } r.used++;",
    "room at its end": "if (r.used == r.size) { r.size += 100; b[0] = 1; } r.used++;",
    "room set anew": "if (count >= x) x = 2 * count; count++;",
}
FULL = {
    "a buffer": "if (count == %s) { b[0] = 1; count = 0; } count++;",
    "filled first": "count += 1; if (count >= %s) { count = 0; b[0] = 1; }",
    "unsigned": "if (rows == %s) rows = 0; rows++;",
    "a member": "if (r.used == %s) r.used = 0; r.used++;",
}
GUESSES = {
    "of data": "if (a[i] > 0) b[i] = 1;",
    "up to a limit": "if (count < limit) b[count++] = a[i];",
    "a merge": "if (a[x] < b[y]) { best[i] = a[x]; x++; } else { best[i] = b[y]; y++; }",
    "set elsewhere": "v = a[i]; if (v < 0) v = 0; b[i] = v;",
    "not emptied": "if (count == 8) b[0] = 1; count++;",
    "of another size": "if (count == at) count = 0; count++; at = a[i];",
    "emptied by data": "if (count == 8) count = 0; count = a[i];",
    "begun anew": "most = 0; if (a[i] > most) most = a[i]; b[i] = most;",
}


def branch_of(folder: Path, body: str, frontend: str) -> Branch:
    (folder / "f.c").write_text(f"{HEAD}{body}\n    }}\n    b[j] = most + at + v;\n  }}\n}}\n")
    facts: RegionFacts = analyse(requests_for([str(folder / "f.c")]), {}, frontend=frontend).facts[
        0
    ]
    assert facts.region.nest is not None
    return next(branches(facts.region.nest.body))


def branches(nodes: tuple[Node, ...]) -> Iterator[Branch]:
    """The outermost ones."""
    for node in nodes:
        if isinstance(node, Branch):
            yield node
        elif not isinstance(node, Statement):
            yield from branches(node.body)


@each_frontend
@pytest.mark.parametrize("body", EXTREMES.values(), ids=EXTREMES)
def test_a_branch_that_follows_an_extreme(tmp_path: Path, body: str, frontend: str) -> None:
    assert branch_of(tmp_path, body, frontend).extreme


@each_frontend
@pytest.mark.parametrize("body", FULL.values(), ids=FULL)
def test_a_full_buffer_is_emptied_once_per_size(tmp_path: Path, body: str, frontend: str) -> None:
    """A buffer of 8 elements is full in one of 8 iterations."""
    assert shares_of_sides(branch_of(tmp_path, body % "8", frontend), 0.5, 1000.0)[0] == 1 / 8
    assert branch_of(tmp_path, body % "limit", frontend).extreme


@each_frontend
@pytest.mark.parametrize("body", GUESSES.values(), ids=GUESSES)
def test_a_branch_that_follows_none(tmp_path: Path, body: str, frontend: str) -> None:
    assert not branch_of(tmp_path, body, frontend).extreme


def test_extremes_of_values_in_any_order(tmp_path: Path) -> None:
    """1 + 1/2 + ... + 1/1000 = 7.4855 of 1000 values; the only one of one value."""
    branch = branch_of(tmp_path, EXTREMES["greatest"], "libclang")
    assert 1000 * shares_of_sides(branch, 0.5, 1000.0)[0] == pytest.approx(7.4855, rel=1e-3)
    assert shares_of_sides(branch, 0.5, 1.0)[0] == pytest.approx(0.577, abs=0.01)


def test_a_test_before_a_critical_section(tmp_path: Path) -> None:
    """It is entered as often as an extreme is found; what is tested again there, is for certain."""
    (tmp_path / "f.c").write_text(
        "double most;\nvoid f(int n, double *a) {\n  #pragma omp parallel for\n"
        "  for (int i = 0; i < n; i++)\n    if (a[i] > most)\n      #pragma omp critical\n"
        "      if (a[i] > most) most = a[i];\n}\n"
    )
    nest = analyse(requests_for([str(tmp_path / "f.c")]), {}).facts[0].region.nest
    assert nest is not None
    outer = next(branches(nest.body))
    (inside,) = outer.sides[0]
    assert outer.extreme and not next(branches(inside.body)).extreme
