"""Arrays that the C library sorts: n log2(n) comparisons and moves, by a function that is seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, facts_of

from regionpredict.analysis import RegionFacts
from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

SOURCE = """\
typedef unsigned long size_t;
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
typedef struct {{ double key; int who; int pad; }} hit;
extern double weight[4096];
int unseen(const void *, const void *);
static int order(const void *a, const void *b) {{
  const hit *x = (const hit *)a, *y = (const hit *)b;
  return x->key < y->key ? -1 : x->key > y->key;
}}
static int by_weight(const void *a, const void *b) {{
  return weight[((const hit *)a)->who] < weight[((const hit *)b)->who];
}}
void f(int n, int m, size_t size, hit *h, void *bytes, int (*by)(const void *, const void *)) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{
    {body}
  }}
}}
"""


def facts_of_body(folder: Path, body: str, frontend: str) -> RegionFacts:
    return facts_of(folder, SOURCE.format(body=body), frontend)


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("elements", "passes"), [(0, 0), (1, 0), (2, 1), (3, 2), (8, 3), (9, 4), (1000, 10)]
)
def test_each_pass_compares_and_moves_each_element(
    tmp_path: Path, frontend: str, elements: int, passes: int
) -> None:
    """Whether the length is known when the source is read, or is given later."""
    for text, given in ((str(elements), {}), ("m", {"m": elements})):
        body = f"qsort(h + 1000 * i, {text}, sizeof(hit), order);"
        assert facts_of_body(tmp_path, body, frontend).status == "complete"
        requests = requests_for([str(tmp_path / "case.c")], ())
        (facts,) = analyse(requests, {"n": 7, **given}, frontend=frontend).facts
        moved = [
            (one.executions.value, access.array, access.kind, access.bytes)
            for one in facts.statements
            for access in one.statement.accesses
            if one.statement.text.startswith("memcpy")
        ]
        runs = 7 * passes * elements
        assert moved == [(runs, "h", "read", 16), (runs, "h", "write", 16)]
        compared = [
            one.executions.value
            for one in facts.statements
            if any(kind.kind == "fp_compare" for kind, _ in one.statement.operations)
        ]
        assert compared == [runs]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_what_is_compared_lies_where_the_elements_do(tmp_path: Path, frontend: str) -> None:
    body = "qsort(h + 1000 * i, 1000, sizeof(hit), order);"
    facts = facts_of_body(tmp_path, body, frontend)
    assert {access.array for one in facts.statements for access in one.statement.accesses} == {"h"}
    # Rows of 1000 elements of 16 bytes, one behind the other: all of them.
    assert str(facts.working_set.expr) == "16000*n"


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_other_memory_that_the_comparison_reads_is_counted(tmp_path: Path, frontend: str) -> None:
    body = "qsort(h + 1000 * i, 1000, sizeof *h, by_weight);"
    facts = facts_of_body(tmp_path, body, frontend)
    assert facts.status == "complete", facts.diagnostics
    read = [access.array for one in facts.statements for access in one.statement.accesses
            if access.array == "weight"]  # fmt: skip
    assert read == ["weight", "weight"]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "body",
    [
        "qsort(h + m * i, m, sizeof(hit), unseen);",
        "qsort(h + m * i, m, sizeof(hit), by);",
        "qsort(h + m * i, m, sizeof(hit), 0);",
        "qsort(h + m * i, m, size, order);",
        "qsort(h + m * i, m, 8, order);",
        "qsort(bytes, m, sizeof(hit), order);",
    ],
    ids=["unseen", "any function", "none", "any size", "another size", "elements of no type"],
)
def test_what_is_not_understood_is_not_predicted(tmp_path: Path, frontend: str, body: str) -> None:
    facts = facts_of_body(tmp_path, body, frontend)
    assert facts.status == "partial"
    assert "RP113" in {note.id for note in facts.diagnostics}
