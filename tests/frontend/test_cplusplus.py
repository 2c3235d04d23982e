"""C++, which libclang alone reads: what C has goes as in C, the rest is found and never crashes."""

from __future__ import annotations

from pathlib import Path

from reading import analysis_of

from regionpredict.frontend import read, requests_for
from regionpredict.pipeline import analyse


def test_c_in_cplusplus_is_understood_as_c(tmp_path: Path) -> None:
    text = """
struct Grid { int n; double *u; };
void f(Grid &g, int m) {
#pragma omp parallel for collapse(2)
  for (int i = 0; i < g.n; ++i)
    for (int j = 0; j < m; ++j)
      g.u[i*m + j] *= 2.0;
}
"""
    (facts,) = analysis_of(tmp_path, text, "libclang", name="case.cpp").facts
    assert facts.status == "complete"
    assert facts.iterations.expr is not None
    assert facts.iterations.expr.evaluate({"g.n": 4, "m": 5}) == 20
    assert [a.dims for a in facts.arrays] == [2]


def test_every_region_is_found_whatever_its_loop(tmp_path: Path) -> None:
    text = """
struct Vector {
  double *begin(); double *end(); double &operator[](int); int size() const;
};
struct Iterator { Iterator &operator++(); bool operator<(Iterator) const; double &operator*(); };
template <typename T> void fill(T *a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = T();
}
namespace space {
class Solver {
  int n; double *u;
public:
  void step() {
#pragma omp parallel for
    for (int i = 0; i < n; i++) u[i] += 1.0;
  }
};
}
void f(Vector &v, Iterator first, Iterator last, double *a) {
#pragma omp parallel for
  for (double &x : v) x = 0.0;
#pragma omp parallel for
  for (int i = 0; i < v.size(); i++) v[i] = 0.0;
#pragma omp parallel for
  for (Iterator p = first; p < last; ++p) *p = 0.0;
  auto g = [&](int n) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = 0.0;
  };
  g(3); fill(a, 4); fill((float *) 0, 4);
}
"""
    analysis = analysis_of(tmp_path, text, "libclang", name="case.cpp")
    lines = [region.span.line for region in analysis.program.regions]
    assert lines == [7, 7, 15, 21, 23, 25, 28]  # of the template for each type
    by_line = {f.region.span.line: f for f in analysis.facts}
    for line in (7, 15, 28):
        assert by_line[line].status == "complete", by_line[line].diagnostics


def test_instances_for_other_numbers_have_other_names(tmp_path: Path) -> None:
    text = """
template <typename T, int W> void fill(T *a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[W*i] = 0;
}
void g(double *a, float *b, int n) { fill<double, 3>(a, n); fill<double, 4>(a, n); }
"""
    regions = analysis_of(tmp_path, text, "libclang", name="case.cpp").program.regions
    assert sorted(r.function for r in regions) == ["fill<double, 3>", "fill<double, 4>"]


def test_the_twin_leaves_cplusplus_out_in_a_folder(tmp_path: Path) -> None:
    """pycparser reads C alone: a C++ file is a diagnostic, and the C file beside it is read."""
    (tmp_path / "a.cpp").write_text("template <class T> struct S { T t; };\n#pragma omp parallel\n")
    (tmp_path / "b.c").write_text(
        "void f(int n, double *a) {\n#pragma omp parallel for\n"
        "  for (int i = 0; i < n; i++) a[i] = 0.0;\n}\n"
    )
    program = read(requests_for([str(tmp_path)]), "pycparser")
    assert [Path(r.span.file).name for r in program.regions] == ["b.c"]
    assert any(Path(n.span.file).name == "a.cpp" for n in program.diagnostics)


ROWS = """
struct Row { int *begin(); int *end(); };
Row row_of(int u);
"""


def test_rows_that_the_loop_picks_have_lengths_of_their_own(tmp_path: Path) -> None:
    """`row_of(u)` is another row in each iteration, so its length is no size of the program."""
    text = ROWS + """
double f(const double *w, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+:sum)
  for (int u = 0; u < n; u++)
    for (int v : row_of(u)) sum += w[v];
  return sum;
}
double g(const double *w, int n, int one) {
  double sum = 0;
#pragma omp parallel for reduction(+:sum)
  for (int u = 0; u < n; u++)
    for (int v : row_of(one)) sum += w[v];
  return sum;
}
"""  # fmt: skip
    moving, same = analysis_of(tmp_path, text, "libclang", name="case.cpp").facts
    assert moving.bindings.unbound(moving.free_names) == ["n"]
    assert same.bindings.unbound(same.free_names) == ["n", "size(row_of(one))"]


def test_a_reference_to_an_element_is_another_place_in_each_iteration(tmp_path: Path) -> None:
    """`w[v]` moves with `v`, which is an element of the row: not one line that all threads want."""
    text = ROWS + """
void f(double *w, int n) {
#pragma omp parallel for
  for (int u = 0; u < n; u++)
    for (int &v : row_of(u)) {
#pragma omp atomic
      w[v] += 1.0;
    }
}
"""  # fmt: skip
    (facts,) = analysis_of(tmp_path, text, "libclang", name="case.cpp").facts
    (write,) = [a for s in facts.statements for a in s.statement.accesses
                if a.kind == "write" and a.array == "w"]  # fmt: skip
    assert [subscript.kinds for subscript in write.subscripts] == [{"varying"}]


def test_null_pointers_of_cplusplus_are_zero(tmp_path: Path) -> None:
    """`main` gives a text, so both functions return the number in it."""
    text = """
#include <stdlib.h>
static int first(const char *text) { if (text == NULL) return 3; return atoi(text); }
static int second(const char *text) { if (text == nullptr) return 3; return atoi(text); }
int main() {
  static double a[1000], b[1000];
  int m = first("70"), n = second("80");
#pragma omp parallel for
  for (int i = 0; i < m; i++) a[i] = 1;
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = 1;
}
"""
    (tmp_path / "case.cpp").write_text(text)
    analysis = analyse(requests_for([str(tmp_path / "case.cpp")]), {}, frontend="libclang")
    assert [own.iterations.value for own in analysis.facts] == [70, 80]
