"""Integers made of floating-point numbers: of those that a loop sets no size is made."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, facts_of

LOOP = """
void f(int n, double width, double *w, double *h) {{
#pragma omp parallel for
  for (int k = 0; k < n; k++) {{ {body} }}
}}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "body",
    [
        "double a = w[k] * 3.0; int ring = a; h[ring] = 1.0;",
        "double a = w[k], b = 2 * a; int ring = a > b ? a : b; h[ring] = 1.0;",
        "float a; a = w[k]; h[(long)a] = 1.0;",
    ],
)
def test_an_index_made_of_what_the_loop_sets_is_data(
    tmp_path: Path, frontend: str, body: str
) -> None:
    facts = facts_of(tmp_path, LOOP.format(body=body), frontend)
    (write,) = [access for statement in facts.statements
                for access in statement.accesses if access.access.kind == "write"]  # fmt: skip
    assert write.pattern == "irregular"
    assert not any("a" in s.names or "b" in s.names for s in write.access.subscripts)


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_number_from_outside_may_still_be_given(tmp_path: Path, frontend: str) -> None:
    body = "for (int i = 0; i < width; i++) h[i] = k;"
    facts = facts_of(tmp_path, LOOP.format(body=body), frontend, given={"n": 3, "width": 7})
    assert [s.executions.value for s in facts.statements][-1] == 21
