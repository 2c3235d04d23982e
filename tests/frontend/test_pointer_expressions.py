"""Members behind addresses of elements, and pointers that a condition chooses, against twins."""

from __future__ import annotations

from pathlib import Path

import pytest
from facts_compared import Facts, compared
from reading import FRONTENDS, analysis_of

HEAD = """\
struct pixel { float red, green; };
void f(struct pixel *im, double *a, double *b, double *o, int w, int n) {
  struct pixel corners[3];
  corners[0].red = 1; corners[1].green = 2;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
"""

# name, how it is written, the same by names of elements or another way
PAIRS = {
    "an element's address": ("o[i] = (&corners[0])->red;", "o[i] = corners[0].red;"),
    "another element's": ("o[i] = (&corners[1])->green;", "o[i] = corners[1].green;"),
    "the array itself": ("o[i] = corners->red;", "o[i] = corners[0].red;"),
    "an array of the loop's own":
        ("struct pixel x[2]; x[1] = im[i]; (&x[0])->red = 1; im[i].red = x->red;",
         "struct pixel x[2]; x[1] = im[i]; x[0].red = 1; im[i].red = x[0].red;"),
    "the first of what a pointer points to":
        ("o[i] = (&im[0])->green;", "o[i] = im[0].green;"),
    "one of two arrays":
        ("double *p = w ? a : b; o[i] = p[i];",
         "double *p; if (w) p = a; else p = b; o[i] = p[i];"),
    "one of two arrays, at once":
        ("o[i] = (w ? a : b)[i];", "double *p; if (w) p = a; else p = b; o[i] = p[i];"),
    "one or none": ("double *p = w ? a : (double *) 0; o[i] = p[i];", "o[i] = a[i];"),
    "none or one": ("double *p = w ? 0 : a; o[i] = p[i];", "o[i] = a[i];"),
}  # fmt: skip


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("name", PAIRS)
def test_it_is_the_memory_of_its_twin(tmp_path: Path, name: str, frontend: str) -> None:
    written, twin = PAIRS[name]
    ours = _facts(tmp_path, written, frontend)
    theirs = _facts(tmp_path, twin, frontend)
    assert ours.status == theirs.status == "complete"
    assert ours == theirs


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_pointer_to_one_of_two_arrays_is_neither(tmp_path: Path, frontend: str) -> None:
    text = HEAD + "double *p = w ? a : b; o[i] = p[i];\n  }\n}\n"
    (facts,) = analysis_of(tmp_path, text, frontend).facts
    touched = {access.access.array for one in facts.statements for access in one.accesses}
    assert touched == {"o", "w ? a : b"}


def _facts(folder: Path, body: str, frontend: str) -> Facts:
    text = f"{HEAD}{body}\n  }}\n}}\n"
    (facts,) = compared(analysis_of(folder, text, frontend, given={"n": 1000}))
    return facts
