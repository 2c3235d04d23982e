"""Calls in a template, whose targets depend on its parameters, and conditions at compile time."""

from __future__ import annotations

from pathlib import Path

from tests.frontend.reading import facts_of

TEMPLATE = """template <int N> inline void apply(double *a, int i) {
  for (int k = 0; k < N; k++) a[i * N + k] *= 2.0;
}
struct Row { double w; template <int M> void scale(double *a, int i) { a[i] *= w * M; } };
template <int N> void run(double *a, int n, Row *row) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { apply<N>(a, i); row->template scale<N>(a, i); }
}
"""

PARITY = """typedef long long number;
inline int parity(number mask) {
  if constexpr (sizeof(number) >= 8) { mask ^= mask >> 32; }
  return (0x6996 >> (mask & 15)) & 1;
}
void f(number *a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = parity(a[i]);
}
"""


def test_the_only_template_of_a_name_is_followed(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, TEMPLATE, "libclang", name="case.cpp")
    assert facts.status == "complete", facts.diagnostics
    assert "N" in facts.free_names  # the iterations of the loop in `apply`


def test_of_several_templates_none_is_guessed(tmp_path: Path) -> None:
    head, run = TEMPLATE.split("template <int N> void run")
    other = "template <int N> inline void apply(float *a, int i) { a[i] = N; }\n"
    text = f"{head}{other}template <int N> void run{run}"
    assert facts_of(tmp_path, text, "libclang", name="case.cpp").status == "partial"


def test_a_condition_at_compile_time_is_read(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, PARITY, "libclang", name="case.cpp")
    assert facts.status == "complete", facts.diagnostics


def test_instances_are_found_through_any_number_of_templates(tmp_path: Path) -> None:
    """Ten methods of one class template call each other; only the last has the loop."""
    methods = "\n".join(f"  void step{k}(T *a, int n) {{ step{k + 1}(a, n); }}" for k in range(10))
    loop = """  void step10(T *a, int n) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = 2 * a[i];
  }"""
    text = f"template <typename T> struct Chain {{\n{methods}\n{loop}\n}};\n"
    text += "void run(float *a, int n) { Chain<float> c; c.step0(a, n); }\n"
    facts = facts_of(tmp_path, text, "libclang", name="case.cpp")
    assert facts.status == "complete", facts.diagnostics
    assert str(facts.working_set.expr) == "4*n"


def test_calls_of_unknown_methods_have_the_words_of_the_source(tmp_path: Path) -> None:
    """No template is instantiated, so the methods of `grid` and of `this` are unknown."""
    text = """\
template <class T> struct Grid {
  T *data; int n;
  template <class F> void each(F change) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) data[i] = change(this->width(), grid->  row(i).at(2));
  }
  T *grid;
};
"""
    facts = facts_of(tmp_path, text, "libclang", name="case.cc")
    said = {note.message for note in facts.diagnostics if note.id == "RP113"}
    assert "what memory this->width() touches is unknown" in said
    assert "what memory grid-> row() touches is unknown" in said
    assert not any("(pointer)" in message for message in said)
