"""Loops whose header does not tell how often they run: the count is withheld, never wrong.

And the loop variable behind its loop, which holds the first value that failed the test.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS

from regionpredict.frontend import read, requests_for
from regionpredict.ir import Loop, Region


def region_of(tmp_path: Path, body: str, frontend: str) -> Region:
    source = tmp_path / "loop.c"
    source.write_text(
        "double A[64][1000];\nvoid f(int n) {\n  int i, j;\n"
        "#pragma omp parallel for private(j)\n  for (i = 0; i < 6; i++) {\n" + body + "\n  }\n}\n"
    )
    (region,) = read(requests_for([str(source)]), frontend).regions
    return region


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "loop",
    [
        "for (int j = 0; j < 10; j++) { A[i][j] = 1; j++; }",
        "int e = 10; for (int j = 0; j < e; j++) { A[i][j] = 1; e--; }",
        "int e = 10; for (int j = 0; j < e; j++) { A[i][j] = 1; if (A[i][j] > 0) e = 5; }",
        "for (int j = 0, k = n; j < k; j++, k--) A[i][j] = 1;",
        "for (int s = 1; s < n; s += s) A[i][s] = 1;",
        "for (int s = 1; s < n; s *= 2) A[i][s] = 1;",
        "for (int j = 10; j-- > 0; j--) A[i][j] = 1;",
        "int t = 1; for (int j = 0; j < 100; j += t) { A[i][j] = 1; t++; }",
    ],
)
def test_what_moves_besides_is_not_counted(tmp_path: Path, loop: str, frontend: str) -> None:
    region = region_of(tmp_path, loop, frontend)
    assert region.nest is not None
    (inner,) = [node for node in region.nest.body if isinstance(node, Loop)]
    assert inner.trips is None
    assert "RP105" in [note.id for note in region.diagnostics]


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
    ],
)
def test_the_variable_behind_its_loop(
    tmp_path: Path, header: str, behind: str, frontend: str
) -> None:
    region = region_of(tmp_path, f"for ({header}) A[i][0] = 0;\nA[i][j] = 1;", frontend)
    last = [statement for statement, _ in region.statements()][-1]
    (access,) = last.accesses
    assert str(access.subscripts[-1]) == behind
