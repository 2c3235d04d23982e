"""One random nest in several idioms: each has the facts of the one over plain pointers."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from facts_compared import Facts, compared
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reading import analysis_of

SIZES = {"n": 40, "m": 25}
ARRAYS = "abc"

# How each idiom declares the arrays, and how it writes an element: flat, and with two subscripts.
IDIOMS = {
    "pointers": ("", "double *a, double *b, double *c", "{0}[{1}]", "{0}[({1}) * m + {2}]"),
    "vectors": (
        "#include <vector>\nusing V = std::vector<double>;",
        "V &a, V &b, V &c", "{0}[{1}]", "{0}.at(({1}) * m + {2})",
    ),
    "accessors": (
        """class D { double *m_a; double *m_b; double *m_c;
  int flat(int i, int j, int m) const { return i * m + j; }
 public:
  double &a(int i) { return m_a[i]; } double &b(int i) { return m_b[i]; }
  double &c(int i) { return m_c[i]; }
  double &a(int i, int j, int m) { return m_a[flat(i, j, m)]; }
  double &b(int i, int j, int m) { return m_b[flat(i, j, m)]; }
  double &c(int i, int j, int m) { return c(flat(i, j, m)); } };""",
        "D &d", "d.{0}({1})", "d.{0}({1}, {2}, m)",
    ),
    "templates": (
        """template <class T> struct A { T *data; int cols;
  T &operator[](int i) { return data[i]; }
  T &operator()(int i, int j, int m) { return *(data + i * m + j); } };""",
        "A<double> &a, A<double> &b, A<double> &c", "{0}[{1}]", "{0}({1}, {2}, m)",
    ),
    "iterators": (
        "#include <vector>\nusing V = std::vector<double>;",
        "V &a, V &b, V &c", "*({0}.begin() + ({1}))", "{0}.data()[({1}) * m + {2}]",
    ),
}  # fmt: skip

subscripts = st.sampled_from(["i", "i + 1", "2 * i", "n - i"])
elements = st.one_of(
    st.tuples(st.sampled_from(ARRAYS), subscripts),
    st.tuples(st.sampled_from(ARRAYS), subscripts, st.sampled_from(["j", "j + 2", "0"])),
)
statements = st.lists(
    st.tuples(elements, st.sampled_from(["=", "+=", "*="]), elements,
              st.sampled_from("+-*/"), elements),
    min_size=1, max_size=3,
)  # fmt: skip


@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(statements)
def test_each_idiom_has_the_facts_of_the_pointers(body: list[tuple]) -> None:  # type: ignore[type-arg]
    facts = {name: _facts(name, body) for name in IDIOMS}
    for name, own in facts.items():
        assert own == facts["pointers"], name
    assert facts["pointers"][0].status == "complete"


@pytest.mark.slow
@settings(max_examples=24, suppress_health_check=list(HealthCheck))
@given(statements)
def test_many_more_have_the_facts_of_the_pointers(body: list[tuple]) -> None:  # type: ignore[type-arg]
    test_each_idiom_has_the_facts_of_the_pointers.hypothesis.inner_test(body)  # type: ignore[attr-defined]


def _facts(idiom: str, body: list[tuple]) -> list[Facts]:  # type: ignore[type-arg]
    head, parameters, one, two = IDIOMS[idiom]

    def element(parts: tuple[str, ...]) -> str:
        return (one if len(parts) == 2 else two).format(*parts)

    lines = "\n".join(
        f"      {element(target)} {op} {element(left)} {between} {element(right)};"
        for target, op, left, between, right in body
    )
    text = f"""{head}
void f({parameters}, int n, int m) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {{
{lines}
    }}
}}
"""
    with tempfile.TemporaryDirectory() as folder:
        return compared(analysis_of(Path(folder), text, "libclang", name="case.cpp", given=SIZES))
