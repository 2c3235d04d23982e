"""One array has one answer, whichever name it goes by; through both front ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_first_touch import kinds, placed

pytestmark = pytest.mark.parametrize("frontend", ["libclang", "pycparser"])

USES = """
struct grid { int n; double *v; };
struct box { struct grid inner; double *w; };
static double *field;
static void fill(double *v) { for (int i = 0; i < 1000; i++) v[i] = 1; }
static void give(double **out) {
  *out = malloc(8000);
  for (int i = 0; i < 1000; i++) (*out)[i] = 1;
}
static void direct(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) field[i] += 1;
}
static void handed(double *x) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) x[i] += 1;
}
static void member(struct grid *g) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) g->v[i] += 1;
}
static void inner(struct box *b) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) b->inner.v[i] += b->w[i];
}
static void out(double *y) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) y[i] += 1;
}
void uncalled(void) {
  double *p = field;
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) p[i] += 1;
}
"""


def test_one_answer_for_one_array(tmp_path: Path, frontend: str) -> None:
    """One thread fills it: it is so under each name, and where nobody is seen to call the function
    as an assumption."""
    main = """
int main(void) {
  field = malloc(8000);
  fill(field);
  struct grid g = {1000, field}, h;
  struct box b = {.inner = {.v = field}, .w = field};
  double *more;
  give(&more);
  direct(); handed(field); member(&g); inner(&b); out(more);
  h = (struct grid){1000, field};
  member(&h);
}
"""
    found = placed(tmp_path, frontend, USES + main)
    assert {name: set(kinds(own).values()) for name, own in found.items()} == {
        "direct": {"serial"}, "handed": {"serial"}, "member": {"serial"}, "inner": {"serial"},
        "out": {"serial"}, "uncalled": {"serial?"},
    }  # fmt: skip
    # Without main whoever fills it is taken to come first, wherever it stands.
    start = "void start(void) { field = malloc(8000); fill(field); }\n"
    for text in (USES + start, USES.replace("static void direct", f"{start}static void direct")):
        found = placed(tmp_path, frontend, text + "void run(void) { direct(); }\n")
        assert kinds(found["direct"]) == {"field": "serial?"}
        assert kinds(found["uncalled"]) == {"p": "serial?"}


def test_the_way_from_main_goes_before_others(tmp_path: Path, frontend: str) -> None:
    """All threads fill it in main; a function that nobody calls fills it by one."""
    found = placed(tmp_path, frontend, """
static double field[1000];
void again(void) { for (int i = 0; i < 1000; i++) field[i] = 1; }
void use(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) field[i] += 1;
}
int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) field[i] = 0;
}
""")  # fmt: skip
    assert kinds(found["use"]) == {"field": "parallel?"}
