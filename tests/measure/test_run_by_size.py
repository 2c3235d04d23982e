"""`regionpredict run` where a size decides the hint: threads for the iterations that are seen."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from measured_programs import environment

from regionpredict.errors import InputError
from regionpredict.measure.hints_file import END, BySize, read_hints

SOURCE = """#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static int single, first, chunked;
static void run(int n)
{
#pragma omp parallel for
    for (int i = 2; i < n + 2; i++)
        if (i == 2) single = omp_get_num_threads();
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++)
            if (i == 0) first = omp_get_num_threads();
#pragma omp for
        for (int i = 0; i < 2 * n; i++)
            ;
    }
#pragma omp parallel for schedule(dynamic, 8)
    for (int i = 0; i < n; i++)
        if (i == 0) chunked = omp_get_num_threads();
}
int main(int argc, char **argv)
{
    for (int k = 1; k < argc; k++) {
        run(atoi(argv[k]));
        printf("%d %d %d\\n", single, first, chunked);
    }
    return 0;
}
"""
LINES = {text.strip(): number for number, text in enumerate(SOURCE.splitlines(), 1)}
SINGLE, TEAM = LINES["#pragma omp parallel for"], LINES["#pragma omp parallel"]
INNER = TEAM + 2
CHUNKED = LINES["#pragma omp parallel for schedule(dynamic, 8)"]
PARTS = ((10, 1), (100, 2), (None, 3))


def hint(line: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"p.c:{line}", "file": "p.c", "line": line, "function": "run", "loop_line": line + 1,
        "status": "predicted", "packages": 1, "threads": 2, "score": 0.5,
        "bottleneck": "compute", "confidence": 0.5, "borderline": False, "speedup": [],
        "assumed": [], "range": {"packages": [1, 1], "threads": [1, 3]},
        "by_size": [
            {"name": "n", "below": below, "packages": 1, "threads": threads,
             "iterations_below": below}
            for below, threads in PARTS
        ],
        **more,
    }  # fmt: skip


def document() -> dict[str, Any]:
    return {
        "schema": "regionpredict/hints/1",
        "machine": {"name": "m", "packages": 1, "cores_per_package": 4, "sha256": ""},
        "model": "saturation",
        "regions": [hint(line) for line in (SINGLE, INNER, CHUNKED)],
        "teams": [
            hint(SINGLE, regions=[f"p.c:{SINGLE}"]),
            hint(TEAM, regions=[f"p.c:{INNER}"]),
            hint(CHUNKED, regions=[f"p.c:{CHUNKED}"]),
        ],
        "plan": None,
    }  # fmt: skip


def build(folder: Path, *command: str) -> None:
    if shutil.which("addr2line") is None or shutil.which("nm") is None:
        pytest.skip("needs binutils")
    (folder / "p.c").write_text(SOURCE)
    done = subprocess.run(
        [*command, "-g", "-O1", "-fopenmp", "p.c", "-o", "p"], cwd=folder, capture_output=True,
        text=True, timeout=600, check=False,
    )  # fmt: skip
    if done.returncode and "omp" in done.stderr:
        pytest.skip(f"{command[-1]} has no OpenMP library here")
    assert done.returncode == 0, done.stderr


def teams(folder: Path, hints: dict[str, Any], *sizes: int) -> list[str]:
    (folder / "hints.json").write_text(json.dumps(hints))
    words = ["run", "--hints", "hints.json", "--", "./p", *map(str, sizes)]
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True, text=True,
        timeout=600, check=False, env=environment(OMP_NUM_THREADS="4"),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.compiler
def test_what_the_wrapper_built_chooses_by_its_iterations(tmp_path: Path, compiler: str) -> None:
    build(tmp_path, sys.executable, "-m", "regionpredict", "cc", "--", compiler)
    # A team of loops inside goes by its first loop's last run: the first time by the most.
    assert teams(tmp_path, document(), 9, 9, 10, 99, 100, 100, 4) == [
        "1 3 1", "1 1 1", "2 1 2", "2 2 2", "3 2 3", "3 3 3", "1 3 1",
    ]  # fmt: skip


@pytest.mark.compiler
def test_never_more_than_the_program_was_given(tmp_path: Path, compiler: str) -> None:
    build(tmp_path, sys.executable, "-m", "regionpredict", "cc", "--", compiler)
    hints = document()
    for one in (*hints["regions"], *hints["teams"]):
        one["range"]["threads"] = [1, 64]
        one["by_size"][-1]["threads"] = 64
    assert teams(tmp_path, hints, 100, 100) == ["4 4 4", "4 4 4"]


@pytest.mark.compiler
def test_without_the_wrapper_the_most_of_the_range_is_given(tmp_path: Path, compiler: str) -> None:
    build(tmp_path, compiler)
    assert teams(tmp_path, document(), 9, 9) == ["3 3 3", "3 3 3"]


@pytest.mark.compiler
@pytest.mark.parametrize(("threads", "given"), [(2, "2 2 2"), (None, "3 3 3")])
def test_where_iterations_do_not_tell_the_hint_of_the_assumed_size_is_given(
    tmp_path: Path, compiler: str, threads: int | None, given: str
) -> None:
    """In a file of before it is null, and the most is given."""
    build(tmp_path, sys.executable, "-m", "regionpredict", "cc", "--", compiler)
    hints = document()
    for one in (*hints["regions"], *hints["teams"]):
        one["by_size"][0]["iterations_below"] = None
        one["threads"] = threads
    assert teams(tmp_path, hints, 4, 4) == [given, given]


@pytest.mark.parametrize(
    ("change", "sizes"),
    [
        ({}, BySize(3, ((10, 1), (100, 2), (END, 3)))),
        ({"range": None}, None),
        ({"threads": None}, BySize(3, ((10, 1), (100, 2), (END, 3)))),
        ({"by_size": []}, BySize(3, ())),
    ],
)
def test_a_hints_file_gives_choices(
    tmp_path: Path, change: dict[str, Any], sizes: BySize | None
) -> None:
    path = tmp_path / "hints.json"
    path.write_text(json.dumps({**document(), "regions": [hint(SINGLE, **change)]}))
    assert read_hints(path).regions[0].sizes == sizes


def test_a_hints_file_of_before_has_none(tmp_path: Path) -> None:
    old = {key: value for key, value in hint(SINGLE).items() if key not in ("range", "by_size")}
    path = tmp_path / "hints.json"
    path.write_text(json.dumps({**document(), "regions": [old]}))
    assert read_hints(path).regions[0].sizes is None


@pytest.mark.parametrize("threads", [[], [0, 3], "many", [1.5, 2]])
def test_a_range_that_is_none_is_one_line(tmp_path: Path, threads: object) -> None:
    path = tmp_path / "hints.json"
    wrong = hint(SINGLE, range={"packages": [1, 1], "threads": threads})
    path.write_text(json.dumps({**document(), "regions": [wrong]}))
    with pytest.raises(InputError, match=r"range\.threads") as caught:
        read_hints(path)
    assert "\n" not in str(caught.value)
