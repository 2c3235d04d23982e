"""How often a condition holds, given by its line: on the command line, in files, from Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import regionpredict.api
from tests.cli.command_line import Outcome

SOURCE = """\
void f(int n, double *a, double *b, const double *c) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    if (c[i] > 0.5)
      a[i] = a[i] * 3.0;
    else
      b[i] = 1.0 / b[i];
    if (c[i] > 2.0) for (int j = 0; j < 4; j++) a[i] += j;
    if (c[i] > 3.0) a[i] = 1; if (c[i] > 4.0) b[i] = 1;
  }
}
void g(int n, int mode, double *a) {
  if (mode > 3) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = 1;
  }
}
"""
BODY = "fp_compare x4, fp_mul x{:g}, fp_div x{:g}; "


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "f.c").write_text(SOURCE)
    return tmp_path


def run(folder: Path, *words: str) -> Outcome:
    """The command as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr)


def body(folder: Path, *words: str) -> str:
    outcome = run(folder, "predict", "f.c", "-m", "dunnington", "--dump", "workload", *words)
    assert outcome.code == 0, outcome.err
    return next(line for line in outcome.out.splitlines() if "body of i (line 3)" in line)


@pytest.mark.parametrize("text", ["0.25", "25%", ".25", "25 %", "+0.250"])
def test_a_share_is_given_by_the_line_of_its_if(folder: Path, text: str) -> None:
    assert BODY.format(0.25, 0.75) in body(folder, "--set", "n=1000", "--set", f"f.c:4={text}")


def test_all_commands_that_take_sizes_take_shares(folder: Path) -> None:
    given = ("--set", "n=100000000", "--set", "f.c:4=0%")
    for command in (
        ("predict", "f.c", "-m", "dunnington"),
        ("analyze", "f.c"),
        ("explain", "f.c:2", "-m", "dunnington"),
        ("sizes", "f.c", "-m", "dunnington"),
    ):
        outcome = run(folder, *command, *given)
        assert outcome.code == 0, outcome.err
        assert "f.c:4" not in outcome.err
    seconds = []
    for share in ("0%", "100%"):
        outcome = run(folder, "predict", "f.c", "-m", "dunnington", "--format", "json", "--set",
                      "n=1000", "--set", f"f.c:4={share}")  # fmt: skip
        document = json.loads(outcome.out)
        assert f"f.c:4={share}" in document["request"]["given"]
        seconds.append(document["teams"][0]["seconds"])
    assert seconds[0] > seconds[1]  # a division takes longer than a product


def test_a_file_of_sizes_and_of_settings(folder: Path) -> None:
    (folder / "sizes.yaml").write_text("small:\n  n: 1000\n  f.c:4: 25%\n")
    assert BODY.format(0.25, 0.75) in body(folder, "--sizes", "sizes.yaml")
    assert BODY.format(1, 0).replace(", fp_div x0", "") in body(
        folder, "--sizes", "sizes.yaml", "--set", "f.c:4=1"
    )
    hints = run(folder, "predict", "f.c", "-m", "dunnington", "--format", "json", "--sizes",
                "sizes.yaml").out  # fmt: skip
    assert json.loads(hints)["request"]["given"] == ["n=1000", "f.c:4=25%"]  # as `run` reads it
    (folder / "regionpredict.toml").write_text('set = {n = 1000, "f.c:4" = 0.125}\n')
    assert BODY.format(0.125, 0.875) in body(folder)


def test_python_gives_a_number(folder: Path) -> None:
    def seconds(share: float) -> float | None:
        hints = regionpredict.api.predict(
            folder / "f.c", "dunnington", sizes={"n": 1000, "f.c:4": share}
        )
        return hints["f.c:2"].seconds

    none, every = seconds(0.0), seconds(1.0)
    assert none is not None and every is not None and none > every


def test_the_dump_shows_what_was_given(folder: Path) -> None:
    for frontend in ("libclang", "pycparser"):
        outcome = run(folder, "analyze", "f.c", "--frontend", frontend, "--dump", "program",
                      "--set", "f.c:4=12.5%")  # fmt: skip
        assert outcome.out.count("given)") == 1
        assert "if c[i] > 0.5 (true 12.5 %, given)" in outcome.out


def test_a_line_with_a_loop_and_a_condition(folder: Path) -> None:
    """A whole number is the loop's iterations, a share the condition's."""
    dumps = {
        text: run(folder, "predict", "f.c", "-m", "dunnington", "--dump", "workload", "--set",
                  "n=1000", "--set", f"f.c:8={text}").out
        for text in ("1", "100%", "25%")
    }  # fmt: skip
    assert "body of j (line 8) runs 1000:" in dumps["1"]
    assert "body of j (line 8) runs 4000:" in dumps["100%"]
    assert "body of j (line 8) runs 1000:" in dumps["25%"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("f.c:4=1.5", "f.c:4: 150% is not a share between 0 and 1; give the share"),
        ("f.c:4=-0.1", "f.c:4: -10% is not a share"),
        ("f.c:4=-1", "f.c:4: -1 is not a share"),
        ("f.c:4=17", "f.c:4: 17 is not a share"),
        ("f.c:8=130%", "a whole number is the iterations of the loop at this line"),
        ("f.c:3=0.5", "f.c:3: a loop at this line, and no condition with a share; give the loop's"),
        ("f.c:5=0.5", "f.c:5: no condition in a region at this line; the nearest are at: 4, 8, 9"),
        ("f.c:9=0.5", "f.c:9: several conditions at this line; put each on a separate line"),
        ("f.c:13=0.5", "f.c:13: the condition at this line is counted: it is decided by mode"),
        ("g.c:4=0.5", "g.c:4: no loop of a region in a file 'g.c'; write FILE:LINE"),
        ("n=0.5", "n=0.5: not NAME=INTEGER"),
        ("f.c:4=half", "f.c:4=half: not NAME=INTEGER"),
    ],
)
def test_what_is_no_share_is_refused_in_one_line(folder: Path, given: str, says: str) -> None:
    outcome = run(folder, "predict", "f.c", "-m", "dunnington", "--set", "n=9", "--set", given)
    assert outcome.code == 2
    assert outcome.out == ""
    [line] = outcome.err.splitlines()
    assert line.startswith("regionpredict: --set ")
    assert says in line


def test_two_shares_for_one_line(folder: Path) -> None:
    outcome = run(folder, "analyze", "f.c", "--set", "f.c:4=0.25", "--set", "f.c:4=30%")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--set f.c:4: two values, 25% and 30%" in outcome.err
    assert run(folder, "analyze", "f.c", "--set", "f.c:4=0.25", "--set", "f.c:4=25%").code == 0


def test_a_wrong_share_of_a_file_is_told_with_its_line(folder: Path) -> None:
    (folder / "sizes.yaml").write_text("n: 1000\nf.c:4: 125%\n")
    outcome = run(folder, "predict", "f.c", "-m", "dunnington", "--sizes", "sizes.yaml")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("regionpredict: sizes.yaml:2: f.c:4: 125% is not a share")
