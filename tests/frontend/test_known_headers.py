"""Headers of known libraries that are not installed: R's C interface and Rcpp, the GSL, HDF5, FFTW
with MPI, and bindings for Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, analysis_of, facts_of

R = """\
#include <R.h>
#include <Rinternals.h>
SEXP means(SEXP x, SEXP groups, int n) {
  SEXP out = PROTECT(allocVector(REALSXP, n));
  double *mean = REAL(out);
  const double *value = REAL(x);
  if (TYPEOF(x) != REALSXP) error("not a vector of numbers");
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double *sum = R_Calloc(4, double);
    for (int k = 0; k < 10; k++)
      if (!ISNAN(value[10 * i + k]) && !R_IsNA(value[10 * i + k])) sum[0] += value[10 * i + k];
    if (length(groups) < 1) error("no groups");
    mean[i] = R_FINITE(sum[0]) ? sum[0] / 10 : NA_REAL;
    R_Free(sum);
  }
  UNPROTECT(1);
  return out;
}
"""

GSL = """\
#include <gsl/gsl_spline.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_bessel.h>
void f(int n, double *x, double *y, const gsl_spline *s) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    gsl_interp_accel *near = gsl_interp_accel_alloc();
    double here;
    if (gsl_spline_eval_e(s, x[i], near, &here) != GSL_SUCCESS) here = GSL_NAN;
    y[i] = here * gsl_sf_bessel_j0(x[i]);
    gsl_interp_accel_free(near);
  }
}
"""

HDF5 = """\
#include <hdf5.h>
#include <fftw3-mpi.h>
void f(hsize_t n, hid_t file, double *a) {
  hid_t set = H5Dopen(file, "a", H5P_DEFAULT);
  hid_t made = H5Dcreate1(file, "b", H5T_NATIVE_DOUBLE, H5S_ALL, H5P_DEFAULT);
  H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, a);
  fftw_mpi_init();
#pragma omp parallel for
  for (hsize_t i = 0; i < n; i++)
    a[i] *= 0.5;
  H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, a);
}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("source", [R, GSL, HDF5], ids=["R", "GSL", "HDF5"])
def test_their_declarations_ship(tmp_path: Path, source: str, frontend: str) -> None:
    facts = facts_of(tmp_path, source, frontend)
    assert facts.status == "complete", facts.diagnostics
    assert not {"RP001", "RP002", "RP005"} & {note.id for note in facts.diagnostics}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_function_of_such_a_name_elsewhere_is_unknown(tmp_path: Path, frontend: str) -> None:
    source = "double REAL(double *);\nvoid f(int n, double *a) {\n#pragma omp parallel for\n"
    source += "  for (int i = 0; i < n; i++) a[i] = REAL(a);\n}\n"
    assert facts_of(tmp_path, source, frontend).status == "partial"


def test_a_missing_type_that_a_function_pointer_returns_is_a_type(tmp_path: Path) -> None:
    source = (
        '#include "nowhere.h"\n'
        "typedef Index (*Solver)(Index, double *);\n"
        "Index f(Index n, double *a, Solver solve) {\n"
        "#pragma omp parallel for\n"
        "  for (Index i = 0; i < n; i++) a[i] *= 0.5;\n"
        "  return solve(n, a);\n"
        "}\n"
    )
    facts = facts_of(tmp_path, source, "libclang")
    assert facts.status == "complete", facts.diagnostics


BINDINGS = {
    "nanobind": """\
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
namespace nb = nanobind;
void scale(nb::ndarray<> raw, nb::ndarray<double, nb::ndim<2>, nb::c_contig> typed) {
  float *x = (float *)raw.data();
  long n = (long)raw.shape(0);
#pragma omp parallel for
  for (long i = 0; i < n; i++) typed.data()[i] = 2 * x[i];
}
NB_MODULE(_scale, m) { m.def("scale", &scale); }
""",
    "pybind11": """\
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
namespace py = pybind11;
void scale(py::array_t<float, py::array::c_style> from, py::array_t<double> into) {
  auto x = from.unchecked<1>();
  double *y = into.mutable_data();
  ssize_t n = from.request().shape[0];
#pragma omp parallel for
  for (py::ssize_t i = 0; i < n; i++) y[i] = 2 * x(i);
}
PYBIND11_MODULE(scale, m) { m.def("scale", &scale, py::arg("from"), py::arg("into")); }
""",
}


@pytest.mark.parametrize("name", BINDINGS)
def test_arrays_of_python_are_read_through_their_bindings(tmp_path: Path, name: str) -> None:
    """Four bytes are read in each iteration, and eight written."""
    facts = facts_of(tmp_path, BINDINGS[name], "libclang", name="case.cpp")
    assert facts.status == "complete", facts.diagnostics
    assert not {"RP001", "RP002", "RP005"} & {note.id for note in facts.diagnostics}
    moved = sorted((access.kind, access.bytes) for one in facts.statements
                   for access in one.statement.accesses)  # fmt: skip
    assert moved == [("read", 4), ("write", 8)]


RCPP = """\
#include <Rcpp.h>
using namespace Rcpp;
// [[Rcpp::export]]
List scaled(NumericVector x, NumericMatrix m, List options, CharacterVector names) {
  if (x.size() < 2) stop("too short");
  IntegerVector group = options["group"];
  int n = x.size(), columns = m.ncol();
  NumericVector result(n), sums(columns, 0.0);
  std::string first = as<std::string>(names[0]);
  Rcout << first << std::endl;
#pragma omp parallel for
  for (int i = 0; i < n; i++) result[i] = 2 * x(i) + group[i];
#pragma omp parallel for
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < n; i++) sums[j] += m(i, j);
  return List::create(Named("result") = result, _["sums"] = clone(sums), _["z"] = x / 2.0);
}
"""


def test_vectors_and_matrices_of_rcpp_are_memory(tmp_path: Path) -> None:
    """Matrices are stored by columns: the inner loop goes to the next element."""
    vectors, matrix = analysis_of(tmp_path, RCPP, "libclang", name="case.cpp").facts
    for facts in (vectors, matrix):
        assert facts.status == "complete", facts.diagnostics
        assert not {"RP001", "RP002", "RP005"} & {note.id for note in facts.diagnostics}
    moved = sorted((access.kind, access.bytes) for one in vectors.statements
                   for access in one.statement.accesses)  # fmt: skip
    assert moved == [("read", 4), ("read", 8), ("write", 8)]
    texts = {access.text for one in matrix.statements for access in one.statement.accesses}
    assert texts == {"m.elements[i + j * (long)m.height]", "sums.elements[j]"}
