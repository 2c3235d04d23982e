"""Directives that a false `#if` leaves out: each counted, with what would open its branch."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, program_of

from regionpredict.frontend import read, requests_for

LOOP = "#pragma omp parallel for\nfor (int i = 0; i < 8; i++) a[i] = 0;\n"


def left_out(
    folder: Path, body: str, frontend: str, defines: tuple[tuple[str, str], ...] = ()
) -> list[tuple[int, str]]:
    text = f"double a[8];\nvoid f(void) {{\n{body}}}\n"
    program = program_of(folder, text, frontend, defines=defines)
    return [(note.span.line, note.message.partition("to read it, ")[2])
            for note in program.diagnostics if note.id == "RP006"]  # fmt: skip


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("before", "after", "remedy"),
    [
        ("#ifdef PARALLEL\n", "#endif\n", "add -D PARALLEL"),
        ("#if defined(PARALLEL)\n", "#endif\n", "add -D PARALLEL"),
        ("#if defined PARALLEL\n", "#endif\n", "add -D PARALLEL"),
        ("#if PARALLEL\n", "#endif\n", "add -D PARALLEL"),
        ("#ifndef _OPENMP\n", "#endif\n", "do without the macro _OPENMP"),
        ("#ifdef _OPENMP\n;\n#else\n", "#endif\n", "do without the macro _OPENMP"),
        ("#ifndef PARALLEL\n;\n#else\n", "#endif\n", "add -D PARALLEL"),
        ("#if LEVEL > 2 && PARALLEL\n", "#endif\n", "make 'LEVEL > 2 && PARALLEL' true with -D"),
        ("#if 1\n;\n#elif PARALLEL\n", "#endif\n", "add -D PARALLEL"),
        ("#if !defined(_OPENMP)\n", "#endif\n", "do without the macro _OPENMP"),
        ("#if !defined(PARALLEL)\n;\n#else\n", "#endif\n", "add -D PARALLEL"),
        ("#if defined(_OPENMP)\n;\n#else\n", "#endif\n", "do without the macro _OPENMP"),
        ("#if N < 1\n;\n#else\n", "#endif\n", "make 'N < 1' false"),
        # What the file itself defines, in line 3, no option takes away.
        ("#define SERIAL\n#ifndef SERIAL\n", "#endif\n", "take '#define SERIAL' out of line 3"),
        (
            "#define SERIAL 1\n#ifdef SERIAL\n;\n#else\n",
            "#endif\n",
            "take '#define SERIAL' out of line 3",
        ),
        (
            "# define SERIAL\n#if !defined SERIAL\n",
            "#endif\n",
            "take '#define SERIAL' out of line 3",
        ),
        (
            "#define PARALLEL 0\n#if PARALLEL\n",
            "#endif\n",
            "change the value of PARALLEL in line 3",
        ),
        (
            "#ifndef PARALLEL\n#define PARALLEL 0\n#endif\n#if PARALLEL\n",
            "#endif\n",
            "add -D PARALLEL",
        ),
        # Definitions that nobody reads, or that stand in a comment or behind, are none.
        (
            "#if 0\n#define _OPENMP\n#endif\n#ifndef _OPENMP\n",
            "#endif\n",
            "do without the macro _OPENMP",
        ),
        ("/*\n#define _OPENMP\n*/\n#ifndef _OPENMP\n", "#endif\n", "do without the macro _OPENMP"),
        (
            "#define _OPENMP_2\n#ifndef _OPENMP\n",
            "#endif\n#define _OPENMP 1\n",
            "do without the macro _OPENMP",
        ),
        # The outer branch is open, the inner one is not.
        ("#ifdef _OPENMP\n;\n#ifdef PARALLEL\n", "#endif\n#endif\n", "add -D PARALLEL"),
        # Neither is: the outer one comes first.
        ("#ifdef PARALLEL\n;\n#ifdef MORE\n", "#endif\n#endif\n", "add -D PARALLEL"),
    ],
)
def test_the_branch_s_condition_says_what_opens_it(
    tmp_path: Path, frontend: str, before: str, after: str, remedy: str
) -> None:
    line = 3 + before.count("\n")
    assert left_out(tmp_path, before + LOOP + after, frontend) == [(line, remedy)]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "body",
    [
        LOOP,
        f"#ifdef _OPENMP\n{LOOP}#endif\n",
        f"#if 0\n{LOOP}#endif\n",
        f"#ifdef PARALLEL\n/*\n{LOOP}*/\n#endif\n",
        "#ifdef PARALLEL\n#pragma omp barrier\n#endif\n",
        "#ifdef PARALLEL\n#pragma once\n#endif\n",
        f"{LOOP}#endif\n#ifdef PARALLEL\n",  # conditionals that do not match
    ],
)
def test_what_is_read_and_what_no_macro_opens_is_not_told(
    tmp_path: Path, frontend: str, body: str
) -> None:
    assert left_out(tmp_path, body, frontend) == []


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_the_macro_opens_it(tmp_path: Path, frontend: str) -> None:
    body = f"#ifdef PARALLEL\n{LOOP}#endif\n"
    assert left_out(tmp_path, body, frontend, (("PARALLEL", "1"),)) == []


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_loop_of_a_header_that_one_file_reads_is_not_left_out(
    tmp_path: Path, frontend: str
) -> None:
    header = f"static double a[8];\nstatic void f(void) {{\n#ifdef PARALLEL\n{LOOP}#endif\n}}\n"
    (tmp_path / "loops.h").write_text(header)
    (tmp_path / "a.c").write_text('#include "loops.h"\n')
    (tmp_path / "b.c").write_text('#define PARALLEL\n#include "loops.h"\n')
    program = read(requests_for([str(tmp_path)]), frontend)
    assert [region.span.line for region in program.regions] == [4]
    assert not [note for note in program.diagnostics if note.id == "RP006"]
