"""Algorithms of the standard libraries: passes over ranges, and sorts of n log2(n) comparisons."""

from __future__ import annotations

from pathlib import Path

import pytest
from further_cases import further_slow
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
            if any(access.kind == "write" for access in one.statement.accesses)
        ]
        runs = 7 * passes * elements
        assert sorted(moved) == [(runs, "h", "read", 16), (runs, "h", "write", 16)]
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


RANGES = """\
#include <algorithm>
#include <numeric>
#include <vector>
void f(int n, double *a, double *b, const int *row, double *s) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    BODY
  }
}
"""
# What a call reads and writes in 100 iterations, by hand: (array, kind, number).
CALLS = {
    "std::fill(a + 10 * i, a + 10 * i + 10, 0.0);": [("a", "write", 1000)],
    "std::fill(&a[10 * i], &a[10 * i + 10], 0.0);": [("a", "write", 1000)],
    "std::fill_n(a + 10 * i, 10, 0.0);": [("a", "write", 1000)],
    "std::copy(a + 10 * i, a + 10 * i + 10, b);": [("a", "read", 1000), ("b", "write", 1000)],
    "s[i] = std::accumulate(a, a + 20, 0.0);": [("a", "read", 2000), ("s", "write", 100)],
    "s[i] = std::inner_product(a, a + 20, b, 0.0);":
        [("a", "read", 2000), ("b", "read", 2000), ("s", "write", 100)],
    "s[i] = *std::max_element(a, a + 8);": [("a", "read", 1700), ("s", "write", 100)],
    "std::swap_ranges(a, a + 8, b);": [("a", "read", 800), ("a", "write", 800),
                                       ("b", "read", 800), ("b", "write", 800)],
    # the construction writes all 16 elements
    "std::vector<double> w(16); std::copy(w.begin(), w.end(), a);":
        [("a", "write", 1600), ("w", "read", 1600), ("w", "write", 1600)],
    # 10 comparisons among 1000 elements, and the element that was found
    "s[i] = *std::lower_bound(a, a + 1000, 0.5);": [("a", "read", 1100), ("s", "write", 100)],
    "s[i] = std::binary_search(a, a + 1000, 0.5);": [("a", "read", 1000), ("s", "write", 100)],
    "std::vector<double> w(16); s[i] = w.size();": [("s", "write", 100), ("w", "write", 1600)],
}  # fmt: skip


@pytest.mark.parametrize("call", further_slow(8, CALLS))
def test_a_range_is_gone_through_once(tmp_path: Path, call: str) -> None:
    """`max_element` compares each element with one of the same array, and its result is read."""
    source = tmp_path / "case.cpp"
    source.write_text(RANGES.replace("BODY", call), encoding="utf-8")
    requests = requests_for([str(source)], ())
    (facts,) = analyse(requests, {"n": 100}, frontend="libclang").facts
    assert facts.status == "complete", facts.diagnostics
    touched: dict[tuple[str, str], float] = {}
    for one in facts.statements:
        for access in one.statement.accesses:
            key = (access.array, access.kind)
            touched[key] = touched.get(key, 0) + one.executions.value
    assert sorted((*key, number) for key, number in touched.items()) == CALLS[call]


def test_the_bounds_of_a_range_are_pointers_into_one_array(tmp_path: Path) -> None:
    """Rows of different lengths: the number of elements is named by the rows."""
    source = tmp_path / "case.cpp"
    call = "std::fill(&a[row[i]], &a[row[i + 1]], 0.0);"
    source.write_text(RANGES.replace("BODY", call), encoding="utf-8")
    (facts,) = analyse(requests_for([str(source)], ()), {}, frontend="libclang").facts
    (loop,) = [loop for loop in facts.region.loops() if loop.variable.startswith("fill")]
    assert (str(loop.start), str(loop.bound)) == ("row[i]", "row[i + 1]")


# Code that may change the number of elements, and code that does not.
OTHER_LENGTHS = {
    "w.push_back(1.0);": False,
    "w.resize(8);": False,
    "w = v;": False,
    "grow(w);": False,
    "auto more = [&w] { w.push_back(0.0); }; more();": False,
    "w[3] = 2.0;": True,
    "m = 3;": True,
}


@pytest.mark.parametrize("code", OTHER_LENGTHS)
def test_a_vector_has_its_first_length_if_nothing_changes_it(tmp_path: Path, code: str) -> None:
    source = tmp_path / "case.cpp"
    text = "#include <vector>\nvoid grow(std::vector<double> &v) { v.resize(2 * v.size()); }\n"
    text += "void f(int n, double *s, std::vector<double> &v) {\n  int m = 2;\n"
    text += f"  std::vector<double> w(16);\n  {code}\n#pragma omp parallel for\n"
    text += "  for (int i = 0; i < w.size(); i++) s[i] += m;\n}\n"
    source.write_text(text, encoding="utf-8")
    (facts,) = analyse(requests_for([str(source)], ()), {}, frontend="libclang").facts
    assert (facts.iterations.value == 16) == OTHER_LENGTHS[code]


def test_a_length_in_a_variable_that_changes_is_unknown(tmp_path: Path) -> None:
    source = tmp_path / "case.cpp"
    text = "#include <vector>\nvoid f(double *s) {\n  int m = 16;\n"
    text += "  std::vector<double> w(m);\n  m = 3;\n#pragma omp parallel for\n"
    text += "  for (int i = 0; i < w.size(); i++) s[i] += m;\n}\n"
    source.write_text(text, encoding="utf-8")
    (facts,) = analyse(requests_for([str(source)], ()), {}, frontend="libclang").facts
    assert facts.iterations.value is None
