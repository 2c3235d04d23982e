"""Sizes of a program that is started without arguments; each follows by hand from its text."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from regionpredict.analysis.teams import program_teams
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Analysis, analyse, predict
from tests.frontend.reading import FRONTENDS

HEAD = """#include <stdio.h>
#include <stdlib.h>
typedef struct { int nx, cells; double *v; } grid;
static double x[1000000];
static void work(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] += 1;
}
int MPI_Bcast(void *, int, int, int, int);
int MPI_Allreduce(const void *, void *, int, int, int, int);
void fill(int *);
static void cycle(grid *g, int level) {
  g->v[0] = level;
  if (level) { cycle(g, level - 1); }
  g->nx = g->nx;
}
static int starts(const char *word, const char *line) {
  int at = 0;
  for (int k = 0; k < (int)line[0]; k++) {
    if (!at && line[k] == ' ') continue;
    if (line[k] != word[at]) return 0;
    if (++at == 3) return 1;
  }
  return 0;
}
static int picked(int kind, int given) {
  switch (kind) {
    case 1: if (given) break; return 5;
    default: return 0;
  }
  return 0;
}
static void halve(grid *g, grid *coarse) {
  for (int k = 0; k < 40000; k++) g->v[k] = coarse->v[k];
  coarse->cells = g->cells / 2;
}
"""
CASES = {
    "no file": (
        'FILE *f = fopen("sizes.in", "r"); if (f) { if (fscanf(f, "%d", &n) != 1) n = 7; }'
        " else n = 40;", 40),
    "no variable": ('char *s = getenv("SIZE"); n = s ? atoi(s) : 50;', 50),
    "no argument": ("n = argc > 1 ? atoi(argv[1]) : 60;", 60),
    "a sum that an unknown condition adds to": (
        "int s[6], k; fill(s); for (k = 0, n = 5; k < 6; k++) { if (!s[k]) continue; work(n); "
        "n += 9; }", None),
    "a real factor": ("n = (int)(2.5 * 30);", 75),
    "a write through an unknown pointer": (
        "double *p = rand() ? x : x + 9; n = 80; for (int i = 0; i < 9999; i++) p[i] = i;", 80),
    "an int through an unknown pointer": (
        "int k = 5, *p = rand() ? &n : &k; n = 90; *p = 3;", None),
    "a member of an unknown struct": (
        "grid g = {8, 4, x}, h = {9, 4, x}, *p = rand() ? &g : &h; p->cells = 100; n = g.nx;", 8),
    "the member that is written": (
        "grid g = {8, 4, x}, h = {9, 4, x}, *p = rand() ? &g : &h; p->cells = 100; n = g.cells;",
        None),
    "rows": ("int d[2][2] = {{1, 2}, {3, 110}}; n = d[1][1];", 110),
    "several times": ("work(20); n = 120;", 120),
    "what one process sends to itself": (
        "int s[2] = {1, 130}; MPI_Bcast(s, 2, 0, 0, 0); n = s[1];", 130),
    "what one process reduces": (
        "int own = 140, all = 0; MPI_Allreduce(&own, &all, 1, 0, 0, 0); n = all;", 140),
    "an array that some function fills": ("int s[2] = {1, 150}; fill(s); n = s[1];", None),
    "a recursion that writes other members": (
        "grid g = {8, 160, x}; cycle(&g, 3); n = g.cells;", 160),
    "a recursion that writes this one": ("grid g = {8, 160, x}; cycle(&g, 3); n = g.nx;", None),
    "a return behind what may go on with the next round": (
        "char line[80]; fill((int *)line); n = 180; if (starts(\"abc\", line)) n = 181;", None),
    "a return behind a break that may leave a switch": (
        "int s[2]; fill(s); n = 210; if (picked(1, s[0])) n = 211;", None),
    "cases that may end early": (
        "int s[2], k = 1; fill(s); n = 220; switch (k) {"
        " case 1: if (s[0]) break; k = 2; break; default: n = 3; }", 220),
    "a round that a switch may end": (
        "int s[9]; fill(s); n = 230; for (int k = 0; k < 3; k++) {"
        " switch (k) { case 1: if (s[0]) continue; break; default: break; } n = 231; }", 231),
    "what is behind a round that a switch may end": (
        "int s[9]; fill(s); n = 240; for (int k = 0; k < 3; k++) {"
        " switch (k) { case 2: if (s[0]) continue; break; default: break; } n = 240 + k; }", None),
    "rounds that may end early": (
        "int s[9]; fill(s); n = 190; for (int k = 0; k < 9; k++) {"
        " if (s[k] > 3) continue; if (s[k] > 2) break; s[k] = 1; }", 190),
    "what is behind a round that may end early": (
        "int s[9]; fill(s); n = 5; for (int k = 0; k < 9; k++) {"
        " if (s[k] > 3) continue; n = 7; }", None),
    "a struct handed over in a long loop": (
        "grid g = {8, 200, x}, c = {0, 0, x};"
        " for (int k = 0; k < 100000; k++) halve(&g, &c); n = g.cells;", 200),
    "levels of a hierarchy": (
        "grid g[4] = {{8, 1600, x}, {8, 0, x}, {8, 0, x}, {8, 0, x}};"
        " for (int k = 1; k < 4; k++) halve(&g[k - 1], &g[k]); n = g[3].cells;", 200),
    "a zero among integers where a pointer is written": (
        "static int off[2]; double **rows = malloc(16); double **p = rand() ? rows : rows + 1;"
        " off[0] = 0; *p = x; n = 170 + off[0];", 170),
    "the program ends": ("if (argc < 2) exit(1); n = 5 * argc;", None),
}  # fmt: skip


def read(folder: Path, body: str, frontend: str, **given: int) -> Analysis:
    (folder / "f.c").write_text(
        HEAD + f"int main(int argc, char **argv) {{ int n; {body} work(n); return 0; }}\n"
    )
    return analyse(requests_for([str(folder / "f.c")]), dict(given), frontend=frontend)


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("case", CASES)
def test_what_main_makes_of_no_arguments(case: str, frontend: str, tmp_path: Path) -> None:
    body, trips = CASES[case]
    (facts,) = read(tmp_path, body, frontend).facts
    assert facts.iterations.value == trips


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_file_that_is_there_is_read(frontend: str, tmp_path: Path) -> None:
    (tmp_path / "sizes.in").write_text("9\n")
    (facts,) = read(tmp_path, CASES["no file"][0], frontend).facts
    assert facts.iterations.value == 9


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_what_is_given_goes_before(frontend: str, tmp_path: Path) -> None:
    (facts,) = read(tmp_path, CASES["no argument"][0], frontend, n=30).facts
    assert facts.iterations.value == 30
    assert facts.bindings.origin == "given"


def test_a_loop_of_unknown_size_has_as_many_iterations_as_the_largest(tmp_path: Path) -> None:
    body = "n = argc > 1 ? atoi(argv[1]) : 5000; int m = rand();\n#pragma omp parallel for\n"
    body += "  for (int i = 0; i < m; i++) x[i] = i;\n"
    analysis = read(tmp_path, body, "libclang")
    result = predict(analysis, load("dunnington"), "saturation", advised=False)
    known, unknown = sorted(result.predictions, key=lambda own: own.facts.region.span.line)
    assert known.facts.iterations.value == 5000
    assert unknown.facts.bindings.typical == Fraction(5000)
    assert any("= 5000 (no value given" in line for line in unknown.assumed)
    assert unknown.sizes_from == "typical"


PARTS = """#include <stdlib.h>
double x[80000], y[20000];
int length[8];
void part(int m) {
#pragma omp parallel for
  for (int i = 0; i < m; i++) y[i] += 1;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000;
  for (int r = 0; r < 8; r++) length[r] = rand();
  for (int t = 0; t < 3; t++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      for (int k = 0; k < 4; k++) x[4 * i + k] += 1;
    for (int r = 0; r < 8; r++) part(length[r]);
  }
}
"""


@pytest.mark.parametrize(("arguments", "elements"), [(None, 20000), (["6000"], 6000)])
def test_a_size_from_an_array_is_that_of_a_part(
    arguments: list[str] | None, elements: int, tmp_path: Path
) -> None:
    """Eight parts of all elements, each of which has four values."""
    (tmp_path / "f.c").write_text(PARTS)
    analysis = analyse(requests_for([str(tmp_path / "f.c")]), {}, arguments=arguments)
    result = predict(analysis, load("dunnington"), "saturation", advised=False)
    part, whole = sorted(result.predictions, key=lambda own: own.facts.region.span.line)
    assert whole.facts.iterations.value == elements
    assert part.facts.bindings.typical == elements / 8
    assert any(f"= {elements // 8} (no value given" in line for line in part.assumed)


WAVES = """static double x[20][20];
static int order[] = {ORDER};
static void wave(int diagonal) {
  int first = diagonal < 20 ? 0 : diagonal - 19, last = diagonal < 20 ? diagonal : 19;
#pragma omp parallel for
  for (int i = first; i <= last; i++) x[i][diagonal - i] += 1;
}
int main(void) {
  for (int k = 0; k < (int)(sizeof order / sizeof *order); k++) wave(order[k]);
  return 0;
}
"""
DIAGONALS = {
    "most are short": ("9, 9, 9, 9, 9, 19", 10),  # 40 of 70 elements are in the first four
    "the last one is short": ("0, 19, 37", 20),  # 1, 20 and 2 elements
}


@pytest.mark.parametrize(("order", "length"), DIAGONALS.values(), ids=DIAGONALS)
@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_region_has_the_sizes_with_half_of_its_work(
    tmp_path: Path, order: str, length: int, frontend: str
) -> None:
    (tmp_path / "f.c").write_text(WAVES.replace("ORDER", order))
    (facts,) = analyse(requests_for([str(tmp_path / "f.c")]), {}, frontend=frontend).facts
    assert facts.iterations.value == length


ALTERNATING = """int k = 0;
  n = 0;
  while (++k <= 50) { n += k; work(n); work(5); }
  n = 5;
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_many_executions_are_sampled_without_a_period(tmp_path: Path, frontend: str) -> None:
    """Sizes 1, 3, 6, ..., 1275, and 5 after each of them. Half of the work is done below 820."""
    (facts,) = read(tmp_path, ALTERNATING, frontend).facts
    assert facts.iterations.value is not None
    assert 500 < facts.iterations.value < 1200


def test_executions_of_several_sizes_weigh_as_much_as_their_work(tmp_path: Path) -> None:
    """Of three executions, two with a hundredth of the largest one's iterations: 1.02 of those."""
    analysis = read(tmp_path, "work(100); work(10000); n = 100;", "libclang")
    (facts,) = analysis.facts
    assert facts.iterations.value == 10000
    (team,) = program_teams(analysis.program, analysis.facts, {}).teams
    assert team.executions.weight == pytest.approx(1.02)
    # A size that the user gives holds each time.
    analysis = read(tmp_path, "work(100); work(10000); n = 100;", "libclang", **{"work:n": 500})
    (team,) = program_teams(analysis.program, analysis.facts, {"work:n": 500}).teams
    assert team.executions.weight == 3
