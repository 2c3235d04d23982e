"""The examples of every `--help` in a pipe: no row of a table is wider than 80 columns.

Each example is run as it stands, but for the host, which takes long to measure, as a process whose
output goes into a pipe: nothing is broken there, and a line with wide gaps between words is a row.
Sentences are told whole. Names of files and functions are long, as they are in real programs. A
line that is one word may be wider: a path, a name.

Standard error is left out: an error is one line, with its place and remedy, by design.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from regionpredict.cli.examples import EXAMPLES
from tests.reference.print_reference import commands, help_text

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).parent / "example_sources"
DEEP = "discretisation_of_the_equations_of_motion/finite_volumes_on_unstructured_meshes"
CALL_PATH = "main->sort_the_particles_by_cell_and_by_species_of_the_plasma->merge_runs"
POINTS = (1000, 2000, 4000, 8000, 16000)

TASKS = """\
#include <stdlib.h>
static void descend_the_tree_of_cells_of_the_particles_in_parallel(int depth)
{
    if (depth == 0) return;
#pragma omp task
    descend_the_tree_of_cells_of_the_particles_in_parallel(depth - 1);
#pragma omp task
    descend_the_tree_of_cells_of_the_particles_in_parallel(depth - 1);
#pragma omp taskwait
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) / 4 : 6;
#pragma omp parallel
#pragma omp single
    descend_the_tree_of_cells_of_the_particles_in_parallel(n > 9 ? 9 : n);
    return 0;
}
"""

NOT_RUN = {
    "calibrate -o node.yaml": "measures for half a minute, and prints nothing",
    "calibrate src --from runs.jsonl -m node.yaml -o better.yaml": "needs ten measured regions",
    "cc -- gcc -O2 -fopenmp -c gemm.c": "prints what the compiler prints",
    "cc -v -- clang -fopenmp gemm.c -o gemm": "prints what the compiler prints",
    "expect openmp --run 1,2,3,4,6 --junit results.xml": "measures; growth.yaml has the same table",
    "lsp -m dunnington": "a protocol",
    "bench -m host --format html -o bench.html": "measures for minutes",
    "study --source src -m host -o study -- ./program": "measures for minutes, and prints a page",
    "trace record -o traces -- mpirun -n 4 ./program": "prints what the program prints",
}
ON_SOURCES = (
    "analyze src", "analyze gemm.c --set ni=4000 --format csv", "predict src -m dunnington",
    "predict gemm.c -m host --set ni=4000 --plot curves.pdf",
    "predict src -m node.yaml --format json -o hints.json", "sizes src -m dunnington",
    "sizes src -m host --format yaml -o sizes.yaml", "explain gemm.c:41 -m dunnington",
    "explain src/solve.c:40 src -m dunnington", "explain RP101",
    "diff HEAD~1 src -m dunnington", "diff old.json new.json --fail-if 'packages<baseline'",
    "coschedule a.json b.json -m dunnington",
)  # fmt: skip
OF_MACHINES = (
    "machines list", "machines show dunnington", "machines check node.yaml",
    "machines detect -o node.yaml", "cache show", "cache clear",
)  # fmt: skip
OF_POINTS = (
    "fit points.csv --predict p=1024", "fit sort.txt --plot sort.pdf",
    "fit runs.jsonl --tree --format json", "expect growth.yaml",
    "isoefficiency times.csv --at p=60 --efficiency 0.8",
    'isoefficiency --formula "1 - 0.3*p^0.5*n^-0.25" --at p=60',
)  # fmt: skip
MEASURED = (
    "measure --threads 1,2,4 -o runs.jsonl -- ./program 2000",
    "measure --resume -o runs.jsonl -- ./program 2000",
    "compare hints.json runs.jsonl", "compare hints.json runs.jsonl --plot scatter.pdf",
    "compare hints.json runs.jsonl --min-success 75", "run --hints hints.json -- ./program",
    "run --share night --hints hints.json -- ./program",
)  # fmt: skip
OF_TASKS = (
    "tasks record -o run -- ./program", "tasks record -o run --threads 2 -- ./program 1000",
    "tasks show run", "tasks show run --plot graph.pdf", "tasks simulate run --threads 1-64",
    "tasks simulate run --what-if", "tasks replay run --threads 1,2",
    "tasks isoefficiency --sizes 20,22,24,26,28 -- ./program {n}",
    "tasks isoefficiency --cores 64 --plot contours.pdf",
)  # fmt: skip
OF_TRACES = (
    "trace waits traces.otf2", "trace waits traces.otf2 --plot timeline.pdf",
    "trace delays traces.otf2 --top 5", "trace critical-path traces.otf2 --plot timeline.pdf",
    "trace imbalance traces.otf2", "trace what-if traces.otf2 --top 5",
    "trace messages traces.otf2 --format csv -o matrix.csv",
    "trace export traces.otf2 -o timeline.json",
    "trace convert traces.otf2 --ranks 0-3 -o store",
    "trace factors run_*.prv --extrapolate 1e6 --plot factors.pdf",
    "trace history factors/*.json --badge badge.svg",
)  # fmt: skip


def test_every_example_is_run_or_has_a_reason() -> None:
    groups = (ON_SOURCES, OF_MACHINES, OF_POINTS, MEASURED, OF_TASKS, OF_TRACES, tuple(NOT_RUN))
    listed = [line for group in groups for line in group]
    assert len(listed) == len(set(listed))
    assert set(listed) == {line for lines in EXAMPLES.values() for line in lines}


def run(folder: Path, line: str, *more: str) -> str:
    """What a line of ours prints into a pipe, read as a shell would."""
    words: list[str] = []
    for word in shlex.split(line):
        files = folder.glob(word) if "*" in word else ()
        found = sorted(path.relative_to(folder).as_posix() for path in files)
        words += found or [word]
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", *more, *words], cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode in (0, 1), (line, done.stderr)
    assert "Traceback" not in done.stderr
    # On a busy host a campaign leaves too few undisturbed runs for a picture, and one line says so.
    nothing = done.stderr.startswith("regionpredict: nothing to draw: ")
    assert done.returncode == 0 or done.stdout or nothing, (line, done.stderr)
    return done.stdout


def wide_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > 80 and len(line.split()) > 1]


def too_wide(text: str) -> list[str]:
    """Rows of tables: lines with columns, which have two spaces or more between them."""
    return [line for line in wide_lines(text) if "  " in line.strip()]


def _quickly(line: str) -> str:
    """The same without what takes time or a quiet host."""
    return (
        line.replace("-m host", "-m node.yaml")
        .replace("measure ", "measure --quiet-wait none --repeat 1 ")
        .replace("20,22,24,26,28", "8,12,16 --quiet-wait none")
        .replace("compare ", "compare --with-disturbed --at-measured-sizes ")
    )


def check(folder: Path, lines: tuple[str, ...]) -> dict[str, str]:
    """Runs the lines in their order; gives what each printed."""
    printed = {line: run(folder, _quickly(line)) for line in lines}
    wide = {
        line: found
        for line, text in printed.items()
        if "--format" not in line and (found := too_wide(text))
    }
    assert wide == {}
    return printed


def sources(folder: Path) -> None:
    """gemm.c, the folder src with a file far down, and node.yaml."""
    deep = folder / "src" / DEEP
    deep.mkdir(parents=True)
    for source, target in (("gemm.c", folder), ("solve.c", folder / "src"),
                           ("upwind_fluxes.c", deep)):  # fmt: skip
        shutil.copy(SOURCES / source, target)
    shutil.copy(ROOT / "machines" / "dunnington.yaml", folder / "node.yaml")


def git(folder: Path, *words: str) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_tables_of_sources(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    sources(tmp_path)
    run(tmp_path, "predict src -m dunnington --format json -o old.json")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "src")
    git(tmp_path, "commit", "-qm", "before")
    solve = tmp_path / "src" / "solve.c"
    solve.write_text(solve.read_text().replace("0.5 * (u[i - 1]", "sin(0.5) * (u[i - 1]"))
    git(tmp_path, "commit", "-qam", "after")
    run(tmp_path, "predict src -m dunnington --format json -o new.json")
    run(tmp_path, "predict gemm.c -m dunnington --set ni=300 --format json -o a.json")
    shutil.copy(tmp_path / "new.json", tmp_path / "b.json")
    printed = check(tmp_path, ON_SOURCES)
    whole = printed["explain gemm.c:41 -m dunnington"]
    assert wide_lines(whole) == []
    run(tmp_path, "explain gemm.c:41 -m dunnington -o told.txt")
    assert (tmp_path / "told.txt").read_text() == whole


def test_tables_of_machines(tmp_path: Path) -> None:
    sources(tmp_path)
    printed = check(tmp_path, OF_MACHINES)
    lines = printed["machines list"].splitlines()
    names = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert names == sorted(path.stem for path in (ROOT / "machines").glob("*.yaml"))
    # A machine file is no table: its comments stay on their lines.
    text = run(tmp_path, "machines detect")
    comments = [line for line in text.splitlines() if line.startswith("#")]
    run(tmp_path, "machines detect -o this-host.yaml")
    assert comments == [
        line for line in (tmp_path / "this-host.yaml").read_text().splitlines()
        if line.startswith("#")
    ]  # fmt: skip


def write_points(folder: Path) -> None:
    """A table, a file of call paths of which one is long, and what is expected of them."""
    (folder / "points.csv").write_text(
        "p,time\n" + "".join(f"{p},{2 + p / 10 + k / 100}\n" for p in (2, 4, 8, 16, 32)
                             for k in range(3))
    )  # fmt: skip
    (folder / "times.csv").write_text(
        "p,n,time\n" + "".join(f"{p},{n},{(n + 300 * (p - 1)) / p / 1000}\n" for n in POINTS
                               for p in (1, 2, 4, 8, 16, 32))
    )  # fmt: skip
    lines = ["PARAMETER n", "POINTS " + " ".join(map(str, POINTS)), "METRIC time"]
    for path, power in ((CALL_PATH, 1.0), ("main->read", 2.0)):
        lines.append(f"REGION {path}")
        lines += [f"DATA {1e-6 * n**power} {1.01e-6 * n**power}" for n in POINTS]
    (folder / "sort.txt").write_text("\n".join(lines) + "\n")
    (folder / "growth.yaml").write_text(
        "measurements: sort.txt\nexpectations:\n"
        f"  - {{callpath: '{CALL_PATH}', expect: n}}\n  - {{callpath: main->read, expect: n}}\n"
    )
    points = [{"params": {"n": n}, "callpath": "main->read", "metric": "time", "value": n / 1000}
              for n in POINTS]  # fmt: skip
    (folder / "runs.jsonl").write_text("".join(json.dumps(point) + "\n" for point in points))


def test_tables_of_models(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_points(tmp_path)
    printed = check(tmp_path, OF_POINTS)
    # A call path is never cut: it is what an expectation names.
    for line in ("fit sort.txt --plot sort.pdf", "expect growth.yaml"):
        assert CALL_PATH in printed[line].splitlines()
    for more in ("--tree", "--suggest", "--tree --predict n=1e6 --predict n=1e7"):
        assert too_wide(run(tmp_path, f"fit sort.txt {more}")) == []


@pytest.mark.compiler
@pytest.mark.slow
def test_tables_of_what_was_measured(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    sources(tmp_path)
    run(tmp_path, f"cc -- gcc -O1 -g -fopenmp src/solve.c src/{DEEP}/upwind_fluxes.c -o program "
        "-lm")  # fmt: skip
    run(tmp_path, "machines detect -o node.yaml")
    run(tmp_path, "predict src -m node.yaml --format json -o hints.json")
    check(tmp_path, MEASURED)


@pytest.mark.slow
@pytest.mark.compiler
def test_tables_of_tasks(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    (tmp_path / "program.c").write_text(TASKS)
    subprocess.run(["gcc", "-O1", "-g", "-fopenmp", "program.c", "-o", "program"], cwd=tmp_path,
                   check=True)  # fmt: skip
    for line in OF_TASKS:
        if "record" in line:
            shutil.rmtree(tmp_path / "run", ignore_errors=True)
        check(tmp_path, (line,))


@pytest.mark.compiler
@pytest.mark.slow
def test_tables_of_traces(tmp_path: Path) -> None:
    pytest.importorskip("otf2")
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))
    from synthetic_trace import write_archive

    from tests.cli.test_trace_factors_command import write_run

    archive = write_archive(tmp_path / "archive", 4, 20)
    for path in archive.parent.iterdir():
        path.rename(tmp_path / path.name)
    for ranks in (2, 4, 8):
        name = write_run(tmp_path, ranks)
        for end in (".prv", ".pcf"):
            (tmp_path / name).with_suffix(end).rename(tmp_path / f"run_{ranks}{end}")
    (tmp_path / "factors").mkdir()
    for version in ("first", "second"):
        run(tmp_path, f"trace factors run_*.prv --format json -o factors/{version}.json")
    printed = check(tmp_path, OF_TRACES)
    factors = printed["trace factors run_*.prv --extrapolate 1e6 --plot factors.pdf"]
    assert [line for line in factors.splitlines() if line.split()[:1] == ["1000000"]]


def test_help_of_every_command() -> None:
    for name, context in commands():
        assert wide_lines(help_text(context)) == [], name
