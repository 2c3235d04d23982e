"""A member that is a reference: what a method writes through it changes the object it refers to."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import predicted_iterations

PROGRAM = """\
#include <cstdio>
#include <cstdlib>
struct queue {{ size_t filled, first, last; }};
template <class T> T add(T &x, T more) {{ T before = x; x += more; return before; }}
struct buffer {{
  queue &all; size_t own;
  buffer(queue &q) : all(q), own(0) {{}}
  void push(int k) {{ own += k; }}
  void flush() {{ {flush} own = 0; }}
}};
static void work(const queue &q, double *a) {{
#pragma omp parallel for
  for (size_t i = 0; i < q.filled; i++) a[i] += 1;
}}
int main() {{
  double *a = (double *)calloc(1000, 8);
  queue q = {{5, 0, 0}};
  int k = {pushed};
  if ({unknown}) scanf("%d", &k);
  buffer b(q);
  b.push(k);
  b.flush();
  work(q, a);
  printf("%f", a[3]);
}}
"""
WAYS = ("all.filled += own;", "add(all.filled, own);", "queue &same = all; same.filled += own;")


@pytest.mark.parametrize(
    "flush", [WAYS[1], *(pytest.param(way, marks=pytest.mark.slow) for way in WAYS[::2])]
)
def test_the_value_is_that_of_the_object(tmp_path: Path, flush: str) -> None:
    """5 + 3 iterations. With a number that only the run knows, none is said."""
    for pushed, unknown, expected in ((3, 0, 8), (3, 1, None)):
        source = tmp_path / "case.cpp"
        source.write_text(PROGRAM.format(flush=flush, pushed=pushed, unknown=unknown))
        assert predicted_iterations(source)[0] == expected


def test_the_first_round_of_an_unknown_loop_is_not_every_round(tmp_path: Path) -> None:
    """The queue has one element at first. Later ones depend on data."""
    text = """\
#include <stdio.h>
#include <stdlib.h>
static int first, last, filled;
static void work(double *a) {
#pragma omp parallel for
  for (int i = first; i < last; i++) a[i] += 1;
}
int main(void) {
  double *a = (double *)calloc(1000, 8);
  last = filled = 1;
  while (first < last) {
    int more;
    work(a);
    scanf("%d", &more);
    filled += more;
    first = last;
    last = filled;
  }
  printf("%f", a[3]);
}
"""
    for name in ("case.c", "case.cpp"):
        source = tmp_path / name
        source.write_text(text)
        assert predicted_iterations(source)[0] is None
