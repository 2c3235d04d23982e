"""Macros whose definitions all stand under a false `#if`: a generated header is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, facts_of

from regionpredict.frontend.text import left_out_macros

CHOICE = """\
#include "made_by_the_build.h"
#if defined(SINGLE)
#  define REAL(x) x##F
#  define COUNT(k) (k)
#elif defined(LONG)
#  define REAL(x) x##L
#  define COUNT(k) (k)
#elif defined(DOUBLE)
#  define REAL(x) x  /* as it stands */
#  define COUNT(k) (k)
#endif
"""
LOOP = """\
void f(double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < COUNT(100); i++) a[i] = REAL(0.5) * b[i] + REAL(1.0);
}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_they_give_their_argument(tmp_path: Path, frontend: str) -> None:
    """100 iterations of a multiplication and an addition in double precision."""
    facts = facts_of(tmp_path, CHOICE + LOOP, frontend)
    assert facts.status == "complete", facts.diagnostics
    assert facts.iterations.value == 100
    operations = {(one.kind, one.bits): count for statement in facts.statements
                  for one, count in statement.statement.operations}  # fmt: skip
    assert operations[("fp_mul", 64)] == 1
    assert operations[("fp_add", 64)] == 1
    touched = {(access.array, access.kind) for one in facts.statements
               for access in one.statement.accesses}  # fmt: skip
    assert touched == {("b", "read"), ("a", "write")}


# A branch that does more than mark its argument, a function of that name, a macro that is read.
OTHERWISE = {
    "one reads a table": CHOICE.replace("x##L", "table[x]"),
    "declared": f"double REAL(double);\n{CHOICE}",
    "asked for": f"{CHOICE}#ifndef REAL\n#endif\n",
}


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("name", OTHERWISE)
def test_any_other_is_a_call_that_is_not_seen(tmp_path: Path, name: str, frontend: str) -> None:
    facts = facts_of(tmp_path, OTHERWISE[name] + LOOP, frontend)
    assert facts.status == "partial"
    assert "RP113" in {note.id for note in facts.diagnostics}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_the_branch_that_is_read_stands(tmp_path: Path, frontend: str) -> None:
    """Single precision: the constants are, and no guess is made."""
    facts = facts_of(
        tmp_path, "#define SINGLE\n" + CHOICE + LOOP.replace("double", "float"), frontend
    )
    assert facts.status == "complete"
    bits = {one.bits for statement in facts.statements
            for one, _ in statement.statement.operations if one.kind == "fp_mul"}  # fmt: skip
    assert bits == {32}


def test_the_one_without_a_suffix_is_taken() -> None:
    text = b"#if A\n#define R(x) x##F\n#else\n#define R(v) (v)\n#endif\ndouble y = R(1.0);\n"
    assert left_out_macros([(text, b"double y = R(1.0);")]) == (("R(v)", "(v)"),)
    in_a_macro = text.replace(b"double y =", b"#define HALF")
    assert left_out_macros([(in_a_macro, b"")]) == (("R(v)", "(v)"),)
    assert left_out_macros([(text, text)]) == ()
    assert left_out_macros([(text.replace(b"R(1.0)", b"1.0"), b"")]) == ()
