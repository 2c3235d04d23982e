"""Containers of C++ that are constructed in a loop have memory of their own, and a copy reads what
it copies. Strings are containers of characters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from further_cases import further_slow
from reading import analysis_of, predict

LOOP = """\
#include <string>
#include <utility>
#include <vector>
std::vector<double> made(int n) {{ std::vector<double> r(n); r[0] = n; return r; }}
double total(std::vector<double> v) {{ v[0] = 1; return v[0] + v[1]; }}
std::string joined(std::string a, const std::string &b) {{ if (b.length() > 3) a += b; return a; }}
void f(double *a, int n, std::vector<double> &t, const std::string &s, const char *c) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{
    {0}
  }}
}}
"""
# The body of a loop, and the shared arrays that it reads besides `a`, which it writes.
BODIES = {
    "a copy": ("std::vector<double> b = t; b[0] = i; a[i] = b[0];", {"t"}),
    "a range": ("std::vector<double> b(t.begin(), t.end()); b[0] = i; a[i] = b[0];", {"t"}),
    "a list": ("std::vector<int> b{1, 2, 3}; b[0] = i; a[i] = b[0];", set()),
    "a result": ("std::vector<double> b = made(20); b[1] = i; a[i] = b[1];", set()),
    "by value": ("a[i] = total(t);", {"t"}),
    "moved": ("std::vector<double> b = made(9), c = std::move(b); c[1] = 2; a[i] = c[1];", set()),
    "a string": ("std::string b = s; b[0] = 'x'; b.append(\"y\"); a[i] = b[0];", {"s"}),
    "a text": ("std::string b(c, 7); b[0] = 'x'; a[i] = b[0] + b.find('z');", {"c"}),
    "characters": ("a[i] = 0; for (char one : s) a[i] += one == 'x';", {"s"}),
    "compared": ('a[i] = 0; if (s == "abc" || s.compare(c) > 0) a[i] = 1;', set()),
    "joined": ('std::string b = joined("a", s); b[0] = s[1]; a[i] = b[0];', {"s"}),
}


@pytest.mark.parametrize("name", further_slow(6, BODIES))
def test_the_copy_is_private_and_what_it_reads_is_shared(tmp_path: Path, name: str) -> None:
    body, read = BODIES[name]
    (facts,) = analysis_of(tmp_path, LOOP.format(body), "libclang", name="case.cpp").facts
    assert facts.status == "complete", facts.diagnostics
    assert not {"RP221", "RP222", "RP223"} & {note.id for note in facts.diagnostics}
    accesses = {
        (access.array, access.kind) for one in facts.statements for access in one.statement.accesses
    }
    shared = {pair for pair in accesses if pair[0] in ("a", "t", "s", "c")}
    assert {array for array, kind in shared if kind == "read"} - {"a"} == read
    assert {array for array, kind in shared if kind == "write"} == {"a"}


VIEW = """\
#include <span>
void f(double *p, int n, double *q) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{ {0} view[0] += q[i]; }}
}}
"""


@pytest.mark.parametrize(
    "made",
    [
        "std::span<double> view(p, n);",
        "std::span<double> all(p, n), view = all;",
        "std::span<double> view{p, p + n};",
    ],
)
def test_a_view_has_no_memory_of_its_own(tmp_path: Path, made: str) -> None:
    """All iterations update p[0]."""
    path = tmp_path / "case.cpp"
    path.write_text(VIEW.format(made))
    done = predict(path, "--std", "c++20")
    (region,) = json.loads(done.stdout)["regions"]
    assert "RP221" in {note["id"] for note in region["diagnostics"]}, region["diagnostics"]
    assert region["threads"] == 1
