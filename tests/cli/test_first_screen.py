"""The first screen of many loops: the answer, the loops with the time, and what to give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LONG = "\n".join(
    f"""void big{k}(int n, double *a, double *b) {{
#pragma omp parallel for
  for (int i = 0; i < {size}; i++) a[i] += b[i];
}}"""
    for k, size in enumerate([40_000_000, 30_000_000, 20_000_000])
)
SHORT = "\n".join(
    f"""void small{k}(double *a) {{
#pragma omp parallel for
  for (int i = 0; i < {1000 + k}; i++) a[i] = {k};
}}"""
    for k in range(9)
)


def lines_of(folder: Path, text: str, *options: str) -> list[str]:
    (folder / "f.c").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", "f.c", "-m", "skylake-gold-6148",
         *options],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_many_loops_fit_on_a_screen(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, LONG + SHORT)
    assert lines[0].startswith("Use ")
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    rows = [line for line in lines if " f.c:" in line and "%" in line]
    # 40, 30 and 20 of 90 parts: the first two are 78 %, all three all but the small ones.
    assert [row.split()[-1] for row in rows] == ["big0", "big1", "big2"]
    assert "9 more loops take less than 1 % of this time: --all shows every loop" in lines


def test_a_row_with_a_question_mark_says_what_it_means(tmp_path: Path) -> None:
    lines = lines_of(
        tmp_path, "void unseen(double *);" + LONG.replace(";\n}", ", unseen(a);\n}") + SHORT
    )
    assert [line for line in lines if "big0" in line and "?" in line]
    assert "? part of the loop is unknown" in lines
    assert "? part of the loop is unknown" not in lines_of(tmp_path, LONG + SHORT)


def test_all_shows_every_loop(tmp_path: Path) -> None:
    text = "\n".join(lines_of(tmp_path, LONG + SHORT, "--all"))
    assert all(f"small{k} " in text for k in range(9))
    assert text.startswith("Use ")


@pytest.mark.parametrize("options", [("--sort", "line"), ("--only", "*"), ("--top", "12")])
def test_a_chosen_view_is_what_is_shown(tmp_path: Path, options: tuple[str, str]) -> None:
    text = "\n".join(lines_of(tmp_path, LONG + SHORT, *options))
    assert all(f"small{k}" in text for k in range(9))


def test_few_loops_have_all_their_rows(tmp_path: Path) -> None:
    assert lines_of(tmp_path, LONG) == lines_of(tmp_path, LONG, "--all")


SERIAL = """double unseen(int); void fill(double *, int);
static double a[1000000];
int main(void) {
  for (int i = 0; i < 1000; i++) a[i] = unseen(i);
  for (int i = 0; i < 10; i++) fill(a, i);
#pragma omp parallel for
  for (int i = 0; i < 1000000; i++) a[i] = 2 * a[i];
  return 0;
}
"""


def test_serial_time_that_is_not_known_is_said(tmp_path: Path) -> None:
    said = "Excluded: serial calls of functions without source (unseen, fill)."
    assert said in lines_of(tmp_path, SERIAL)
    seen = SERIAL.replace("unseen(int);", "unseen(int i) { return i; }").replace(
        "void fill(double *, int);", "void fill(double *b, int i) { b[i] = 1; }"
    )
    assert not [line for line in lines_of(tmp_path, seen) if line.startswith("Excluded")]


DEVICE = """void work(int n);
void device(int n) {
#pragma omp target
  work(n);
}
"""


def test_regions_without_a_prediction_are_said(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, DEVICE + LONG)
    assert [line for line in lines if line.startswith("Excluded")] == [
        "Excluded: 1 parallel region without a prediction (f.c:3)."
    ]


def test_programs_with_files_of_one_name_have_their_folders(tmp_path: Path) -> None:
    for folder, size in (("large", 40_000_000), ("small", 1000)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "main.c").write_text(f"""static double a[{size}];
int main(void) {{
#pragma omp parallel for
  for (int i = 0; i < {size}; i++) a[i] = i;
  return (int)a[7];
}}""")
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", ".", "-m", "skylake-gold-6148"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("By program: ")]
    assert line.startswith("By program: large/main.c ") and " and small/main.c " in line
