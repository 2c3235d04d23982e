"""The exit codes of every command, as a shell sees them of the installed program.

0: done; 1: the input, or an expectation, failed; 2: the command was used wrongly. A test that
calls a command inside this process would not see an exit code that is dropped on the way out.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from regionpredict.cli.group import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).parent / "regionpredict"

LOOP = """#define N 1000
double a[N], b[N];
void f(void)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[i] = 2 * b[i];
}
"""
GROWTH = {"constant": lambda p: 5.0, "linear": lambda p: 3.0 + 2 * p}
MEASURED = "PARAMETER p\nPOINTS 2 4 8 16 32\nMETRIC time\n" + "".join(
    f"REGION {name}\n" + "".join(f"DATA {f(p)}\n" for p in (2, 4, 8, 16, 32))
    for name, f in GROWTH.items()
)
FEW = "POINTS 2 4 8\nREGION main\nDATA 1\nDATA 2\nDATA 3\n"


def expecting(*entries: str) -> str:
    lines = "".join(f"  - {{{entry}}}\n" for entry in entries)
    return f"measurements: m.txt\nexpectations:\n{lines}" if entries else "expectations: []\n"


FILES = {
    "loop.c": LOOP,
    "m.txt": MEASURED,
    "few.txt": FEW,
    "both.txt": MEASURED + "REGION short\nDATA 1\nDATA 2\n",
    "empty.json": json.dumps({"parameters": ["p"], "measurements": {}}),
    "holds.yaml": expecting("callpath: linear, expect: p"),
    "broken.yaml": expecting("callpath: linear, expect: log p"),
    "near.yaml": expecting("callpath: linear, expect: p log p, deviation: p"),
    "nothing.yaml": expecting(),
    "proposal.yaml": expecting("callpath: linear"),
    "unmeasured.yaml": expecting("callpath: elsewhere, expect: p"),
    "rule.yaml": expecting("callpath: linear", "callpath: constant")
    + "rules:\n  - linear <= constant\n",
}


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    own = {"XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(
        [str(PROGRAM), *words], cwd=folder, env={**os.environ, **own}, text=True,
        capture_output=True, timeout=600, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("exit")
    for name, text in FILES.items():
        (made / name).write_text(text)
    done = run(made, "predict", "loop.c", "-m", "dunnington", "--format", "json", "-o", "h.json")
    assert done.returncode == 0, done.stderr
    return made


DONE = [
    "analyze loop.c",
    "predict loop.c -m dunnington",
    "sizes loop.c -m dunnington",
    "explain RP101",
    "explain loop.c:5 -m dunnington",
    "machines list",
    "machines show dunnington",
    "machines check dunnington",
    "coschedule h.json h.json -m dunnington",
    "cache show",
    "fit m.txt",
    "fit m.txt --predict p=64 --format json",
    "fit few.txt --format data-csv",
    "expect holds.yaml",
    "expect near.yaml",
    "--version",
]
FAILED = [
    ("analyze no.c", "no.c: no such file or folder"),
    ("predict no.c -m dunnington", "no.c: no such file or folder"),
    ("predict loop.c -m no.yaml", "no.yaml: no such machine file"),
    ("sizes no.c -m dunnington", "no.c: no such file or folder"),
    ("explain loop.c:99 -m dunnington", "no region at this line"),
    ("machines show nowhere", "no machine is called 'nowhere'"),
    ("machines check no.yaml", "no.yaml: no such machine file"),
    ("calibrate -o no/host.yaml", "cannot be written"),
    ("measure --threads 1 -- false", "false ended with exit code 1"),
    ("measure -- true", "true wrote no measurements"),
    ("compare h.json no.jsonl", "no.jsonl: cannot be read"),
    ("study --source loop.c -m dunnington -o st -- false", "false ended with exit code 1"),
    ("coschedule no.json h.json -m dunnington", "no.json: cannot be read"),
    ("run --hints no.json -- true", "no.json: cannot be read"),
    ("run --hints h.json -- true", "no parallel region in this program"),
    ("fit no.txt", "no.txt: no such file or folder"),
    ("fit few.txt", "few.txt:2: main: 3 different points, at least 5 are needed"),
    ("fit few.txt --format json", "3 different points"),
    ("fit both.txt", "both.txt:16: short, time: 2 different points"),
    ("fit empty.json", "empty.json: it contains no series"),
    ("fit m.txt --filter nothing", "no call path matches 'nothing'"),
    ("fit m.txt --plot no/a.svg", "no/a.svg: cannot be written"),
    ("fit m.txt --tree --predict n=3", "there is no parameter 'n'"),
    ("fit m.txt --metric joules", "there is no metric 'joules'"),
    ("expect no.yaml", "no.yaml: cannot be read"),
    ("expect nothing.yaml", "nothing.yaml: nothing was checked"),
    ("expect nothing.yaml --format json", "nothing.yaml: nothing was checked"),
    ("expect proposal.yaml", "proposal.yaml: nothing was checked"),
    ("expect unmeasured.yaml", "unmeasured.yaml: nothing was checked"),
]
MISUSED = [
    "predict loop.c",
    "explain RP999",
    "explain RP101 loop.c",
    "explain RP101 -m dunnington",
    "explain RP101 --set n=4",
    "machines nowhere",
    "calibrate --time-budget 0s -o y.yaml",
    "cc",
    "measure",
    "cache nowhere",
    "fit",
    "fit m.txt --max-terms 0",
    "fit m.txt --parameter p",
    "fit m.txt --plot a.gif",
    "fit m.txt --plot a.svg --drawing contour",
    "fit m.txt --sort value",
    "fit m.txt --plot a.svg --fix p=3",
    "fit m.txt --drawing curves",
    "fit m.txt --fix p=3",
    "fit m.txt --until 9",
    "fit m.txt --format data-csv --plot a.svg",
    "predict loop.c -m dunnington --plot a.gif",
    "predict loop.c -m dunnington --model density --plot a.svg",
    "predict loop.c -m dunnington --dump facts --plot a.svg",
    "expect holds.yaml --run 1,2",
    "nowhere",
]


@pytest.mark.parametrize("line", DONE)
def test_done_is_0(folder: Path, line: str) -> None:
    done = run(folder, *line.split())
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("line", ["fit m.txt", "predict no.c -m dunnington", "fit", "nowhere"])
def test_a_start_of_the_installed_program_ends_as_a_fork_of_it(folder: Path, line: str) -> None:
    """All other tests fork a program that is loaded (`warm_command`), this one starts it."""
    own = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [str(PROGRAM), *line.split()], cwd=folder, env=own, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as started:  # fmt: skip
        printed = started.communicate(timeout=600)
    done = run(folder, *line.split())
    assert (started.returncode, *printed) == (done.returncode, done.stdout, done.stderr)
    assert done.returncode == (1 if "no.c" in line else 0 if "m.txt" in line else 2)


@pytest.mark.parametrize(("line", "message"), FAILED)
def test_failed_is_1_with_a_line(folder: Path, line: str, message: str) -> None:
    done = run(folder, *line.split())
    assert done.returncode == 1, done.stdout
    assert message in done.stderr
    lines = [one for one in done.stderr.splitlines() if not one.startswith("warning: ")]
    assert all(one.startswith("regionpredict: ") for one in lines)


@pytest.mark.parametrize("line", MISUSED)
def test_misused_is_2_with_a_line(folder: Path, line: str) -> None:
    done = run(folder, *line.split())
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("regionpredict: ")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("predct f.c", "No such command 'predct' (did you mean 'predict'?); see"),
        ("tasks shwo run", "No such command 'shwo' (did you mean 'show'?); see"),
        ("zzz", "No such command 'zzz'; see"),
    ],
)
def test_a_command_that_there_is_not_is_told_the_nearest(
    folder: Path, line: str, said: str
) -> None:
    done = run(folder, *line.split())
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"regionpredict: {said}")


@pytest.mark.parametrize("form", ["table", "json", "junit"])
def test_a_broken_expectation_is_1_and_says_where(folder: Path, form: str) -> None:
    done = run(folder, "expect", "broken.yaml", "--format", form)
    assert done.returncode == 1
    assert done.stderr == ""  # what is wrong is the result
    word = {"table": "not as expected", "json": '"passed": false', "junit": "<failure "}[form]
    assert word in done.stdout


def test_drawing_without_matplotlib_is_2_with_the_remedy(folder: Path) -> None:
    (folder / "without").mkdir(exist_ok=True)
    (folder / "without" / "matplotlib.py").write_text("raise ImportError\n")
    path = f"{folder / 'without'}{os.pathsep}{ROOT}"
    done = run(folder, "fit", "m.txt", "--plot", "a.svg", PYTHONPATH=path)
    assert done.returncode == 2
    assert done.stderr == (
        "regionpredict: drawing needs matplotlib; python3 -m pip install 'regionpredict[plot]'\n"
    )
    assert not (folder / "a.svg").exists()


def test_a_broken_rule_is_1(folder: Path) -> None:
    done = run(folder, "expect", "rule.yaml")
    assert done.returncode == 1
    assert re.search(r"^linear <= constant: .*  broken$", done.stdout, re.MULTILINE)


def test_approximate_is_1_where_strict(folder: Path) -> None:
    assert run(folder, "expect", "near.yaml", "--strict").returncode == 1
    assert run(folder, "expect", "holds.yaml", "--strict").returncode == 0


@pytest.mark.compiler
def test_a_compiler_ends_as_it_would_by_itself(folder: Path) -> None:
    assert run(folder, "cc", "--", "gcc", "-fopenmp", "-c", "loop.c").returncode == 0
    assert run(folder, "cc", "--", "gcc", "-c", "no.c").returncode == 1


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "cc"])
def test_every_command_knows_help_and_refuses_what_it_does_not_know(
    folder: Path, command: str
) -> None:
    assert run(folder, command, "--help").returncode == 0
    done = run(folder, command, "--no-such-option")
    assert done.returncode == 2
    assert done.stderr.startswith("regionpredict: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_reader_that_leaves_is_no_success(folder: Path) -> None:
    """Standard output on a full device takes nothing."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(PROGRAM), "fit", "m.txt"], cwd=folder, stdout=full, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
