"""Directives as they are pasted into a source: within a page, and C as before."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict
from regionpredict.report.openmp_clauses import clause_lines, openmp_clauses

GUTTER = 8  # columns of the line's number
PARALLEL = "#pragma omp parallel for"


def pasted(lines: list[str]) -> str:
    """What a compiler's first phases make of the lines: those that go on are one."""
    text = "\n".join(line[GUTTER:] for line in lines)
    return " ".join(text.replace("\\\n", "").split())


def test_what_fits_stays_on_one_line() -> None:
    # 8 of the number, 24, 3 blanks: 45 are left.
    fits, too_long = "x" * 45, "x" * 46
    assert clause_lines(12, PARALLEL, fits) == [f"    12: {PARALLEL}   {fits}"]
    assert clause_lines(12, PARALLEL, too_long) == [
        f"    12: {PARALLEL} \\", f"            {too_long}",
    ]  # fmt: skip


def test_a_comment_stands_below_its_directive() -> None:
    told = "// num_threads(8) proc_bind(close): fix RP221 in line 6 first: a[i] is so"
    assert clause_lines(12, PARALLEL, told) == [
        f"    12: {PARALLEL}",
        "        // num_threads(8) proc_bind(close): fix RP221 in line 6 first: a[i] is",
        "        // so",
    ]


def test_strings_and_long_words_stay_whole() -> None:
    word = "private(" + "n" * 90 + ")"
    text = f'if(strcmp(mode, "a, b  c \\" d") == 0) {word} reduction(+ : s,t,u)'
    lines = clause_lines(3, f"{PARALLEL} {text}", "num_threads(4) proc_bind(close)")
    assert any('"a, b  c \\" d"' in line for line in lines)
    assert [line.strip(" \\") for line in lines if len(line) > 80] == [word]
    assert pasted(lines) == " ".join(f"{PARALLEL} {text} num_threads(4) proc_bind(close)".split())


names = st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True), min_size=1, max_size=30)


@given(names, names, st.sampled_from([", ", ","]), st.booleans())
def test_any_clauses_are_the_same_within_a_page(
    private: list[str], sizes: list[str], comma: str, short: bool
) -> None:
    own = f"{PARALLEL} private({comma.join(private)})" if not short else PARALLEL
    chosen = "".join(f"n < {name} ? 1 : " for name in sizes)
    clauses = f"num_threads({chosen}36) proc_bind(close)"
    lines = clause_lines(7, own, clauses)
    assert max(map(len, lines)) <= 80
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert not lines[-1].endswith("\\")
    # Breaks are where a blank was or may be.
    assert pasted(lines).replace(" ", "") == f"{own}{clauses}".replace(" ", "")
    for token in (*private, *sizes):
        assert any(re.search(rf"\b{token}\b", line) for line in lines) or short


SOURCE = """\
double a[100000], b[100000], total;
void f(int n)
{
    double first, second, third, fourth, fifth, sixth;
    double one_sum = 0, another_sum = 0, a_third_sum = 0;
#pragma omp parallel for schedule(static) private(first, second, third, fourth, fifth, sixth)
    for (int i = 0; i < 100000; i++) {
        first = a[i]; second = first; third = 1; fourth = 2; fifth = 3; sixth = second;
        b[i] = first + second + third + fourth + fifth + sixth;
    }
#pragma omp parallel for schedule(static) reduction(+ : one_sum, another_sum, a_third_sum)
    for (int i = 0; i < 100000; i++) { one_sum += a[i]; another_sum += b[i]; a_third_sum += 1; }
#pragma omp parallel for
    for (int i = 1; i < 100000; i++) a[i] = a[i - 1] + b[i];
#pragma omp parallel for schedule(static, 64) default(shared)
    for (int i = 0; i < n; i++) a[i] = b[i];
#pragma omp parallel default(shared) firstprivate(first, second)
    {
#pragma omp for nowait
        for (int i = 0; i < 100000; i++) b[i] = 0;
    }
    total = one_sum + another_sum + a_third_sum;
}
"""


@pytest.mark.compiler
def test_a_source_with_the_lines_compiles(tmp_path: Path) -> None:
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("no gcc")
    (tmp_path / "f.c").write_text(SOURCE)
    analysis = analyse(requests_for([str(tmp_path / "f.c")]), {})
    made = predict(analysis, load("skylake-gold-6148"), "saturation")
    text = openmp_clauses(made.predictions, made.teams, made.plans)
    assert max(map(len, text.splitlines())) <= 80
    source = SOURCE.splitlines()
    line = 0
    for row in text.splitlines():
        if match := re.match(r" *(\d+): ", row):
            line = int(match[1])
            source[line - 1] = row[GUTTER:]
        elif line and row.strip():
            source[line - 1] += "\n" + row[GUTTER:]
    (tmp_path / "pasted.c").write_text("\n".join(source) + "\n")
    written = (tmp_path / "pasted.c").read_text()
    assert written.count("num_threads(") >= 4
    assert written.count(" \\\n") >= 4
    assert re.search(r"parallel for\n// num_threads\(.*\n// ", written), "a comment of its own"
    subprocess.run(
        [gcc, "-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-Wno-maybe-uninitialized",
         "-fopenmp", "-fsyntax-only", "pasted.c"], cwd=tmp_path, check=True,
    )  # fmt: skip
