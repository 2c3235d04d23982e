"""What somebody types in the first hour, as a process: the one line names the way on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from further_cases import further_slow

HEAT = """\
void step(int nx, int ny, double *a, const double *b)
{
#pragma omp parallel for
    for (int i = 1; i < nx - 1; i++)
        for (int j = 1; j < ny - 1; j++)
            a[i * ny + j] = b[i * ny + j - 1] + b[i * ny + j + 1];
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "heat.c").write_text(HEAT)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "heat.c").write_text(HEAT)
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "regionpredict", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ}
    )


def refused(done: subprocess.CompletedProcess[str], code: int) -> str:
    """The one line, without the program's name."""
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("regionpredict: ")
    return line.removeprefix("regionpredict: ")


@pytest.mark.parametrize("given", further_slow(2, ["heat.c", "src", "./src/heat.c"]))
@pytest.mark.parametrize("paths", [[], ["heat.c"]])
def test_a_source_given_as_machine(folder: Path, given: str, paths: list[str]) -> None:
    said = refused(run(folder, "predict", *paths, "-m", given), 2)
    what = "a folder" if given == "src" else "a source"
    assert said == (
        f"-m {given}: {what}, no machine; choose a machine: regionpredict predict {given} "
        "-m dunnington, or -m host for this one"
    )
    assert run(folder, "predict", given, "-m", "dunnington").returncode == 0


def test_a_source_given_as_machine_of_what_takes_no_paths(folder: Path) -> None:
    said = refused(run(folder, "coschedule", "a.json", "b.json", "-m", "heat.c"), 2)
    assert said.endswith("choose a machine, as -m dunnington, or -m host for this one")


def test_a_machine_file_without_its_folder(folder: Path) -> None:
    (folder / "mynode").write_text("name: mynode\n")
    assert refused(run(folder, "predict", "heat.c", "-m", "mynode"), 1).endswith(
        "write a file as a path, ./mynode"
    )
    assert "./mynode" in refused(run(folder, "predict", "heat.c", "-m", "./mynode"), 1)


def test_a_drawing_is_told_of_as_a_result_is(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    sizes = ("--set", "nx=1000", "--set", "ny=1000")
    done = run(folder, "predict", "heat.c", "-m", "dunnington", *sizes, "--plot", "curves.svg")
    assert (done.returncode, done.stderr) == (0, "written: curves.svg\n")
    assert (folder / "curves.svg").read_text().startswith("<?xml")
    both = run(folder, "predict", "heat.c", "-m", "dunnington", *sizes, "--plot", "curves.svg",
               "-o", "hints.txt")  # fmt: skip
    assert both.stderr.splitlines() == ["written: curves.svg", "written: hints.txt"]


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "{}", "runs.jsonl"),
        ("compare", "--at-measured-sizes", "{}", "runs.jsonl"),
        ("run", "--hints", "{}", "--", "true"),
        ("coschedule", "{}", "{}", "-m", "dunnington"),
    ],
)
def test_what_is_given_for_hints_is_named_and_how_they_are_made(
    folder: Path, words: tuple[str, ...]
) -> None:
    make = "make hints: regionpredict predict {} -m MACHINE --format json -o hints.json"
    made = run(folder, "predict", "heat.c", "-m", "dunnington", "-o", "table.txt")
    assert made.returncode == 0
    begun = {"kind": "campaign", "schema": "regionpredict/measurements/1"}
    (folder / "runs.jsonl").write_text(json.dumps(begun) + "\n")
    (folder / "facts.json").write_text('{"schema": "regionpredict/facts/1"}')
    for given, said, source in (
        ("heat.c", "a source, not a hints file", "heat.c"),
        ("runs.jsonl", "measurements, not a hints file", "SOURCE"),
        ("facts.json", "regionpredict/facts/1, not a hints file", "SOURCE"),
    ):
        told = refused(run(folder, *(word.format(given) for word in words)), 1)
        assert told == f"{given}: {said}; {make.format(source)}"
    assert make.format("SOURCE") in refused(
        run(folder, *(word.format("table.txt") for word in words)), 1
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nz", "no region depends on it; the regions depend on: nx, ny"),
        ("nyy", "no region depends on it; did you mean 'ny'? There are also: nx"),
        ("step:nz", "no region of 'step' depends on it; they depend on: nx, ny"),
    ],
)
def test_an_unknown_size_is_answered_with_those_there_are(
    folder: Path, given: str, said: str
) -> None:
    done = run(folder, "predict", "heat.c", "-m", "dunnington", "--set", f"{given}=100")
    assert refused(done, 2) == f"--set {given}: {said}"


@pytest.mark.parametrize(
    ("text", "place", "said"),
    further_slow(
        2,
        [
            ("machine = [\n", "", "not closed or not complete at the end of the file"),
            (
                "# mine\nmachine dunnington\n",
                ":2:9",
                "expected '=' after a key in a key/value pair",
            ),
            ("machine = dunnington\n", ":1:11", "invalid value; put text in quotes"),
            ('machine = "a"\nmachine = "b"\n', ":2:14", "cannot overwrite a value"),
        ],
    ),
)
def test_a_configuration_that_cannot_be_read(
    folder: Path, text: str, place: str, said: str
) -> None:
    (folder / "regionpredict.toml").write_text(text)
    told = refused(run(folder, "predict", "heat.c"), 1)
    assert told.startswith(f"{folder / 'regionpredict.toml'}{place}: not TOML: {said}")
    assert told.endswith("as in docs/configuration.md, or leave it out with --no-config")
    assert run(folder, "--no-config", "predict", "heat.c", "-m", "dunnington").returncode == 0


def test_what_open_sizes_decide_is_predicted_for_large_ones(folder: Path) -> None:
    done = run(folder, "predict", "heat.c", "src/heat.c", "-m", "dunnington", "--all")
    assert "\n2 loops: 2 predicted\nOrigin of sizes: assumed large\n" in done.stdout
    given = run(folder, "predict", "heat.c", "-m", "dunnington", "--set", "nx=90", "--set", "ny=90")
    assert "\n1 loop: 1 predicted\n" in given.stdout


LARGE = """\
void large(double *a) {
#pragma omp parallel for
    for (int i = 0; i < 4000000; i++) a[i] += 1;
}
"""
SMALL = """\
void small(double *a) {
#pragma omp parallel for
    for (int i = 0; i < 400; i++) a[i] *= a[i];
}
"""
MAIN = """\
void large(double *), small(double *);
double a[4000000];
int main(void) {
    for (int t = 0; t < 100; t++) { large(a); small(a); }
    return 0;
}
"""


def test_why_a_plan_has_other_threads_than_its_rows_is_told(folder: Path) -> None:
    (folder / "main.c").write_text(MAIN)
    (folder / "large.c").write_text(LARGE)
    (folder / "small.c").write_text(SMALL)
    words = ("predict", "main.c", "large.c", "small.c", "-m", "dunnington")
    shown = run(folder, *words, "--all").stdout
    hints = json.loads(run(folder, *words, "--format", "json").stdout)
    planned = {team["id"]: team["threads"] for team in hints["plan"]["teams"]}
    own = {team["id"]: team["threads"] for team in hints["teams"]}
    other = sum(planned[name] != own[name] for name in planned)
    told = " ".join(shown.split())
    assert other
    assert f"The plan gives {other} of {len(planned)} parallel regions another number of" in told
