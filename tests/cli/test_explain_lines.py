"""`explain FILE:LINE` takes every line of a region: its directive's, and those of its nest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from regionpredict.measure.loop_extent import loop_extent

SOURCE = """\
double a[900][900], b[900][900], s;
void first(void)
{
#pragma omp parallel for \\
    schedule(static) \\
    reduction(+ : s)
  for (int i = 0; i < 900; i++) { // a } in a comment
    for (int j = 0; j < 900; j++) {
      a[i][j] = b[i][j];

      s += a[i][j];
    }
  }
}

void second(int n)
{
  n = n + 1;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 900; i++)
#pragma omp simd \\
      safelen(8)
      for (int j = 0; j < 900; j++)
        b[i][j] = 1;
#pragma omp for
    for (int i = 0; i < 900; i++)
      for (int j = 0; j < 900; j++) { b[i][j] = 2; }
  }
}
"""
FIRST, SECOND, THIRD = range(4, 14), range(21, 27), range(27, 30)


def explained(folder: Path, line: int) -> subprocess.CompletedProcess[str]:
    (folder / "f.c").write_text(SOURCE)
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", "explain", f"f.c:{line}", "-m", "dunnington"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "begin"),
    [(4, 4), (6, 4), (9, 4), (10, 4), (13, 4), (21, 21), (24, 21), (26, 21), (27, 27), (29, 27)],
)
def test_a_line_of_a_region_finds_it(tmp_path: Path, line: int, begin: int) -> None:
    told = explained(tmp_path, line)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith(f"f.c:{begin}  omp ")


@pytest.mark.parametrize("line", [1, 3, 14, 20, 30, 99])
def test_a_line_outside_names_the_nearest(tmp_path: Path, line: int) -> None:
    told = explained(tmp_path, line)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr == (
        f"regionpredict: f.c:{line}: no region at this line; the nearest are at lines 4-13, 21-26, "
        "27-29\n"
    )


def test_the_extents_by_hand() -> None:
    for lines, loop, column in ((FIRST, 7, 3), (SECOND, 22, 5), (THIRD, 28, 5)):
        for known in (0, column):
            extent = loop_extent(SOURCE, lines[0], loop, known)
            assert extent == (lines[0], lines[-1])
            inside = [line for line in range(1, 40) if not extent.away(line)]
            assert inside == list(lines)
    assert loop_extent(SOURCE, *(4, 7)).away(1) == 3
    assert loop_extent(SOURCE, *(4, 7)).away(20) == 7


def test_of_regions_in_each_other_the_inner_one(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(
        "double a[99][99];\n"
        "void f(void) {\n"
        "#pragma omp parallel for\n"
        "  for (int i = 0; i < 99; i++) {\n"
        "    a[i][0] = 1;\n"
        "#pragma omp parallel for\n"
        "    for (int j = 1; j < 99; j++)\n"
        "      a[i][j] = 1;\n"
        "    a[i][1] = 2;\n"
        "  }\n"
        "}\n"
    )
    for line, begin in ((5, 3), (8, 6), (9, 3)):
        told = subprocess.run(
            [sys.executable, "-m", "regionpredict", "explain", f"f.c:{line}", "-m", "dunnington"],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert told.stdout.startswith(f"f.c:{begin}  omp "), line


def test_what_is_no_c_ends_where_it_begins() -> None:
    assert loop_extent("#pragma omp for\nFOR(i, n)\n", 1, 2) == (1, 2)
    assert loop_extent("#pragma omp for\nFOR(i, n) {\nx;\n}\ny;\n", 1, 2) == (1, 4)
    assert loop_extent("#pragma omp for\nfor (;;) {\n", 1, 2) == (1, 2)
    assert loop_extent("", 3, None) == (3, 3)
    assert loop_extent("#pragma omp for \\\n nowait\nfor (;;)\n;\n", 1, None) == (1, 4)
