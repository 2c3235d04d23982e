"""Maps, sets and other containers of C++ are arrays of their elements, which a search reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from further_cases import further_slow
from reading import analysis_of

TEXT = """\
#include <deque>
#include <list>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>
struct P {{ int x; double y; }};
struct Table {{ std::unordered_map<int, double> w; std::map<int, std::vector<int>> lists; }};
void f(double *a, int n, const int *k, const std::map<int, double> &m, Table *c,
       std::unordered_map<int, double> &u, const std::set<int> &s, std::deque<double> &d,
       std::vector<bool> &b, std::vector<P> &v, std::vector<std::vector<double>> &to,
       std::vector<std::vector<double>> &from, std::list<double> *l) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{
    {0}
  }}
}}
"""
# The body of a loop, and its accesses to shared memory besides `a` and `k`: r(ead) or w(rite).
BODIES = {
    "an element of a tree": ("a[i] = m.at(k[i]);", "rm"),
    "a search in a tree": (
        "auto it = m.find(k[i]); if (it != m.end()) a[i] = it->second + it->first;",
        "rm",
    ),
    "an element of a hash table": ("a[i] = u[k[i]]; u[k[i]] = 2;", "ru wu"),
    "members of an object": (
        "a[i] = c->w.at(i) + c->w.empty(); for (int l : c->lists[i]) a[i] += l;",
        "rc.w rc.lists rc.lists[].second",
    ),
    "elements in order": ("for (const auto &e : m) a[i] += e.second * e.first;", "rm"),
    "a set": ("a[i] = s.count(k[i]); for (int e : s) a[i] += e;", "rs"),
    "a set of its own": (
        "std::unordered_set<int> t; t.reserve(9); for (int j = 0; j < 9; j++) t.insert(k[j]);"
        " a[i] = t.size();",
        "",
    ),
    "a map of its own": (
        "std::map<int, int> t; t[i % 7]++; for (auto &[e, count] : t) a[i] += e * count;",
        "",
    ),
    "named members": ("for (auto &[x, y] : v) { a[i] += x; y = 1; }", "rv wv"),
    "a pair": ("auto [x, y] = std::make_pair(i, 2.0); a[i] = x * y;", ""),
    "an array of two": ("double z[2] = {1, 2}; auto &[x, y] = z; y = i; a[i] = x + y;", ""),
    "a deque": ("d[i] = 1; a[i] = d[i + 1]; d.push_back(2);", "rd wd"),
    "lists": (
        "for (auto it = l[i].begin(); it != l[i].end(); ++it) a[i] += *it;",
        "rl",
    ),
    "bits": ("if (b[i]) a[i] = 1; b[i] = true;", "rb wb"),
    "a queue of its own": (
        "std::queue<int> q; q.push(i); while (!q.empty()) { a[i] += q.front(); q.pop(); }",
        "",
    ),
    "all elements are copied": ("to[i] = from[i]; to[i].shrink_to_fit();", "rfrom wto"),
    "a range is copied": ("to[i].assign(from[i].begin(), from[i].end());", "rfrom wto"),
    "its own are set": ("std::vector<double> t; t.assign(20, 1.0); a[i] = t[3];", ""),
}


@pytest.mark.parametrize("name", further_slow(6, BODIES))
def test_a_container_is_an_array_of_its_elements(tmp_path: Path, name: str) -> None:
    body, expected = BODIES[name]
    (facts,) = analysis_of(tmp_path, TEXT.format(body), "libclang", name="case.cpp").facts
    assert facts.status == "complete", facts.diagnostics
    private = {array.name for array in facts.region.arrays if array.storage == "private"}
    accesses = {
        access.kind[0] + access.array
        for one in facts.statements
        for access in one.statement.accesses
        if access.array not in private | {"a", "k", "z"}
    }
    assert accesses == set(expected.split())


def test_a_tree_takes_more_comparisons_than_a_hash_table(tmp_path: Path) -> None:
    """log2(1000) = 10 steps, and one."""
    text = """\
#include <map>
#include <unordered_map>
void f(double *a, const int *k, const std::KIND<int, double> &m) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) a[i] = m.at(k[i]);
}
"""
    steps: dict[str, list[int]] = {}
    for kind in ("map", "unordered_map"):
        source = text.replace("KIND", kind)
        given = {"m.size()": 1000} if kind == "map" else {}
        (facts,) = analysis_of(tmp_path, source, "libclang", name="case.cpp", given=given).facts
        compared = [
            one for one in facts.statements
            if any(operation.kind == "int_compare" for operation, _ in one.statement.operations)
            and "m" in {access.array for access in one.statement.accesses}
        ]  # fmt: skip
        steps[kind] = [int(one.executions.value or 0) for one in compared]
    assert steps == {"map": [1000], "unordered_map": [100]}
