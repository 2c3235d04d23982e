"""Loops whose header does not tell how often they run: counted where no data decide, else withheld.

And the loop variable behind its loop, which holds the first value that failed the test.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS

from regionpredict.analysis import Bindings
from regionpredict.analysis.iterations import executions_in_loops
from regionpredict.frontend import read, requests_for
from regionpredict.ir import Loop, Region
from regionpredict.pipeline import analyse


def region_of(tmp_path: Path, body: str, frontend: str) -> Region:
    source = tmp_path / "loop.c"
    source.write_text(
        "#include <stddef.h>\ndouble A[64][1000];\nvoid unseen(int *);\n"
        "static void put(int *p, int v) { *p = v; }\nvoid f(int n) {\n  int i, j;\n"
        "#pragma omp parallel for private(j)\n  for (i = 0; i < 6; i++) {\n" + body + "\n  }\n}\n"
    )
    (region,) = read(requests_for([str(source)]), frontend).regions
    return region


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "loop",
    [
        "int e = 10; for (int j = 0; j < e; j++) { A[i][j] = 1; if (A[i][j] > 0) e = 5; }",
        "int j = 0; while (A[i][j] > 0) { A[i][j] = 1; j++; }",
        "double r = n; int j = 0; while (r > 1) { A[i][j] = 1; r /= 2; j++; }",
        "int j = 0; while (j < 9) { A[i][j] = 1; if (A[i][j] > 2) continue; j++; }",
        "int j = 0; again: ; A[i][j] = 1; j++; if (A[i][j] > 0) goto again;",
        "int j = 0; while (j < 9) A[i][0] = 1;",  # for ever
        "int e, *p = &e; e = 9; for (int j = 0; j < e; j++) { A[i][j] = 1; unseen(p); }",
    ],
)
def test_what_data_decide_is_not_counted(tmp_path: Path, loop: str, frontend: str) -> None:
    region = region_of(tmp_path, loop, frontend)
    assert region.nest is not None
    (inner,) = [node for node in region.nest.body if isinstance(node, Loop)]
    assert inner.trips is None
    assert "RP105" in [note.id for note in region.diagnostics]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("loop", "runs"),
    [
        ("for (int j = 0; j < 10; j++) { A[i][j] = 1; j++; }", 5),
        ("for (int j = 0; j < 10; j++) { A[i][j] = 1; if (i > 2) j++; }", (3 * 10 + 3 * 5) / 6),
        ("int e = 10; for (int j = 0; j < e; j++) { A[i][j] = 1; e--; }", 5),
        ("int e = 9; for (int j = 0; j < e; j++) { A[i][j] = 1; *&e = e - 1; }", 5),
        ("int e = 9; for (int j = 0; j < e; j++) { A[i][j] = 1; put(&e, e - 1); }", 5),
        ("int e, *p = &e; e = 9; for (int j = 0; j < e; j++) { A[i][j] = 1; *p = 3; }", 3),
        ("int e = 9; for (int j = 0; j < e; j++) { A[i][j] = 1; if (j == 2) e = 4; }", 4),
        ("for (int j = 0, k = n; j < k; j++, k--) A[i][j] = 1;", 10),
        ("for (int s = 1; s < n; s += s) A[i][s] = 1;", 5),  # 1 2 4 8 16
        ("for (int s = 1; s < n; s *= 2) A[i][s] = 1;", 5),
        ("for (int s = n; s > 0; s /= 3) A[i][s] = 1;", 3),  # 20 6 2
        ("for (int j = 10; j-- > 0; j--) A[i][j] = 1;", 5),  # tested with 10 8 6 4 2
        ("int t = 1; for (int j = 0; j < 100; j += t) { A[i][j] = 1; t++; }", 13),  # (k + 1) (k +
        # 2) / 2 - 1 is below 100 for k from 0 to 12
        ("int j = 0; while (j < n) { A[i][j] = 1; j += 3; }", 7),
        ("size_t j = 0; while (j < n) { A[i][j] = 1; j++; }", 20),
        ("int j = n; do { A[i][j] = 1; j++; } while (j < 9);", 1),
        ("int j = 0; do { A[i][j] = 1; j++; } while (j < i);", (1 + 1 + 2 + 3 + 4 + 5) / 6),
        ("int j = 0; again: ; A[i][j] = 1; j++; if (j < 10) goto again;", 10),
        ("for (int j = 0; j < n && j != 7; j++) A[i][j] = 1;", 7),
        ("for (int j = 0; j < n; j++) { A[i][j] = 1; if (j == 4) break; }", 5),
        ("for (int j = 0; j < 3; j++) { A[i][j] = 1; if (j == 4) break; }", 3),
        ("for (unsigned j = 5; j - 2 < n; j--) A[i][j] = 1;", 4),  # 5 4 3 2; 1 - 2 is large
        ("for (signed char j = 100; j > 0; j++) A[i][j] = 1;", 28),  # 127 + 1 is -128
        ("for (int s = 1; s < n; s *= 2) for (int j = 0; j < s; j++) A[i][j] = 1;", 31),
        ("for (int j = 0; j < (int)(i - 3u) + 3; j++) A[i][j] = 1;", (0 + 1 + 2 + 3 + 4 + 5) / 6),
        ("int e = 6; if (i > 3) e = 2; for (int j = 0; j < e; j++) A[i][j] = 1;", 28 / 6),
    ],
)
def test_what_is_carried_from_one_iteration_to_the_next(
    tmp_path: Path, loop: str, runs: float, frontend: str
) -> None:
    """Executions of the statement that sets `A`, with `n` = 20, by running the loop by hand."""
    region = region_of(tmp_path, loop, frontend)
    totals = [
        executions_in_loops(loops).value(Bindings({"n": 20}))
        for statement, loops in region.statements()
        if any(access.array == "A" for access in statement.accesses)
    ]
    assert None not in totals
    assert sum(map(int, totals)) == 6 * runs  # type: ignore[arg-type]
    assert not [note for note in region.diagnostics if note.id == "RP105"]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("loop", "behind"),
    [
        ("j = 0; while (j < 7) { A[i][0] = 0; j += 2; }", "8"),
        ("j = 0; while (j < n) { A[i][0] = 0; j += 1; }", "n"),
        ("j = 1; do { A[i][0] = 0; j *= 3; } while (j < 20);", "27"),
        ("int e = 9; for (j = 0; j < e; j++) { A[i][0] = 0; e--; }", "5"),
    ],
)
def test_what_is_carried_out_of_a_loop(
    tmp_path: Path, loop: str, behind: str, frontend: str
) -> None:
    region = region_of(tmp_path, f"{loop}\nA[i][j] = 1;", frontend)
    last = [statement for statement, _ in region.statements()][-1]
    (access,) = last.accesses
    assert str(access.subscripts[-1]) == behind


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("int j = 0, k = 9; j < k; j++, k--", "0 1 2 3 4"),
        ("int j = 1; j < 10; j += j", "1 2 4 8"),
        ("int j = 1; j < 10; j *= 2", "1 2 4 8"),
        ("int j = 40; j > 3; j /= 3", "40 13 4"),
        ("int j = 5; j > 9; j /= 2", ""),
    ],
)
def test_known_numbers_that_take_no_steps_are_run_through(
    tmp_path: Path, header: str, columns: str, frontend: str
) -> None:
    region = region_of(tmp_path, f"for ({header}) A[i][j] = 1;", frontend)
    touched = [str(a.subscripts[-1]) for one, _ in region.statements() for a in one.accesses]
    assert touched == columns.split()
    assert not region.diagnostics


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("header", "behind"),
    [
        ("j = 0; j < 999; j++", "999"),
        ("j = 0; j <= 99; j++", "100"),
        ("j = 0; j < 10; j += 4", "12"),  # 0, 4, 8
        ("j = 10; j > 0; j -= 3", "-2"),  # 10, 7, 4, 1
        ("j = 3; j < n; j++", "n"),
        ("j = 6; j <= 2; j++", "6"),  # never runs
    ],
)
def test_the_variable_behind_its_loop(
    tmp_path: Path, header: str, behind: str, frontend: str
) -> None:
    region = region_of(tmp_path, f"for ({header}) A[i][0] = 0;\nA[i][j] = 1;", frontend)
    last = [statement for statement, _ in region.statements()][-1]
    (access,) = last.accesses
    assert str(access.subscripts[-1]) == behind


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("loop", "runs"),
    [
        ("for (int j = (i - 7) % 4; j < 4; j++) A[i][j + 9] = 1;", 35),  # -3 -2 -1 0 -3 -2
        ("for (unsigned j = 9; j < 10u; j--) A[i][j] = 1;", 60),  # wraps behind 0
        ("unsigned char c = 250 + 16; for (int j = 0; j < c; j++) A[i][j] = 1;", 60),
        ("int b = 10; int *p = &b; *p = 3; for (int j = 0; j < b; j++) A[i][j] = 1;", 18),
        ("for (unsigned char j = 250; j != 4; j++) A[i][j] = 1;", 60),
        ("for (int j = -1; j < 9u; j++) A[i][0] = 1;", 0),  # -1 is a large number there
        ("for (int j = 3; j < 9; j += -1) A[i][0] = 1;", None),
        ("for (int j = 10; j--; ) A[i][j] = 1;", 60),
        ("do { A[i][0] = 1; } while (0);", 6),
        ("for (int j = (int)3.9; j < (int)(n * 0.5); j++) A[i][j] = 1;", None),
    ],
)
def test_numbers_are_those_of_c(tmp_path: Path, loop: str, runs: int | None, frontend: str) -> None:
    """Executions of the statement that sets `A`, by running the loop by hand."""
    region = region_of(tmp_path, loop, frontend)
    totals = [
        executions_in_loops(loops).value(Bindings({}))
        for statement, loops in region.statements()
        if any(access.array == "A" for access in statement.accesses)
    ]
    assert (None if None in totals else sum(map(int, totals))) == runs  # type: ignore[arg-type]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_second_variable_of_the_header_moves(tmp_path: Path, frontend: str) -> None:
    loop = (
        "double *q = A[i]; for (int j = 0, k = 3; j < 5; j++, q++, k += 2) { *q = k; A[k][j] = 1; }"
    )
    region = region_of(tmp_path, loop, frontend)
    places = [str(a.subscripts) for s, _ in region.statements() for a in s.accesses]
    assert [[str(one) for one in a.subscripts] for s, _ in region.statements()
            for a in s.accesses] == [["i", "j"], ["2*j + 3", "j"]], places  # fmt: skip


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("before", "bound", "iterations"),
    [
        ("int n = 4; n += 3;", "n", 7),
        ("int n = 4; put(&n, 9);", "n", 9),
        ("int n = 4; int *p = &n; *p = 5; n++;", "n", 6),
        ("struct s g; g.n = 8;", "g.n", 8),
        ("struct s g; g.n = 8; struct s *q = &g; q->n = 9;", "q->n", 9),
        ("int n = 4; if (m > 2) n = 5;", "n", None),
        ("int n = 4; if (fixed > 2) n = 5;", "n", 5),
        ("int n = 4; if (fixed < 2) n = 5; else n += 2;", "n", 6),
        ("int n = 4; if (count - 5 > 0) n = 5;", "n", 5),  # 3u - 5 is a large number
        ("int n = 4; if (fixed > 2) return; n = 5;", "n", 5),  # here, nobody has returned
        ("int n = 4, k = n++;", "n + k", 9),
        ("struct s g = {7, 3};", "g.m", 3),
        ("struct s g = {7};", "g.m + 2", 2),  # the rest is zero
        ("struct s g = {7, 3}; g.m = 5;", "g.m + g.n", 12),
        ("struct s g = {7, 3}; if (m) g.n = 9;", "g.n", None),
        ("struct s g = {7, 3}, h; h.n = m; g = h;", "g.n", None),
        ("struct s g = {7, 3}; g = made();", "g.n", None),  # of which nothing is known
        ("struct s g = {7, 3}, *p = placed();", "p->n", None),
        ("struct s g = {.m = 7};", "g.n", 0),
        ("struct t g = {{1, 2}, 3};", "g.n", 3),
        ("struct u g = {300};", "g.n", 44),  # of unsigned char
        ("int n = 4; if (sizeof(int) == 4) n = 5;", "n", 5),
        ("int n = 4; for (int k = 0; k < m; k++) n = k;", "n", None),
        ("int n = 4; unseen(&n);", "n", None),
        ("int n = m; m = 5;", "n", None),
        ("unsigned char n = 266;", "n", 10),
    ],
)
def test_what_variables_hold_at_the_directive(
    tmp_path: Path, before: str, bound: str, iterations: int | None, frontend: str
) -> None:
    source = tmp_path / "before.c"
    source.write_text(
        "struct s { int n, m; };\nstruct t { int k[2], n; };\nstruct u { unsigned char n; };\n"
        "int fixed = 3; unsigned count = 3; void unseen(int *);\n"
        "struct s made(void); struct s *placed(void);\n"
        "static void put(int *p, int v) { *p = v; }\n"
        f"void f(int m, double *a) {{\n{before}\n#pragma omp parallel for\n"
        f"for (int i = 0; i < {bound}; i++) a[i] = 0;\n}}\n"
    )
    (facts,) = analyse(requests_for([str(source)]), {}, frontend=frontend).facts
    assert facts.iterations.value == iterations


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_an_enumerator_says_how_many_loops_share(tmp_path: Path, frontend: str) -> None:
    source = tmp_path / "collapse.c"
    source.write_text(
        "enum { ONE = 1, CO };\ndouble a[6][10];\nvoid f(void) {\n"
        "#pragma omp parallel for collapse(CO)\n"
        "for (int i = 0; i < 6; i++) for (int j = 0; j < 10; j++) a[i][j] = 0;\n}\n"
    )
    (facts,) = analyse(requests_for([str(source)]), {}, frontend=frontend).facts
    assert facts.iterations.value == 60
