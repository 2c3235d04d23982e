"""`explain` at the line of a `parallel`, which is no loop's own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SOURCE = """\
static double a[100000], b[100000];
static void half(int w) {
#pragma omp for
  for (int i = 0; i < 100000; i++) a[i] += w * b[i];
}
static void other(void) {
#pragma omp for
  for (int i = 0; i < 100000; i++) b[i] += a[i];
}
void both(void) {
#pragma omp parallel
  for (int step = 0; step < 20; step++) {
    half(step);
    other();
  }
}
int omp_get_thread_num(void);
int omp_get_num_threads(void);
void byhand(void) {
#pragma omp parallel
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    for (int i = me * 100000 / all; i < (me + 1) * 100000 / all; i++) a[i] = 2 * b[i];
  }
}
int main(void) { for (int k = 0; k < 5; k++) { both(); byhand(); } }
"""
BOTH, HALF, OTHER, BYHAND = 11, 3, 7, 20


def run(folder: Path, *words: str) -> str:
    (folder / "f.c").write_text(SOURCE)
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", *words, "-m", "skylake-gold-6148"], cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_team_is_explained_at_its_own_line(tmp_path: Path) -> None:
    told = run(tmp_path, "explain", f"f.c:{BOTH}")
    assert told.startswith(f"f.c:{BOTH}  omp parallel in both: 2 loops\n")
    assert "The parallel region runs 5 times" in told
    for line, function in ((HALF, "half"), (OTHER, "other")):
        assert f"f.c:{line} in {function} runs 20 times" in told
    # What it says is what the loops' own pages say of their team.
    (hint,) = (line for line in told.splitlines() if line.startswith("Parallel region of 2 loops"))
    assert hint in run(tmp_path, "explain", f"f.c:{HALF}").splitlines()
    # A loop's own line is still the loop.
    assert run(tmp_path, "explain", f"f.c:{HALF}").startswith(f"f.c:{HALF}  omp for in half")


def test_a_team_that_shares_a_loop_by_hand(tmp_path: Path) -> None:
    told = run(tmp_path, "explain", f"f.c:{BYHAND}")
    assert told.startswith(f"f.c:{BYHAND}  omp parallel in byhand: 1 loop\n")
    assert "runs 1 time:" in told


def test_rows_of_teams_have_the_function_of_their_directive(tmp_path: Path) -> None:
    table = run(tmp_path, "predict", "f.c")
    assert re.search(rf"^ +{BOTH} +both +2 loops", table, re.MULTILINE)
