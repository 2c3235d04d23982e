"""What an inner loop stores through a pointer, or a loop over a container sets, is unknown behind.

The loop's own variable has no value there, so nothing may be said in terms of it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, analysis_of

from regionpredict.report.hints import facts_document

# How a function that gets `&at` looks for the last place of a condition.
SEARCHES = {
    "for": "for (int i = 1; i <= n; i++) if (x[i] > 3) *at = i;",
    "for, always": "for (int i = 1; i <= n; i++) *at = i;",
    "for, downward": "int i; for (i = n; i > 0; i--) if (x[i] > 3) { *at = i; break; }",
    "while": "int i = 0; while (x[i] > 0) { *at = i; i++; }",
    "while, not counted": "int i = n; while (i > x[i]) { i = x[i]; *at = i; }",
    "goto": "int i = 0; again: *at = i; i++; if (i < n && x[i] > 3) goto again;",
}
TEXT = """\
char *text;
int *length, *out;
static void last_of(const int *x, int n, int *at) {{ {search} }}
static int score(int from, int j) {{ int k = from + 1; return text[k] + j; }}
void pairs(const int *x, int count) {{
#pragma omp parallel for
  for (int s = 0; s < count; s++) {{
    int at = 0, sum = 0;
    last_of(x, length[s], &at);
    for (int j = 1; j <= length[s]; j++) sum += score(at, j);
    out[s] = sum;
  }}
}}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("search", SEARCHES)
def test_what_a_loop_stores_is_unknown_behind_it(
    tmp_path: Path, search: str, frontend: str
) -> None:
    analysis = analysis_of(tmp_path, TEXT.format(search=SEARCHES[search]), frontend)
    (facts,) = analysis.facts
    (read,) = [
        access for statement, _ in facts.region.statements() for access in statement.accesses
        if access.array == "text"
    ]  # fmt: skip
    (place,) = read.subscripts
    assert not place.names & {"i", "i'", "while@3", "goto@3"}, place
    facts_document(analysis.facts, ())  # the reuse of every reference can be counted


def test_what_a_loop_over_a_container_sets_is_unknown_behind_it(tmp_path: Path) -> None:
    text = """\
struct odd { int *begin() const; int *end() const; };
void f(const odd &v, const char *text, int *out, int n) {
#pragma omp parallel for
  for (int s = 0; s < n; s++) {
    int at = 0;
    for (int x : v) at = x;
    out[s] = text[at];
  }
}
"""
    (facts,) = analysis_of(tmp_path, text, "libclang", name="case.cpp").facts
    (read,) = [
        access for statement, _ in facts.region.statements() for access in statement.accesses
        if access.array == "text"
    ]  # fmt: skip
    assert str(read.subscripts[0]) == "at"
