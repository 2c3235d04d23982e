"""Library functions that call back or transform arrays count as the C sources that stand for
them."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from reading import FRONTENDS, facts_of

import regionpredict.frontend.library_models
from regionpredict.analysis import RegionFacts
from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

_MODELS = sorted(Path(regionpredict.frontend.library_models.__file__).parent.glob("*.c"))
_INTEGRALS = """\
#include <gsl/gsl_integration.h>
typedef struct { double *table; int n; } rule;
static double smooth(double x, void *p) { rule *r = p; return r->table[(int)(x * r->n)]; }
static double other(double x, void *p) { double *q = p; return q[0] + q[1] * x; }
double alone(double *two, gsl_integration_workspace *w) {
  double value, error;
  gsl_function g;
  g.function = &other;
  g.params = two;
  gsl_integration_qags(&g, 0, 1, 0, 1e-3, 100, w, &value, &error);
  return value;
}
void all(int n, double *out, double *table, gsl_integration_workspace *w) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double value, error;
    rule r = {table, i};
    gsl_function f;
    f.function = &smooth;
    f.params = &r;
    gsl_integration_qag(&f, 0, 1, 0, 1e-3, 100, 6, w, &value, &error);
    out[i] = value;
  }
}
"""
_OWN = """\
int gsl_integration_qag(const gsl_function *f, double a, double b, double absolute,
                        double relative, size_t limit, int key, gsl_integration_workspace *w,
                        double *result, double *error) { *result = a; return 0; }
"""
_TRANSFORMS = """\
#include <fftw3.h>
void all(int n, fftw_plan plan, fftw_complex *a, fftw_complex *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    fftw_execute_dft(plan, a + 512 * i, b + 512 * i);
}
"""


def _accesses(facts: RegionFacts) -> Counter[tuple[str, str]]:
    return Counter(
        (access.array, access.kind) for one in facts.statements for access in one.statement.accesses
    )


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_an_integral_evaluates_the_function_of_its_own_struct(
    tmp_path: Path, frontend: str
) -> None:
    """Ten intervals with the 31 points of one of the rules, not `other`, which is stored too."""
    facts = facts_of(tmp_path, _INTEGRALS, frontend, given={"n": 7})
    assert facts.status == "complete"
    evaluated = [
        one.executions.value
        for one in facts.statements
        if any(access.array == "table" for access in one.statement.accesses)
    ]
    assert evaluated == [7 * 10 * 31]
    assert ("two", "read") not in _accesses(facts)


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_function_of_the_program_has_precedence(tmp_path: Path, frontend: str) -> None:
    facts = facts_of(tmp_path, _INTEGRALS.replace("double alone", f"{_OWN}double alone"), frontend)
    assert facts.status == "complete"
    assert ("table", "read") not in _accesses(facts)


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_function_in_another_file_has_precedence(tmp_path: Path, frontend: str) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "all.c").write_text(_INTEGRALS)
    (folder / "own.c").write_text(f"#include <gsl/gsl_integration.h>\n{_OWN}")
    (facts,) = analyse(requests_for([str(folder)], ()), {}, frontend=frontend).facts
    assert facts.status == "complete"
    assert ("table", "read") not in _accesses(facts)


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_function_of_the_program_may_have_the_name_of_a_helper(
    tmp_path: Path, frontend: str
) -> None:
    """`adaptive` is a function of the model, which the program has in another file."""
    folder = tmp_path / "program"
    folder.mkdir()
    text = _INTEGRALS.replace("double alone", "double adaptive(const double *more);\ndouble alone")
    (folder / "all.c").write_text(
        text.replace("all(int n,", "all(int n, double *more,").replace(
            "out[i] = value", "out[i] = value + adaptive(more)"
        )
    )
    (folder / "own.c").write_text("double adaptive(const double *more) { return more[0]; }\n")
    (facts,) = analyse(requests_for([str(folder)], ()), {}, frontend=frontend).facts
    assert facts.status == "complete"
    seen = _accesses(facts)
    assert seen["more", "read"] and seen["table", "read"]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_declaration_without_the_shipped_header_is_enough(tmp_path: Path, frontend: str) -> None:
    """As where the library is installed: the model needs nothing of the header."""
    declared = """\
typedef unsigned long size_t;
typedef struct { size_t limit; } gsl_integration_workspace;
struct gsl_function_struct { double (*function)(double x, void *params); void *params; };
typedef struct gsl_function_struct gsl_function;
int gsl_integration_qag(const gsl_function *f, double a, double b, double epsabs, double epsrel,
                        size_t limit, int key, gsl_integration_workspace *w, double *result,
                        double *abserr);
int gsl_integration_qags(const gsl_function *f, double a, double b, double epsabs, double epsrel,
                         size_t limit, gsl_integration_workspace *w, double *result,
                         double *abserr);
"""
    text = _INTEGRALS.replace("#include <gsl/gsl_integration.h>\n", declared)
    facts = facts_of(tmp_path, text, frontend)
    assert facts.status == "complete"
    assert ("table", "read") in _accesses(facts)


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("before", "change"),
    [
        ("static void pick(gsl_function *g, int i) { if (i) g->function = &other; }",
         "pick(&f, i);"),
        ("static gsl_function usual; void set(void) { usual.function = &other; }",
         "if (i) f = usual;"),
    ],
)  # fmt: skip
def test_a_struct_that_others_may_set_has_all_functions(
    tmp_path: Path, frontend: str, before: str, change: str
) -> None:
    text = _INTEGRALS.replace("double alone", f"{before}\ndouble alone")
    text = text.replace("f.params = &r;", f"f.params = &r; {change}")
    facts = facts_of(tmp_path, text, frontend)
    assert any("other()" in note.message for note in facts.diagnostics)


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_transform_reads_one_array_and_writes_the_other(tmp_path: Path, frontend: str) -> None:
    facts = facts_of(tmp_path, _TRANSFORMS, frontend)
    assert facts.status == "complete"
    seen = _accesses(facts)
    assert seen["a", "read"] > 0 and seen["b", "write"] > 0
    assert ("a", "write") not in seen and ("b", "read") not in seen


@pytest.mark.parametrize("source", _MODELS, ids=lambda path: path.name)
def test_the_models_are_valid_c(source: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler on this host")
    command = [compiler, "-std=gnu11", "-fsyntax-only", "-Werror", "-Wall", "-Wno-unused", source]
    subprocess.run(command, check=True, timeout=600)


_FACTORS = """\
#include <lapacke.h>
#define F77(name) name##_
void F77(dgetrf)(int *m, int *n, double *a, int *lda, int *pivots, int *info);
void zheev_(char *jobz, char *uplo, int *n, void *a, int *lda, double *w, void *work, int *lwork,
            double *rwork, int *info);
void all(int count, int n, double *a, double *w, double _Complex *z) {
  char text[] = "V";
#pragma omp parallel for
  for (int i = 0; i < count; i++) {
    int info, pivots[100];
    CALL
  }
}
"""


def _multiplications(facts: RegionFacts) -> int:
    """The floating-point multiplications of a whole region, at the given sizes."""
    total = 0
    for one in facts.statements:
        each = sum(n for operation, n in one.statement.operations if operation.kind == "fp_mul")
        total += each * int(one.executions.value or 0)
    return total


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        # n^3 / 3 multiplications for the factors of an n x n matrix
        ("F77(dgetrf)(&n, &n, a + i * n * n, &n, pivots, &info);", 60**3 // 3),
        ("LAPACKE_dgetrf(102, n, n, a + i * n * n, n, pivots);", 60**3 // 3),
        ("LAPACKE_dpotrf(102, 'U', n, a + i * n * n, n);", 60**3 // 6),
        # a complex multiplication is four; 4/3 n^3 operations are 2/3 n^3 multiplications
        ('zheev_("N", "U", &n, z + i * n * n, &n, w, z, &n, w, &info);', 4 * 60**3 * 2 // 3),
        ('zheev_("V", "U", &n, z + i * n * n, &n, w, z, &n, w, &info);', 4 * 60**3 * 14 // 3),
    ],
)  # fmt: skip
def test_a_routine_of_lapack_has_the_operations_of_its_algorithm(
    tmp_path: Path, frontend: str, call: str, expected: int
) -> None:
    text = _FACTORS.replace("CALL", call)
    facts = facts_of(tmp_path, text, frontend, given={"count": 3, "n": 60})
    assert facts.status == "complete", facts.diagnostics
    assert _multiplications(facts) == 3 * expected


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_function_of_the_program_with_a_name_of_blas_may_write(
    tmp_path: Path, frontend: str
) -> None:
    text = """\
void sswap(int *n, int *m) { int k = *n; *n = *m; *m = k; }
void all(int count, int n, int m, double *a) {
#pragma omp parallel for
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < n; k++) a[i * 100 + k] = 2.0;
    sswap(&n, &m);
  }
}
"""
    assert facts_of(tmp_path, text, frontend).working_set.expr is None


_BY_ADDRESS = """\
static void scale(const int *n, int *m, double *row) {
  for (int k = 0; k < *n; k++) row[k] = 2.0;
  CHANGE
}
void all(int count, int n, int m, double *a) {
#pragma omp parallel for
  for (int i = 0; i < count; i++) scale(&n, &m, a + i * n);
}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("change", "size"),
    [
        ("(void)m;", "8*count*n"),
        ("*m = *n;", "8*count*n"),
        ("int *p = (int *)n; *p = 3;", None),
        ("(*(int *)n)++;", None),
    ],
)
def test_a_number_whose_address_is_only_read_keeps_its_value(
    tmp_path: Path, frontend: str, change: str, size: str | None
) -> None:
    facts = facts_of(tmp_path, _BY_ADDRESS.replace("CHANGE", change), frontend)
    found = facts.working_set.expr
    assert (str(found) if found is not None else None) == size
