"""`--args` on the command line, over several files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import call

MAIN = """\
#include <stdlib.h>
#include "solve.h"
int rows;
int main(int argc, char **argv)
{
    struct grid g = {1, 1};
    rows = 10;
    if (argc > 2) rows = atoi(argv[2]);
    g.nx = atoi(argv[1]);
    for (int t = 0; t < g.nx / 2; t++) solve(&g);
    return 0;
}
"""
SOLVE = """\
#include "solve.h"
double a[1000];
void solve(struct grid *g)
{
#pragma omp parallel for
    for (int i = 0; i < g->nx * rows; i++) a[i] = 1;
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "solve.c").write_text(SOLVE)
    (tmp_path / "solve.h").write_text(
        "extern int rows; struct grid { int nx, ny; }; void solve(struct grid *g);\n"
    )
    return tmp_path


@pytest.mark.parametrize("command", ["analyze", "predict", "explain", "sizes"])
def test_values_go_through_all_files(
    folder: Path, command: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    words = {
        "analyze": ["analyze", str(folder), "--format", "json"],
        "predict": ["predict", str(folder), "-m", "dunnington", "--format", "json"],
        "explain": ["explain", f"{folder}/solve.c:5", str(folder), "-m", "dunnington"],
        "sizes": ["sizes", str(folder), "-m", "dunnington"],
    }[command]
    done = call(monkeypatch, capsys, *words, "--args", "60 7")
    assert (done.code, done.err) == (0, "")
    if command == "sizes":
        assert done.out == "Hints are known for 1 of 1 loop: no size is needed\n"
    elif command == "explain":
        assert "Iterations shared among the threads: g->nx*rows = 420" in done.out
    else:
        [region] = json.loads(done.out)["regions"]
        assert region["iterations"] == {"expr": "g->nx*rows", "value": 420}
        if command == "predict":
            assert region["executions"]["value"] == 30


def test_what_is_set_goes_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["analyze", str(folder), "--format", "json", "--args", "60 7", "--set", "rows=2"]
    done = call(monkeypatch, capsys, *words)
    assert json.loads(done.out)["regions"][0]["iterations"]["value"] == 120


@pytest.mark.parametrize(
    ("file", "args", "code", "said"),
    [
        ("", "60 7 8", 0, "note: {0}/main.c: no code that can be executed reads the argument 8\n"),
        ("/solve.c", "60", 2, "regionpredict: --args: no function main in what was read; give all "
         "files of the program\n"),
        ("", "'60", 2, "regionpredict: --args '60: no closing quotation; write it as in a shell\n"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(
    folder: Path, file: str, args: str, code: int, said: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    done = call(monkeypatch, capsys, "analyze", f"{folder}{file}", "--args", args)
    assert (done.code, done.err) == (code, said.format(folder))


BLOCKS = """\
#include <stdlib.h>
struct mesh { int n; double *x; int *list; double *grown; };
static void make(struct mesh *m, int n)
{
    m->n = n;
    m->x = malloc(4 * n * sizeof *m->x);
    m->list = calloc(n + 1, sizeof(int));
    for (int i = 0; i < n; i++) m->list[i] = rand();
    m->grown = realloc(NULL, 8 * n);
}
static void gather(struct mesh *m, double *sum)
{
#pragma omp parallel for
    for (int i = 0; i < m->n; i++) sum[i] = m->x[m->list[i]] + m->grown[m->list[i]];
}
int main(int argc, char **argv)
{
    struct mesh m;
    make(&m, atoi(argv[1]));
    double *sum = malloc(m.n * sizeof(double));
    gather(&m, sum + 1);
    return 0;
}
"""


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_blocks_are_as_long_as_they_are_allocated(
    tmp_path: Path, frontend: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "mesh.c").write_text(BLOCKS)
    done = call(monkeypatch, capsys, "analyze", str(tmp_path), "--args", "60", "--dump", "program",
                "--frontend", frontend)  # fmt: skip
    told = {line.strip() for line in done.out.splitlines()}
    assert {"define m->n = 60", "define m->x[] = 240", "define m->list[] = 61"} <= told
    assert not any(line.startswith(("define sum[]", "define m->grown[] = ")) for line in told)
