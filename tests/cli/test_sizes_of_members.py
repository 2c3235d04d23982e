"""Sizes of a program of several files whose members one place sets: one name settles all loops."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FILES = {
    "dom.h": "struct dom { int n, cells; double *u; };\nvoid init(struct dom *d, int n);\n"
    "void nodes(struct dom *d);\nvoid cells(struct dom *d);\n",
    "init.c": '#include "dom.h"\nvoid init(struct dom *d, int n) { d->n = n; d->cells = n * n; }\n',
    "loops.c": '#include "dom.h"\n'
    "void nodes(struct dom *dom) {\n"
    "#pragma omp parallel for\n"
    "  for (int i = 0; i < dom->n; i++) dom->u[i] *= 2.0;\n"
    "}\n"
    "void cells(struct dom *c) {\n"
    "#pragma omp parallel for\n"
    "  for (int i = 0; i < c->cells; i++) c->u[i] += 1.0;\n"
    "}\n",
    "main.c": '#include "dom.h"\n#include <stdlib.h>\n'
    "int main(int argc, char **argv) {\n"
    "  struct dom d;\n"
    "  int side = 100;\n"
    "  if (argc > 1) side = atoi(argv[1]);\n"
    "  init(&d, side);\n"
    "  nodes(&d); cells(&d);\n"
    "  return 0;\n"
    "}\n",
}


def ran(folder: Path, *words: str, side: str = "100") -> subprocess.CompletedProcess[str]:
    for name, text in FILES.items():
        (folder / name).write_text(text.replace("side = 100", f"side = {side}"))
    command, *rest = words
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", command, ".", *rest],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_one_name_of_main_settles_the_loops_of_another_file(tmp_path: Path) -> None:
    done = ran(tmp_path, "sizes", "-m", "dunnington", "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [(one["name"], one["settled"]) for one in told["unbound"]] == [("side", 2)]


@pytest.mark.parametrize(
    ("given", "trips"),
    [
        (("--set", "side=30"), [30, 900]),
        (("--set", "dom->n=7", "--set", "c->cells=8"), [7, 8]),
        (("--args", "40"), [40, 1600]),
    ],
)
def test_it_is_given_under_either_name_or_as_an_argument(
    tmp_path: Path, given: tuple[str, ...], trips: list[int]
) -> None:
    done = ran(tmp_path, "predict", "-m", "dunnington", "--format", "json", *given)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [region["iterations"]["value"] for region in told["regions"]] == trips


def test_clauses_speak_of_no_name_that_the_loop_does_not_have(tmp_path: Path) -> None:
    done = ran(tmp_path, "predict", "-m", "dunnington", "--format", "openmp", side="rand()")
    assert done.returncode == 0, done.stderr
    assert "num_threads(side" not in done.stdout
    assert done.stdout.count("// at assumed large sizes; otherwise ") == 2


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--set", "sdie=30"), "--set sdie: "),
        (("--set", "side=30", "--set", "side=31"), "side"),
        (("--set", "main:sdie=3"), "--set main:sdie: "),
    ],
)
def test_wrong_sizes_are_one_line(tmp_path: Path, given: tuple[str, ...], told: str) -> None:
    done = ran(tmp_path, "predict", "-m", "dunnington", *given)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()[-1:]
    assert told in line
    assert len(done.stderr.splitlines()) == 1
