"""`diff` as a process: trees, commits of a real repository, hints files, and `--fail-if`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from regionpredict.report.hints import schema

STREAM = """\
#define N 4000000
static double a[N], b[N];
static int p[N];
void copy(void)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[i] = b[i];
}
void scale(void)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[i] = 2.0 * a[i];
}
"""
EDITED = STREAM.replace("b[i];", "b[p[i]];").replace("static int", "\n\nstatic int")
MACHINE = ("-m", "dunnington")


def run(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words], cwd=cwd, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    """Before in `old`, after in `new`."""
    for name, text in (("old", STREAM), ("new", EDITED)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.c").write_text(text)
    return tmp_path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose commit has the loop as it was, and whose folder as it is."""
    code = tmp_path / "code" / "src"
    code.mkdir(parents=True)
    (code / "a.c").write_text(STREAM)
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "before")):
        who = ("-c", "user.name=n", "-c", "user.email=e@x")
        subprocess.run(["git", *who, *words], cwd=tmp_path / "code", check=True)
    (code / "a.c").write_text(EDITED)
    return tmp_path / "code"


def test_two_trees_say_what_changed_and_why(trees: Path) -> None:
    done = run(trees, "diff", "old", "new", *MACHINE)
    assert done.returncode == 0, done.stderr
    head, blank, place, *reasons = done.stdout.splitlines()
    assert head == "2 regions on dunnington, old -> new: 1 changed, 1 the same"
    assert (blank, place) == ("", "new/a.c:8 copy")
    assert "    was old/a.c:6 copy" in reasons
    assert "    new: read b[p[i]], irregular" in reasons
    assert "    gone: read b[i]" in reasons
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_absolute_paths_are_shown_below_their_folder(trees: Path) -> None:
    done = run(trees, "diff", str(trees / "old"), str(trees / "new"), *MACHINE)
    head, *lines = done.stdout.splitlines()
    assert head == "2 regions on dunnington, old -> new: 1 changed, 1 the same"
    assert f"Files are below {trees}/" in " ".join(" ".join(lines).split())
    assert "new/a.c:8 copy" in lines
    assert "    was old/a.c:6 copy" in lines


def test_a_tree_is_as_it_was(trees: Path) -> None:
    done = run(trees, "diff", "old", "old", *MACHINE, "--fail-if", "gain<baseline")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "2 regions on dunnington, old -> old: 2 the same\n"


def test_json_holds_its_schema_and_every_region(trees: Path) -> None:
    told = json.loads(run(trees, "diff", "old", "new", *MACHINE, "--format", "json").stdout)
    jsonschema.Draft202012Validator(schema("diff-1")).validate(told)
    assert [(one["change"], one["function"]) for one in told["regions"]] == [
        ("changed", "copy"), ("same", "scale"),
    ]  # fmt: skip
    copied = told["regions"][0]
    assert copied["new"]["seconds"] > copied["old"]["seconds"]


def test_a_commit_against_the_folder(repository: Path) -> None:
    done = run(repository, "diff", "HEAD", "src", *MACHINE)
    assert done.returncode == 0, done.stderr
    assert "src/a.c:8 copy" in done.stdout
    assert "was src/a.c:6 copy" not in done.stdout  # the same file and function
    inside = run(repository / "src", "diff", "HEAD", ".", *MACHINE)
    assert "a.c:8 copy" in inside.stdout
    back = run(repository, "diff", "src", "HEAD", *MACHINE)
    assert "src/a.c:6 copy" in back.stdout
    both = run(repository, "diff", "HEAD", "HEAD", *MACHINE)
    assert both.stdout.endswith("HEAD -> HEAD: 2 the same\n")
    left = [path.name for path in repository.iterdir()]
    assert sorted(left) == [".git", "src"]


def test_hints_against_a_tree_and_against_hints(trees: Path) -> None:
    for name in ("old", "new"):
        run(trees, "predict", name, *MACHINE, "--format", "json", "-o", f"{name}.json")
    expected = run(trees, "diff", "old", "new", *MACHINE).stdout.splitlines()[1:]
    assert run(trees, "diff", "old.json", "new", *MACHINE).stdout.splitlines()[1:] == expected
    assert run(trees, "diff", "old.json", "new.json").stdout.splitlines()[1:] == expected
    needless = run(trees, "diff", "old.json", "new.json", *MACHINE)
    assert needless.returncode == 2
    assert "leave it out" in needless.stderr


def test_two_machines_are_named(trees: Path) -> None:
    for machine in ("dunnington", "clovertown"):
        run(trees, "predict", "old", "-m", machine, "--format", "json", "-o", f"{machine}.json")
    done = run(trees, "diff", "dunnington.json", "clovertown.json")
    assert "dunnington.json on dunnington -> clovertown.json on clovertown" in " ".join(
        done.stdout.split()
    )


def test_conditions_end_with_one(trees: Path) -> None:
    words = ("diff", "old", "new", *MACHINE, "--fail-if", "seconds>1.5*baseline")
    done = run(trees, *words)
    assert done.returncode == 1
    assert done.stdout.startswith("2 regions")
    (line,) = done.stderr.splitlines()
    assert line.startswith("regionpredict: new/a.c:8 copy: seconds>1.5*baseline (seconds ")
    assert run(trees, *words[:-1], "seconds>99*baseline").returncode == 0


def test_predict_takes_conditions_without_a_baseline(trees: Path) -> None:
    done = run(trees, "predict", "old", *MACHINE, "--fail-if", "packages>9")
    assert (done.returncode, done.stderr) == (0, "")
    done = run(trees, "predict", "old", *MACHINE, "--fail-if", "threads>0")
    assert done.returncode == 1
    assert [line.split()[1:3] for line in done.stderr.splitlines()] == [
        ["old/a.c:6", "copy:"], ["old/a.c:11", "scale:"],
    ]  # fmt: skip
    assert run(trees, "predict", "old", *MACHINE, "--fail-if", "gain<baseline").returncode == 2


def test_markdown_is_a_table_with_the_reasons_folded(trees: Path) -> None:
    text = run(trees, "diff", "old", "new", *MACHINE, "--format", "markdown").stdout
    assert "| Region | Before | Now |" in text
    assert "| new/a.c:8 copy | " in text
    assert text.count("<details>") == text.count("</details>") == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("nowhere", "new", *MACHINE), 1, "nowhere: no such file, folder or commit; give hints"),
        (("old", "new"), 2, "no machine; add -m"),
        (("old", "new", *MACHINE, "--fail-if", "x<1"), 2, "--fail-if x<1: no field x"),
        (("bad.json", "new", *MACHINE), 1, "bad.json: regionpredict/facts/1, not a hints file"),
        (("list.json", "new", *MACHINE), 1, "list.json:1"),
    ],
)
def test_wrong_calls_are_one_line(
    trees: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    (trees / "bad.json").write_text('{"schema": "regionpredict/facts/1"}')
    (trees / "list.json").write_text("[1, 2")
    done = run(trees, "diff", *words)
    assert done.returncode == code
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"regionpredict: {message}")


def test_a_path_that_the_commit_has_not_is_told(repository: Path) -> None:
    (repository / "later").mkdir()
    (repository / "later" / "b.c").write_text(STREAM)
    done = run(repository, "diff", "HEAD", "later", *MACHINE)
    assert done.returncode == 1
    assert (
        done.stderr == "regionpredict: HEAD:later: not in that commit; give a path that both have\n"
    )


@pytest.mark.parametrize(
    "words", ["-m clovertown", "-D N=4", "--set n=4", "--model density", "--threads 1,2", "-j 2"]
)
def test_two_hints_files_take_no_option_of_predict(trees: Path, words: str) -> None:
    for name in ("old", "new"):
        run(trees, "predict", name, *MACHINE, "--format", "json", "-o", f"{name}.json")
    done = run(trees, "diff", "old.json", "new.json", *words.split())
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("regionpredict: -")
    assert "has no effect on two hints files, which are already predicted; leave it out" in line
    assert run(trees, "diff", "old.json", "new.json", "--fail-if", "packages<1").returncode == 0


def test_what_moved_in_time_or_in_sureness_alone_is_told_so(trees: Path) -> None:
    """The loops are as they were: nothing is promised of their hints that did not change."""
    run(trees, "predict", "old", *MACHINE, "--format", "json", "-o", "old.json")
    hints = json.loads((trees / "old.json").read_text())
    first, second = hints["regions"]
    first["seconds"] *= 2
    second["confidence"] -= 0.2
    (trees / "new.json").write_text(json.dumps(hints))
    told = run(trees, "diff", "old.json", "new.json").stdout
    assert "2 changed (1 only in time, 1 only in confidence)" in " ".join(told.split())
    _, copied, scaled = told.split("\n\n")
    assert ", as before" in copied
    assert "2.00 times as long at the hint" in copied
    assert "Only the time changed" in copied
    was = round(100 * (second["confidence"] + 0.2))
    assert f"    confidence {was} % -> {was - 20} %\n" in scaled
    assert "Only the confidence changed" in scaled
    assert "times as" not in scaled
