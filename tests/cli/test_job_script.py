"""The job script: arguments of the program, and kernels that it never comes to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """\
#include <stdlib.h>
static double a[8000000], b[8000000];
void unused(int n, double *v)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) v[i] = b[i];
}
static void kernel(int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = b[i];
}
int main(int argc, char **argv)
{
    kernel(atoi(argv[1]));
    return 0;
}
"""


def _script(folder: Path, source: str, *words: str) -> list[str]:
    (folder / "f.c").write_text(source)
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", "f.c", "-m", "dunnington", "--format",
         "slurm", *words],
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_kernel_that_main_never_comes_to_has_no_say(tmp_path: Path) -> None:
    lines = _script(tmp_path, SOURCE, "--set", "n=4000000")
    assert "# excluded, because no main reaches it: f.c:5" in lines
    assert not any("Sizes: assumed large" in line for line in lines)
    assert "# 1 loop weighted by predicted time" in lines
    alone = SOURCE.replace(SOURCE[SOURCE.index("void unused") : SOURCE.index("static void k")], "")
    options = [line for line in lines if line.startswith("#SBATCH")]
    assert options == [line for line in _script(tmp_path, alone, "--set", "n=4000000")
                       if line.startswith("#SBATCH")]  # fmt: skip


def test_a_kernel_that_the_run_never_comes_to_is_left_out(tmp_path: Path) -> None:
    lines = _script(tmp_path, SOURCE, "--args", "4000000")
    assert "# 1 loop weighted by predicted time" in lines
    assert not any("f.c:5" in line or "Sizes: assumed large" in line for line in lines)


def test_without_a_main_every_kernel_counts(tmp_path: Path) -> None:
    library = SOURCE[: SOURCE.index("int main")].replace("static void", "void")
    lines = _script(tmp_path, library)
    assert not any("excluded, because" in line for line in lines)
    assert "# 2 loops weighted by predicted time" in lines
    assert any("Sizes: assumed large" in line for line in lines)


def test_the_program_has_its_arguments(tmp_path: Path) -> None:
    *_, last = _script(tmp_path, SOURCE, "--args", "4000000 -v 'a b'")
    assert last.endswith(" ./program 4000000 -v 'a b'")
    assert _script(tmp_path, SOURCE)[-1].endswith(" ./program")
