"""Library functions without a body: what they access, and what they cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.ir.pprint import dump_program
from tests.frontend.reading import FRONTENDS, facts_of, program_of

LOOP = """%s
void run(int n, int m, double *x, int *o, unsigned long long *t, char **s) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { %s }
}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("head", "statement", "accesses"),
    [
        ("#include <stdio.h>", 'sscanf(s[i], "%le %d", &x[i], &o[i]);',
         {("s", "read"), ("x", "write"), ("o", "write")}),
        ("#include <Rinternals.h>", "R_qsort_I(x + i * m, o + i * m, 1, m);",
         {("x", "read"), ("x", "write"), ("o", "read"), ("o", "write")}),
        ("", "x[i] = __builtin_parityll(t[i]);", {("x", "write"), ("t", "read")}),
    ],
)  # fmt: skip
def test_their_memory_is_known(
    tmp_path: Path, frontend: str, head: str, statement: str, accesses: set[tuple[str, str]]
) -> None:
    facts = facts_of(tmp_path, LOOP % (head, statement), frontend)
    assert facts.status == "complete", facts.diagnostics
    found = {(access.array, access.kind)
             for one in facts.statements for access in one.statement.accesses}  # fmt: skip
    assert found == accesses


COMPLEX = """#include <complex>
#include <iostream>
#include <limits>
void run(int n, double *x, std::complex<double> *z) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    x[i] = std::norm(z[i]);
    if (x[i] == std::numeric_limits<double>::infinity()) std::cerr << i << std::endl;
  }
}
"""


def test_the_norm_of_a_complex_number_is_four_operations(tmp_path: Path) -> None:
    """|z|^2 is the sum of two squares, counted as two of both. A limit costs nothing."""
    program = program_of(tmp_path, COMPLEX, "libclang", name="case.cpp")
    lines = [line.strip() for line in dump_program(program).splitlines()]
    assert "x[i] = norm(z[i]) | fp_add.64 x2 | fp_mul.64 x2 | write x[i] | read z[i]" in lines
    assert "x[i] == infinity() | fp_compare.64 x1 | read x[i] | condition" in lines
    assert not [line for line in lines if "RP113" in line]


MESSAGE = """#include <stdarg.h>
#include <stdio.h>
static int quiet;
void warn(int code, const char *form, ...) {
  char text[256];
  va_list more;
  va_start(more, form);
  vsnprintf(text, 256, form, more);
  va_end(more);
  if (!quiet) fprintf(stderr, "%d: %s\\n", code, text);
}
static int checked(double x) { LOOP }
void run(int n, double *x, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { checked(x[i]); x[i] = 2.0; }
}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_function_that_only_writes_a_message_counts_as_one(tmp_path: Path, frontend: str) -> None:
    lines = dump_program(
        program_of(
            tmp_path, MESSAGE.replace("LOOP", 'warn(1, "negative"); return x > 1;'), frontend
        )
    )
    assert "call:fprintf.64 x1" in lines
    assert "vsnprintf" not in lines


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_function_that_also_computes_is_followed(tmp_path: Path, frontend: str) -> None:
    """It has a loop, or writes a message in some cases only."""
    for body in ("for (int k = 0; k < 7; k++) x *= 3.0; warn(1, \"all\"); return 0;",
                 "static double sum; sum += 3.0 * x; warn(1, \"all\"); return 0;",
                 "x *= 3.0; if (x < 0) warn(1, \"negative\"); return x > 1;"):  # fmt: skip
        lines = dump_program(program_of(tmp_path, MESSAGE.replace("LOOP", body), frontend))
        assert "fp_mul.64 x1" in lines


FORMATTING = """#include <stdarg.h>
#include <stdio.h>
static int lines;
static double tag(char *out, double x, const char *form, ...) {
  va_list more;
  va_start(more, form);
  vsnprintf(out, 16, form, more);
  va_end(more);
  for (int k = 0; k < 7; k++) x *= 3.0;
  lines++;
  %s
  return x;
}
void run(int n, double *x, char (*names)[16]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) tag(names[i], x[i], "%%d", i);
}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_only_a_function_that_writes_what_it_formats_is_a_message(
    tmp_path: Path, frontend: str
) -> None:
    """What else it does counts only without the message, which takes most of its time."""
    formats, writes = (
        dump_program(program_of(tmp_path, FORMATTING % rest, frontend))
        for rest in ("", "fputs(out, stderr);")
    )
    assert "fp_mul.64 x1" in formats
    assert "fp_mul" not in writes
    assert "call:fputs" in writes or "call:fprintf" in writes


UNKNOWN_PAIRS = """#include "transforms_of_someone.h"
void run(int n, fft_pair *from, fft_pair *to) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { to[i][0] = from[i][0]; to[i][1] = -from[i][1]; }
}
"""


def test_a_guessed_type_whose_values_have_subscripts_is_an_array(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, UNKNOWN_PAIRS, "libclang")
    assert facts.status == "complete", facts.diagnostics
    assert str(facts.working_set.expr) == "32*n"
