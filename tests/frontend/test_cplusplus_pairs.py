"""C++ read as memory: each program and the same loops over plain pointers have the same facts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from facts_compared import Facts, compared
from reading import analysis_of

SIZES = {"n": 1000, "m": 30}

# name, C++, the same over pointers
CASES = [
    (
        "accessors in the class, outside of it, through one another",
        """
struct D {
  double &x(int i) { return m_x[i]; }
  double &y(int i);
  double z(int i) const { return m_z[i]; }
  double &both(int i) { return x(i); }
  double &at2(int i, int j) { return m_x[i*m_m + j]; }
 private:
  double *m_x, *m_y, *m_z; int m_m;
};
inline double &D::y(int i) { return m_y[i]; }
void f(D &d, int n) {
#pragma omp parallel for
  for (int i = 1; i < n; i++) { d.x(i) = d.y(i) + d.z(i - 1); d.both(i) *= 2.0; }
}""",
        """
double *x, *y, *z;
void f(int n) {
#pragma omp parallel for
  for (int i = 1; i < n; i++) { x[i] = y[i] + z[i - 1]; x[i] *= 2.0; }
}""",
    ),
    (
        "accessors through a pointer to the object, and inside its own methods",
        """
struct D {
  double *m_x; float *m_f;
  double &x(int i) { return m_x[i]; }
  float *f() { return m_f; }
  void own(int n) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) { x(i) += this->x(i + 1); (*this).f()[i] = 1.0f; }
  }
};
void g(D *d, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { d->x(i) = d->f()[i]; }
}""",
        """
double *x; float *f;
void own(int n) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) { x[i] += x[i + 1]; f[i] = 1.0f; }
}
void g(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { x[i] = f[i]; }
}""",
    ),
    (
        "a reference to a temporary object with a copy constructor",
        """
struct P {
  double u;
  P(double a) { u = a; }
  P(const P &o) { u = o.u; }
  P operator*(const P &o) const { return P(u * o.u); }
};
double half(const P &o) { return o.u * 0.5; }
void f(double *x, double *y, double *z, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { z[i] = half(P(x[i]) * P(y[i + 1])); }
}""",
        """
void f(double *x, double *y, double *z, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { z[i] = x[i] * y[i + 1] * 0.5; }
}""",
    ),
    (
        "casts to references are the objects",
        """
struct B { double v, w; };
struct S : B { double u; };
template <class D> struct Crtp { D &self() { return static_cast<D &>(*this); } };
struct V : Crtp<V> { double *x; };
void f(S *a, V &c, double *z, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    z[i] = static_cast<const B &>(a[i]).v + c.self().x[i];
    ((B &)a[i]).w = 1.0;
  }
}""",
        """
struct B { double v, w; };
struct S { struct B b; double u; };
double *x;
void f(S *a, double *z, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { z[i] = a[i].b.v + x[i]; a[i].b.w = 1.0; }
}""",
    ),
    (
        "std::vector",
        """
#include <vector>
void f(std::vector<double> &a, const std::vector<float> &b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { a[i] += b.at(i) * a.data()[i + 1]; }
#pragma omp parallel for
  for (int i = 0; i < n; i++) { auto *p = a.data(); p[i] = a.front(); }
}""",
        """
void f(double *a, const float *b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { a[i] += b[i] * a[i + 1]; }
#pragma omp parallel for
  for (int i = 0; i < n; i++) { double *p = a; p[i] = a[0]; }
}""",
    ),
    (
        "vectors of vectors are rows",
        """
#include <vector>
void f(std::vector<std::vector<double>> &a, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = 2.0 * a[i][j];
#pragma omp parallel for
  for (int i = 0; i < n; i++) { auto &row = a[i]; for (int j = 0; j < m; j++) row[j] += 1.0; }
}""",
        """
void f(double **a, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = 2.0 * a[i][j];
#pragma omp parallel for
  for (int i = 0; i < n; i++) { double *row = a[i]; for (int j = 0; j < m; j++) row[j] += 1.0; }
}""",
    ),
    (
        "std::array, as a variable and as an element",
        """
#include <array>
void f(std::array<double, 30> &t, std::array<double, 3> *p, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (std::size_t k = 0; k < t.size(); k++) p[i][1] += t[k] * p[i].at(2);
}""",
        """
void f(double t[30], double (*p)[3], int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (unsigned long k = 0; k < 30; k++) p[i][1] += t[k] * p[i][2];
}""",
    ),
    (
        "range for over containers and arrays, by reference and by value",
        """
#include <array>
#include <vector>
void f(std::array<double, 30> &a, double *b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (double x : a) s += x;
    for (auto &x : a) x *= 0.5;
    for (const auto &x : a) s -= x;
    b[i] = s;
  }
}""",
        """
void f(double a[30], double *b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (long k = 0; k < 30; ++k) { double x = a[k]; s += x; }
    for (long k = 0; k < 30; ++k) { double *x = &a[k]; *x *= 0.5; }
    for (long k = 0; k < 30; ++k) { double x = a[k]; s -= x; }
    b[i] = s;
  }
}""",
    ),
    (
        "iterators",
        """
#include <vector>
void f(std::vector<double> &v, std::vector<double> &w, int n) {
#pragma omp parallel for
  for (auto it = v.begin(); it < v.begin() + n; ++it) *it *= 2.0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    auto p = w.cbegin() + i;
    v.begin()[i] = *p + p[1];
  }
}""",
        """
void f(double *v, double *w, int n) {
#pragma omp parallel for
  for (double *it = v; it < v + n; ++it) *it *= 2.0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    const double *p = w + i;
    v[i] = *p + p[1];
  }
}""",
    ),
    (
        "references to elements, to structs, and as parameters",
        """
struct P { double x, y, z; };
inline void push(P &p, const double &dt, double &sum) { p.x += dt * p.y; sum += p.z; }
void f(P *p, double *a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { double &r = a[i]; r += 1.0; r *= 2.0; }
#pragma omp parallel for
  for (int i = 0; i < n; i++) { P &q = p[i]; q.x = q.y; const P &o = p[i + 1]; q.z = o.z; }
#pragma omp parallel for
  for (int i = 0; i < n; i++) { push(p[i], 0.5, a[i]); }
}""",
        """
struct P { double x, y, z; };
static void push(struct P *p, const double dt, double *sum) { p->x += dt * p->y; *sum += p->z; }
void f(struct P *p, double *a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { double *r = &a[i]; *r += 1.0; *r *= 2.0; }
#pragma omp parallel for
  for (int i = 0; i < n; i++) { P *q = &p[i]; q->x = q->y; const P *o = &p[i + 1]; q->z = o->z; }
#pragma omp parallel for
  for (int i = 0; i < n; i++) { push(&p[i], 0.5, &a[i]); }
}""",
    ),
    (
        "lambdas, called in the loop and handed to a template that has the loop",
        """
template <class F> void forall(int n, F &&body) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) body(i);
}
void f(double *a, double *b, int n) {
  auto get = [=](int i) { return a[i]; };
  auto put = [&](int i, double v) { if (v > 0.0) { b[i] = v; } };
#pragma omp parallel for
  for (int i = 0; i < n; i++) put(i, get(i) * 2.0);
  forall(n, [=](int i) { b[i] = a[i] + a[i + 1]; });
  forall(n, [=](int k) { double t = a[k]; b[k] -= t; });
}""",
        """
void f(double *a, double *b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = a[i] + a[i + 1];
#pragma omp parallel for
  for (int i = 0; i < n; i++) { double t = a[i]; b[i] -= t; }
#pragma omp parallel for
  for (int i = 0; i < n; i++) { double v = a[i] * 2.0; if (v > 0.0) { b[i] = v; } }
}""",
    ),
    (
        "matrices with operators, as templates",
        """
#include <vector>
template <class T> class Matrix {
  int rows_, cols_; std::vector<T> data_;
  int at(int i, int j) const { return i * cols_ + j; }
 public:
  T &operator()(int i, int j) { return data_[at(i, j)]; }
  const T &operator()(int i, int j) const { return data_[at(i, j)]; }
  T *operator[](int i) { return &data_[i * 30]; }
};
template <class T> void scale(Matrix<T> &a, const Matrix<T> &b, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = T(2) * a[i][j + 1];
}
void f(Matrix<double> &a, Matrix<double> &b, int n, int m) { scale(a, b, n, m); }
""",
        """
void f(double *a, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i * 30 + j] = 2.0 * a[i * 30 + j + 1];
}""",
    ),
    (
        "accessors that name parts of what they give, and check it",
        """
#include <stdexcept>
#include <vector>
class D {
  std::vector<std::vector<double>> m_rows; double *m_p; int m_n, m_w;
 public:
  double &operator()(int i, int j) { const int k = i*m_w + j; return m_p[k]; }
  double &row(int i, int j) { std::vector<double> &r = m_rows[i]; return r[j]; }
  double get(int i, int j, int k) const { int ij = i*m_w + j, all = ij*m_w + k; return m_p[all]; }
  double &first(int i) { double *q = m_p + 3*i; return q[1]; }
  double &checked(int i) {
    if (i < 0 || i >= m_n) throw std::out_of_range("i");
    return m_p[i];
  }
  static D &only() { static D d; return d; }
};
void f(D &d, D &e, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) d(i, j + 1) = e(i, j);
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) d.row(i, j) = e.get(i, 1, j);
#pragma omp parallel for
  for (int i = 0; i < n; i++) d.checked(i) = e.first(i) + D::only().checked(i);
}""",
        """
void f(double **r, double *p, int w, double *q, int v, double *o, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) p[i*w + j + 1] = q[i*v + j];
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) r[i][j] = q[(i*v + 1)*v + j];
#pragma omp parallel for
  for (int i = 0; i < n; i++) p[i] = q[3*i + 1] + o[i];
}""",
    ),
    (
        "numbers that templates are given",
        """
template <typename T, int W> struct Rows {
  T *m_p;
  T &operator()(int i, int j) const { return m_p[i*W + j]; }
};
template <typename T, unsigned long W> void move(T *a, const T *b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (unsigned long j = 0; j < W; j++) a[i*W + j] = b[i*W + j];
}
void f(Rows<double, 3> a, Rows<const float, 5> b, double *p, double *q, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a(i, 1) = b(i, 2);
  move<double, 7>(p, q, n);
}""",
        """
void move(double *a, const double *b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (unsigned long j = 0; j < 7; j++) a[i*7 + j] = b[i*7 + j];
}
void f(double *a, const float *b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i*3 + 1] = b[i*5 + 2];
}""",
    ),
    (
        "rows as values, made by a list and by a constructor",
        """
struct Row { double *m_p; double &operator[](int j) const { return m_p[j]; } };
struct Made { Made(double *p, int n) : m_p(p), m_n(n) {} double *m_p; int m_n;
  double &operator[](int j) const { return m_p[j]; } };
struct M {
  double *m_d; int m_w;
  Row operator[](int i) { return Row{m_d + i*m_w}; }
  Row row(int i) const { return {m_d + i*m_w}; }
  Made made(int i) { return Made(m_d + i*m_w, 3); }
};
void f(M &a, M &b, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = b.row(i)[j];
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a.made(i)[j] = 1.0;
}""",
        """
void f(double *a, int v, double *b, int w, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i*v + j] = b[i*w + j];
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i*v + j] = 1.0;
}""",
    ),
    (
        "value types with operators",
        """
struct V { double x, y, z; };
inline V operator+(const V &a, const V &b) { return V{a.x + b.x, a.y + b.y, a.z + b.z}; }
inline V &operator*=(V &a, double s) { a.x *= s; a.y *= s; a.z *= s; return a; }
inline double dot(const V &a, const V &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
void f(V *p, V *q, double *r, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) p[i] *= 0.5;
#pragma omp parallel for
  for (int i = 0; i < n; i++) r[i] = dot(p[i], q[i]);
}""",
        """
struct V { double x, y, z; };
static void scale(struct V *a, double s) { a->x *= s; a->y *= s; a->z *= s; }
static double dot(const struct V *a, const struct V *b) {
  return a->x * b->x + a->y * b->y + a->z * b->z;
}
void f(struct V *p, struct V *q, double *r, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) scale(&p[i], 0.5);
#pragma omp parallel for
  for (int i = 0; i < n; i++) r[i] = dot(&p[i], &q[i]);
}""",
    ),
    (
        "std::complex is C's complex",
        """
#include <complex>
typedef std::complex<double> C;
void f(C *a, C *b, double *r, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { a[i] = a[i] * b[i] + b[i + 1]; a[i] += b[i]; }
}""",
        """
void f(double _Complex *a, double _Complex *b, double *r, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { a[i] = a[i] * b[i] + b[i + 1]; a[i] += b[i]; }
}""",
    ),
    (
        "functions of the standard library",
        """
#include <algorithm>
#include <cmath>
void f(double *a, double *b, float *c, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    a[i] = std::max(b[i], std::abs(a[i])) + std::sqrt(b[i]);
    c[i] = std::sqrt(c[i]) + std::fabs(c[i]);
    std::swap(a[i], b[i]);
    if (a[i] < std::min(0.0, b[i])) a[i] = static_cast<double>(i);
  }
}""",
        """
#include <math.h>
void f(double *a, double *b, float *c, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    a[i] = fmax(b[i], fabs(a[i])) + sqrt(b[i]);
    c[i] = sqrtf(c[i]) + fabsf(c[i]);
    double t = a[i]; a[i] = b[i]; b[i] = t;
    if (a[i] < fmin(0.0, b[i])) a[i] = (double)i;
  }
}""",
    ),
    (
        "owners of arrays",
        """
#include <memory>
struct S { std::unique_ptr<double[]> u; };
void f(S &s, std::unique_ptr<float[]> &v, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) s.u[i] = v[i] + v.get()[i + 1];
}""",
        """
struct S { double *u; };
void f(struct S &s, float *v, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) s.u[i] = v[i] + v[i + 1];
}""",
    ),
]


@pytest.mark.parametrize(("_", "cplusplus", "pointers"), CASES, ids=[case[0] for case in CASES])
def test_it_is_the_memory_it_stands_for(
    _: str, cplusplus: str, pointers: str, tmp_path: Path
) -> None:
    ours = _facts(tmp_path, cplusplus, "idiom.cpp")
    assert ours == _facts(tmp_path, pointers, "pointers.cpp")
    assert {one.status for one in ours} == {"complete"}


STRUCTS = """
struct pixel { double red, green; float alpha; };
struct block { int id; double v[4]; };
"""
COPIES = {
    "elements": "c[i] = d[i];",
    "through a variable": "struct pixel t = d[i]; t.red *= 2.0; c[i] = t;",
    "a variable that is set later": "struct pixel t; t = d[i]; c[i] = t;",
    "behind pointers": "struct pixel *p = &c[i]; const struct pixel *q = d + i; *p = *q;",
    "with an array in it": "b[i] = b[i + 1];",
    "one in an array of the loop's own":
        "struct pixel w[2]; w[0] = c[i]; w[1] = w[0]; d[i] = w[1];",
    "a list": "struct pixel t = {x[i], 1.0, 2.0f}; c[i] = t;",
    "a value made for it": "c[i] = (struct pixel){x[i], 1.0, 2.0f};",
}  # fmt: skip


@pytest.mark.parametrize("name", COPIES)
def test_a_struct_is_copied_as_in_c(name: str, tmp_path: Path) -> None:
    """What the compiler makes of `=` moves the whole struct, once read and once written."""
    text = f"""{STRUCTS}
void f(struct pixel *c, struct pixel *d, struct block *b, double *x, int n) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{ {COPIES[name]} }}
}}
"""
    ours = _facts(tmp_path, text, "copies.cpp")
    assert ours == _facts(tmp_path, text, "copies.c")
    assert [one.status for one in ours] == ["complete"]


def test_a_struct_of_one_number_is_copied_as_the_number(tmp_path: Path) -> None:
    body = "#pragma omp parallel for\n  for (int i = 0; i < n; i++) a[i] = b[i + 1];\n}\n"
    ours = _facts(
        tmp_path,
        f"struct one {{ double v; }};\nvoid f(one *a, one *b, int n) {{\n{body}",
        "one.cpp",
    )
    assert ours == _facts(tmp_path, f"void f(double *a, double *b, int n) {{\n{body}", "number.cpp")
    assert ours[0].bytes == {"read": 8000, "write": 8000}


def _facts(folder: Path, text: str, name: str) -> list[Facts]:
    given = {size: value for size, value in SIZES.items() if re.search(rf"\bint {size}\b", text)}
    return compared(analysis_of(folder, text, "libclang", name=name, given=given))
