"""`--sizes-from`: a small run under the wrapper binds what no reading can, at other sizes too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.compiler

ROOT = Path(__file__).resolve().parents[2]
SOLVE = """\
#include <stdio.h>
#include "sizes.h"
double a[100000], b[100000];
int rows, shown;
static void relax(void)
{
#pragma omp parallel for
    for (int i = 0; i < rows; i++) a[i] = b[i];
#pragma omp parallel for
    for (int i = 0; i < POINTS; i++) a[i] += b[i];
}
static void smooth(int n)
{
#pragma omp parallel for
    for (int i = 0; i < n - 2; i++) a[i] = b[i];
}
int main(void)
{
    int steps = 0;
    if (scanf("%d %d", &rows, &steps) != 2) return 1;
    while (steps-- > 0) relax();
    for (int n = 64; n > 8; n /= 2) smooth(n);
    return 0;
}
"""


def _run(*words: str, folder: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "regionpredict", *words]
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache")}
    settings.pop("REGIONPREDICT_CACHE", None)
    return subprocess.run(
        line, cwd=folder, env={**settings, **more.pop("env", {})}, capture_output=True, text=True,
        timeout=600, check=False, **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sources and what one run with 500 rows and 7 steps wrote."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "src").mkdir()
    (folder / "src" / "solve.c").write_text(SOLVE)
    (folder / "src" / "sizes.h").write_text(
        "#ifdef LARGE\n#define POINTS 90000\n#else\n#define POINTS 300\n#endif\n"
    )
    made = _run("cc", "--", "gcc", "-O1", "-fopenmp", "src/solve.c", "-o", "solve", folder=folder)
    assert made.returncode == 0, made.stderr
    settings = {**os.environ, "REGIONPREDICT_OUTPUT": str(folder / "run.jsonl")}
    subprocess.run(
        [str(folder / "solve")], input="500 7", text=True, env=settings, check=True, timeout=600
    )
    return folder


def _hints(folder: Path, *words: str) -> tuple[dict[int, dict[str, Any]], str]:
    done = _run("predict", "src", "-m", "dunnington", "--format", "json", *words, folder=folder)
    assert done.returncode == 0, done.stderr
    return {one["line"]: one for one in json.loads(done.stdout)["regions"]}, done.stderr


def test_a_run_binds_what_is_read_at_run_time(recorded: Path) -> None:
    before, _ = _hints(recorded)
    assert before[7]["iterations"]["value"] is None
    assert before[7]["executions"]["value"] is None
    regions, said = _hints(recorded, "--sizes-from", "run.jsonl")
    assert said == ""
    assert [regions[line]["iterations"]["value"] for line in (7, 9, 14)] == [500, 300, 62]
    # 7 steps; n = 64, 32 and 16
    assert [regions[line]["executions"]["value"] for line in (7, 9, 14)] == [7, 7, 3]
    assert "n = 64 (recorded: from 16 to 64)" in regions[14]["assumed"]
    hints = {key: regions[7][key] for key in ("packages", "threads", "speedup", "assumed")}
    given, _ = _hints(recorded, "--set", "rows=500")
    assert hints == {key: given[7][key] for key in hints}


def test_what_the_source_says_at_another_size_goes_first(recorded: Path) -> None:
    regions, said = _hints(recorded, "--sizes-from", "run.jsonl", "-D", "LARGE")
    assert [regions[line]["iterations"]["value"] for line in (7, 9)] == [500, 90000]
    [note] = said.splitlines()
    assert note == (
        "note: run.jsonl: recorded with none of these, read with -DLARGE: 2 names are as "
        "recorded: n, rows"
    )
    regions, _ = _hints(recorded, "--sizes-from", "run.jsonl", "--set", "rows=77")
    assert regions[7]["iterations"]["value"] == 77


def test_sizes_asks_no_more_for_what_is_recorded(recorded: Path) -> None:
    words = ("sizes", "src", "-m", "dunnington")
    assert "rows" in _run(*words, folder=recorded).stdout
    done = _run(*words, "--sizes-from", "run.jsonl", folder=recorded)
    assert done.stdout == "Hints are known for 3 of 3 loops: no size is needed\n"


def test_a_loop_that_has_moved_is_still_the_same(recorded: Path, tmp_path: Path) -> None:
    folder = tmp_path / "moved"
    shutil.copytree(recorded / "src", folder / "src")
    shutil.copy(recorded / "run.jsonl", folder)
    file = folder / "src" / "solve.c"
    file.write_text("/* one line more */\n" + SOLVE)
    regions, _ = _hints(folder, "--sizes-from", "run.jsonl")
    assert [regions[line]["iterations"]["value"] for line in (8, 10, 15)] == [500, 300, 62]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("i < rows", "i < 2 * rows"),
         "run.jsonl: recorded from other sources: the loop that was at "),
        (lambda text: text.replace("(int n)\n{\n#pragma omp parallel for", "(int n)\n{"),
         "solve.c:14 has changed since; build it with regionpredict cc, and measure it again"),
    ],
)  # fmt: skip
def test_other_sources_are_one_line(recorded: Path, tmp_path: Path, change: Any, said: str) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(recorded / "src", folder / "src")
    shutil.copy(recorded / "run.jsonl", folder)
    (folder / "src" / "solve.c").write_text(change(SOLVE))
    done = _run("predict", "src", "-m", "dunnington", "--sizes-from", "run.jsonl", folder=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_another_program_is_one_line(recorded: Path) -> None:
    (recorded / "other.c").write_text(SOLVE.replace('#include "sizes.h"', "#define POINTS 7"))
    done = _run(
        "predict", "other.c", "-m", "dunnington", "--sizes-from", "run.jsonl", folder=recorded
    )
    assert (done.returncode, done.stderr) == (
        1, "regionpredict: run.jsonl: recorded from another program: none of its files has these "
        "loops; predict the sources that it was built from\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "missing.jsonl: cannot be read: No such file"),
        ("", "no measurements: it is empty"),
        ("{}\n", "no measurements"),
        (
            '{"kind":"run","pid":1}\n{"kind":"region","pid":1e999,"file":null,"line":"x"}\n',
            "recorded from another program",
        ),
    ],
)
def test_what_is_no_recording_is_one_line(recorded: Path, text: str | None, said: str) -> None:
    if text is not None:
        (recorded / "wrong.jsonl").write_text(text)
    name = "missing.jsonl" if text is None else "wrong.jsonl"
    done = _run("predict", "src", "-m", "dunnington", "--sizes-from", name, folder=recorded)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_answer_is_kept_until_the_recording_changes(recorded: Path) -> None:
    copy = recorded / "copy.jsonl"
    shutil.copy(recorded / "run.jsonl", copy)
    first, _ = _hints(recorded, "--sizes-from", "copy.jsonl")
    again, _ = _hints(recorded, "--sizes-from", "copy.jsonl")
    assert first == again
    copy.write_text(copy.read_text().replace('"first":500,"least":500,"most":500',
                                             '"first":501,"least":501,"most":501'))  # fmt: skip
    regions, _ = _hints(recorded, "--sizes-from", "copy.jsonl")
    assert regions[7]["iterations"]["value"] == 501


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["bt", "ft"])
def test_the_kernels_at_another_class_are_as_read(tmp_path: Path, kernel: str) -> None:
    """A run of class S and a reading at class W: as the reading alone, to the last figure."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    samples = ROOT / "npb_samples"
    folders = [str(samples / kernel), str(samples / "common")]
    files = [str(path) for folder in folders for path in sorted(Path(folder).glob("*.c"))]
    words = ["gcc", "-O1", "-std=c99", "-fopenmp", "-DCLASS_S", f"-I{folders[1]}", *files, "-lm"]
    made = _run("cc", "--", *words, "-o", "kernel", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    run = _run(
        "measure",
        "--quiet-wait",
        "none",
        "--threads",
        "2",
        "--repeat",
        "1",
        "-o",
        "run.jsonl",
        "--",
        "./kernel",
        folder=tmp_path,
    )
    assert run.returncode == 0, run.stderr
    words = ["predict", *folders, "-I", folders[1], "-m", "dunnington", "-D", "CLASS_W",
             "--format", "json"]  # fmt: skip
    read = _run(*words, folder=tmp_path)
    told = _run(*words, "--sizes-from", "run.jsonl", folder=tmp_path)
    assert (told.returncode, told.stderr) == (0, "")
    assert '"sizes_from": "run.jsonl"' in told.stdout  # asked for, and nothing else is another
    assert told.stdout.replace('"sizes_from": "run.jsonl"', '"sizes_from": null') == read.stdout


GRID = """\
#include <cstdio>
#include <vector>
class Grid {
    int cells_, levels_;
    std::vector<double> a_;
public:
    Grid(int cells, int levels) : cells_(cells), levels_(levels), a_(cells) {}
    void fill() {
#pragma omp parallel for
        for (int i = 0; i < cells_; i++)
            for (int k = 0; k < levels_; k++) a_[i] += k;
    }
    void refine() {
#pragma omp parallel for
        for (int i = 0; i < cells_; i++) a_[i] *= 0.5;
    }
};
int main() {
    int cells, levels;
    if (scanf("%d %d", &cells, &levels) != 2) return 1;
    Grid grid(cells, levels);
    grid.fill();
    if (cells > 1000) grid.refine();
}
"""


# Names of C++ go the way that those of C go above.
@pytest.mark.slow
def test_members_are_recorded_and_loops_that_did_not_run_have_no_time(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "grid.cpp").write_text(GRID)
    made = _run("cc", "--", "g++", "-O1", "-fopenmp", "src/grid.cpp", "-o", "grid", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    settings = {**os.environ, "REGIONPREDICT_OUTPUT": str(tmp_path / "run.jsonl")}
    subprocess.run(
        [str(tmp_path / "grid")], input="500 7", text=True, env=settings, check=True, timeout=600
    )
    regions, _ = _hints(tmp_path, "--sizes-from", "run.jsonl")
    assert regions[9]["iterations"]["value"] == 500
    assert [item for item in regions[9]["assumed"] if "levels_" in item] == []
    assert regions[9]["sizes_from"] == "run"
    assert [regions[line]["executions"]["value"] for line in (9, 14)] == [1, 0]
    other, _ = _hints(tmp_path, "--sizes-from", "run.jsonl", "-D", "OTHER")
    assert other[14]["executions"]["value"] is None  # it may run in another build
    words = ("sizes", "src", "-m", "dunnington", "--sizes-from", "run.jsonl")
    asked = _run(*words, folder=tmp_path).stdout
    assert asked == "Hints are known for 1 of 1 loop: no size is needed\n"
