"""What a callee without source does: libraries as memory, all others leave a region partial."""

from __future__ import annotations

from pathlib import Path

import pytest
from further_cases import further_slow

from regionpredict.analysis import RegionFacts
from regionpredict.frontend import requests_for
from regionpredict.ir import Access
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict_region
from tests.frontend.reading import FRONTENDS, facts_of

HEAD = """
#include <stddef.h>
struct cell {{ double v; double *row; }};
extern void hidden(void);
extern double of(double x);
extern void touch(double *p);
extern double *where(int i);
extern struct cell *cell_at(int i);
{declared}
void f(int n, int m, double *a, double *b, float *c, struct cell *cells, double *(*get)(int)) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{
    {body}
  }}
}}
"""


def facts_of_body(folder: Path, body: str, frontend: str, declared: str = "") -> RegionFacts:
    return facts_of(folder, HEAD.format(body=body, declared=declared), frontend)


def accesses(facts: RegionFacts) -> list[Access]:
    return [access for one in facts.statements for access in one.statement.accesses]


# Each touches memory that the front end does not see.
UNSEEN = {
    "handed a pointer": "touch(a + i);",
    "may touch globals": "hidden();",
    "takes and gives numbers": "a[i] = of(b[i]);",
    "behind a returned pointer": "a[i] = where(i)[0];",
    "behind a returned struct": "a[i] = cell_at(i)->v;",
    "called through a pointer": "a[i] = get(i)[0];",
    "assembler": 'a[i] = 0; __asm__ volatile("" : : "r"(b) : "memory");',
    "sorted by the library": "qsort(a, n, 8, 0);",
}


@pytest.mark.parametrize("frontend", further_slow(1, FRONTENDS))
@pytest.mark.parametrize("name", UNSEEN)
def test_unseen_memory_is_never_predicted(tmp_path: Path, name: str, frontend: str) -> None:
    declared = """
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
"""
    facts = facts_of_body(tmp_path, UNSEEN[name], frontend, declared)
    assert facts.status == "partial", facts.diagnostics
    assert {note.id for note in facts.diagnostics} & {"RP106", "RP108", "RP113"}
    prediction = predict_region(facts, load("cascadelake-gold-6248-snc"))
    assert prediction.status == "partial"


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "body", ["a[i] = exp(b[i]);", "a[i] = pow(b[i], 0.3);", "c[i] = sinf(c[i]) + fmaf(c[i], 2, 1);",
             'printf("%d", i); a[i] = 1;', "a[i] = omp_get_wtime();", "a[i] = rand();",
             "int r; MPI_Comm_rank(0, &r); a[i] = r + MPI_Wtime();",
             "if (a[i] > 1) write(2, a, 8); a[i] = 1;",
             "a[i] = lapack_complex_double_real(lapack_make_complex_double(b[i], 1.0));"],
)  # fmt: skip
def test_library_functions_without_memory(tmp_path: Path, body: str, frontend: str) -> None:
    """Whether their header is there (it is not) or not."""
    facts = facts_of_body(tmp_path, body, frontend)
    assert facts.status == "complete", facts.diagnostics


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_copy_is_reads_and_writes(tmp_path: Path, frontend: str) -> None:
    body = "memcpy(a + 100 * i, b + 50 * i, 50 * sizeof(double));"
    declared = "void *memcpy(void *, const void *, size_t);"
    facts = facts_of_body(tmp_path, body, frontend, declared)
    assert facts.status == "complete"
    assert [(x.array, x.kind, x.bytes) for x in accesses(facts)] == [
        ("b", "read", 8), ("a", "write", 8),
    ]  # fmt: skip
    (executions,) = {str(one.executions) for one in facts.statements if one.accesses}
    assert executions == "50*n"
    # rows of 50 of 100 elements in a, the whole of 50 n in b
    assert facts.working_set.expr is not None
    assert facts.working_set.expr.evaluate({"n": 10}) == 8 * (9 * 100 + 50) + 8 * 500


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_fill_is_writes(tmp_path: Path, frontend: str) -> None:
    declared = "void *memset(void *, int, size_t);"
    facts = facts_of_body(tmp_path, "memset(c + m * i, 0, m * sizeof *c);", frontend, declared)
    assert [(x.array, x.kind, x.bytes) for x in accesses(facts)] == [("c", "write", 4)]
    assert str(facts.working_set.expr) == "4*m*n"


def blas(folder: Path, body: str, frontend: str) -> tuple[dict[str, int], list[Access], int]:
    """Operations of all executions at n = 3, the references, and how often their statement runs."""
    facts = facts_of_body(folder, body, frontend)
    assert facts.status == "complete", facts.diagnostics
    path = str(folder / "case.c")
    (bound,) = analyse(requests_for([path], ()), {"n": 3}, frontend=frontend).facts
    operations: dict[str, int] = {}
    most = 0
    for one in bound.statements:
        runs = one.executions.value or 0
        if one.accesses:
            most = max(most, runs)
        for operation, count in one.statement.operations:
            if operation.kind.startswith("fp_"):
                operations[operation.kind] = operations.get(operation.kind, 0) + count * runs
    return operations, accesses(facts), most


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_linear_algebra_by_its_c_names(tmp_path: Path, frontend: str) -> None:
    """Operations as the routines' definitions count them: 2 n, 2 m n, 2 m n k."""
    ops, touched, runs = blas(tmp_path, "cblas_daxpy(40, 2.0, a, 1, b + i, 1);", frontend)
    assert ops == {"fp_mul": 3 * 40, "fp_add": 3 * 40}
    assert [(x.array, x.kind) for x in touched] == [("a", "read"), ("b", "read"), ("b", "write")]
    ops, touched, runs = blas(
        tmp_path, "cblas_dgemv(101, 111, 20, 30, 1.0, a, 30, b, 1, 0.0, b + i, 1);", frontend
    )
    assert ops == {"fp_mul": 3 * 600, "fp_add": 3 * 600}
    assert runs == 3 * 600
    call = "cblas_dgemm(101, 111, 111, 200, 30, 140, 1.0, a, 140, b, 30, 0.0, a + i, 30);"
    ops, touched, runs = blas(tmp_path, call, frontend)
    assert ops == {"fp_mul": 3 * 200 * 30 * 140, "fp_add": 3 * 200 * 30 * 140}
    assert sorted((x.array, x.kind) for x in touched) == [
        ("a", "read"), ("a", "read"), ("a", "write"), ("b", "read"),
    ]  # fmt: skip


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_linear_algebra_by_its_fortran_names(tmp_path: Path, frontend: str) -> None:
    body = "int k = 40, one = 1; double s = 2; daxpy_(&k, &s, a, &one, b + i, &one);"
    ops, touched, _ = blas(tmp_path, body, frontend)
    assert ops == {"fp_mul": 3 * 40, "fp_add": 3 * 40}
    assert len(touched) == 3


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_matrix_by_rows_is_read_along_its_rows(tmp_path: Path, frontend: str) -> None:
    """A is 20 by 30 with rows of 32: its last element is 19 * 32 + 29."""
    call = "cblas_dgemv(101, 111, 20, 30, 1.0, a, 32, b, 1, 0.0, b + 30 * i, 1);"
    facts = facts_of_body(tmp_path, call, frontend)
    (matrix,) = (x for x in accesses(facts) if x.array == "a")
    names = sorted(matrix.subscripts[-1].names)
    assert len(names) == 2
    by_row = {str(matrix.subscripts[-1].coefficient(name)) for name in names}
    assert by_row == {"1", "32"}


def test_vector_loads_and_stores(tmp_path: Path) -> None:
    body = """
    __m256d x = _mm256_loadu_pd(a + 4 * i);
    _mm256_storeu_pd(b + 4 * i, _mm256_fmadd_pd(x, x, x));
"""
    facts = facts_of_body(tmp_path, body, "libclang", "typedef double __m256d;")
    assert facts.status == "complete", facts.diagnostics
    assert [(x.array, x.kind, x.bytes) for x in accesses(facts)] == [
        ("a", "read", 32), ("b", "write", 32),
    ]  # fmt: skip
    operations = {op.kind: n for one in facts.statements for op, n in one.statement.operations
                  if op.kind.startswith("fp")}  # fmt: skip
    assert operations == {"fp_add": 4, "fp_mul": 4}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_allocated_memory_is_the_threads_own_and_as_long_as_asked(
    tmp_path: Path, frontend: str
) -> None:
    body = "double *t = malloc(30 * sizeof(double)); for (int k = 0; k < 30; k++) t[k] = a[i];"
    facts = facts_of_body(tmp_path, body, frontend, "void *malloc(size_t);")
    assert facts.status == "complete"
    (own,) = (array for array in facts.region.arrays if array.name == "t")
    assert own.storage == "private"
    assert [str(extent) for extent in own.dims] == ["30"]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_the_returned_pointer_of_a_followed_function_is_known(
    tmp_path: Path, frontend: str
) -> None:
    declared = "static double *row(double *a, int i) { int at = 10 * i; return a + at; }"
    facts = facts_of_body(tmp_path, "double *r = row(a, i); r[3] = 1;", frontend, declared)
    assert facts.status == "complete", facts.diagnostics
    (write,) = (x for x in accesses(facts) if x.kind == "write")
    assert (write.array, str(write.subscripts[0])) == ("a", "10*i + 3")


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_memory_behind_the_elements_of_an_array_of_structs(tmp_path: Path, frontend: str) -> None:
    declared = "static void set(struct cell *c, int k) { c->row[k] = 1; }"
    facts = facts_of_body(tmp_path, "set(&cells[i], 2);", frontend, declared)
    (write,) = (x for x in accesses(facts) if x.kind == "write")
    assert write.array == "cells[].row"


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_stages_of_a_transform_run_one_after_the_other(tmp_path: Path, frontend: str) -> None:
    """Half as many, twice as long: 8 * 1 + 4 * 2 + 2 * 4 + 1 * 8 elements."""
    body = """
    for (int s = 8, g = 1; s >= 1; s /= 2, g *= 2)
      for (int p = 0; p < s; p++)
        for (int k = 0; k < g; k++) a[i] += b[p * g + k];
"""
    facts = facts_of_body(tmp_path, body, frontend)
    assert "RP105" not in {note.id for note in facts.diagnostics}
    runs = [str(one.executions) for one in facts.statements if one.accesses]
    assert runs == ["8*n"] * 4


def test_what_headers_make_of_intrinsics_touches_registers_alone(tmp_path: Path) -> None:
    # libclang has a declaration of its own, on vectors, and takes no second one.
    declared = "extern double __builtin_ia32_shufpd(double x, double y, int order);"
    facts = facts_of_body(
        tmp_path, "a[i] = __builtin_ia32_shufpd(b[i], b[i], 1);", "pycparser", declared
    )
    assert facts.status == "complete"
    assert [(access.array, access.kind) for access in accesses(facts)] == [
        ("a", "write"), ("b", "read"), ("b", "read"),
    ]  # fmt: skip
    assert not any(one.statement.calls for one in facts.statements)


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_builtin_that_loads_is_not_taken_for_one(tmp_path: Path, frontend: str) -> None:
    declared = "extern double __builtin_ia32_maskloadpd(double *from, int mask);"
    facts = facts_of_body(
        tmp_path, "a[i] = __builtin_ia32_maskloadpd(b + i, 1);", frontend, declared
    )
    assert facts.status == "partial"


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_processor_times_go_where_the_argument_points(tmp_path: Path, frontend: str) -> None:
    declared = "struct span { long user; }; extern long times(struct span *spent);"
    body = "struct span spent[1]; a[i] = times(spent);"
    facts = facts_of_body(tmp_path, body, frontend, declared)
    assert facts.status == "complete"
    assert ("spent", "write") in [(access.array, access.kind) for access in accesses(facts)]
