"""A region that touches memory the front end does not see is not predicted in full."""

from __future__ import annotations

from pathlib import Path

import pytest
from further_cases import further_slow
from reading import analysis_of

HEAD = """
#include <functional>
#include <vector>
struct Hidden { double &x(int i); double get(int i) const; int n() const; double &operator[](int);
                double *begin(); double *end(); };
struct Own { double x; Own &operator=(const Own &); };
struct Holds { Own own; double y; };
struct Base { virtual double at(int i) { return a[i]; } double *a; };
template <class F> void outside(int n, F f);
double somewhere(const double &);
extern std::vector<double> one, other;
"""
BODIES = {
    "a comparison of containers": "if (one == other) a[i] = 2.0;",
    "a method without a body": "double s = 0; h.x(i) = s;",
    "a value that a method gives": "a[i] = h.get(i);",
    "an operator without a body": "h[i] += 1.0;",
    "a std::function": "f(i);",
    "a pointer to a function": "p(i);",
    "a copy by a method without a body": "o[i] = o[i + 1];",
    "a copy of what is copied so": "t[i] = t[i + 1];",
    "a range of a class": "for (double &x : h) x = 0.0;",
    "a lambda that is handed on": "outside(3, [&](int k) { a[k] = 0.0; });",
    "what a reference is handed to": "somewhere(h.x(i));",
}


@pytest.mark.parametrize("body", further_slow(5, BODIES))
def test_it_is_partial(body: str, tmp_path: Path) -> None:
    text = (
        HEAD
        + f"""
void g(Hidden &h, Base *b, std::function<void(int)> &f, void (*p)(int), Own *o, Holds *t,
       double *a, int n) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{ a[i] = 1.0; {BODIES[body]} }}
}}
"""
    )
    (facts,) = analysis_of(tmp_path, text, "libclang", name="case.cpp").facts
    assert facts.status == "partial", [str(note) for note in facts.diagnostics]


def test_a_bound_that_a_hidden_method_gives_is_a_size(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
void g(Hidden &h, double *a) {
#pragma omp parallel for
  for (int i = 0; i < h.n(); i++) a[i] = 1.0;
}
"""
    )
    given = {"h.n()": 7}
    (facts,) = analysis_of(tmp_path, text, "libclang", name="case.cpp", given=given).facts
    assert (facts.status, facts.iterations.value) == ("complete", 7)
