"""Addresses of references in terms of names, for all sizes."""

from __future__ import annotations

from pathlib import Path

from regionpredict.frontend import requests_for
from regionpredict.ir import Expr
from regionpredict.pipeline import analyse
from regionpredict.workload.subscripts import Subscripts

TEXT = """\
struct node { double weight, place[3]; };
void f(int n, struct node *nodes, const int *next, double *out) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) out[i] = nodes[next[i]].place[1];
}
"""


def test_the_first_element_of_an_array_in_a_struct(tmp_path: Path) -> None:
    """Without its own subscript, it has the place of [0], and [1] is 8 bytes further."""
    path = tmp_path / "case.c"
    path.write_text(TEXT)
    (facts,) = analyse(requests_for([str(path)]), {}).facts
    accesses = [
        access for statement, _ in facts.region.statements() for access in statement.accesses
    ]
    (second,) = (access for access in accesses if len(access.subscripts) > 1)
    row, subscripts = second.subscripts[:1], Subscripts(facts.region)
    place, offset = subscripts.element(second)
    for own in (row, (*row, Expr.const(0))):
        assert subscripts.element(second._replace(subscripts=own)) == (place, offset - 8)
