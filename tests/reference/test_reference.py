"""`docs/reference.md` and the manual pages say what `--help` says; its examples are calls."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import click
import pytest
from print_reference import MANUAL, PAGE, commands, manual_pages, roff

from regionpredict.cli.examples import EXAMPLES
from regionpredict.cli.group import group
from regionpredict.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
AGAIN = "make docs UPDATE=1 prints it anew"


@pytest.fixture(scope="module")
def printed() -> tuple[str, dict[str, str]]:
    """The page and the manual pages, by a process of their own: a command that was called before
    keeps the words of its --help."""
    code = (
        "import json; from print_reference import manual_pages, reference;"
        "print(json.dumps([reference(), manual_pages()]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, check=True, timeout=600,
        capture_output=True, text=True,
    )  # fmt: skip
    page, pages = json.loads(done.stdout)
    return page, pages


def test_the_page_is_that_of_the_commands(printed: tuple[str, dict[str, str]]) -> None:
    assert PAGE.read_text() == printed[0], AGAIN


def test_the_manual_pages_are_those_of_the_commands(printed: tuple[str, dict[str, str]]) -> None:
    pages = printed[1]
    assert {path.name for path in MANUAL.iterdir()} == set(pages), AGAIN
    for name, text in pages.items():
        assert (MANUAL / name).read_text() == text, f"{name}: {AGAIN}"


def test_every_command_has_examples_and_a_line_of_help() -> None:
    names = {name.removeprefix("regionpredict").strip() for name, _ in commands()} - {""}
    assert set(EXAMPLES) == names
    for name, context in commands():
        assert context.command.help, name
        if name != "regionpredict":
            assert f"  {name} " in context.get_help() + " ", name


@pytest.mark.parametrize("line", sorted({line for lines in EXAMPLES.values() for line in lines}))
def test_an_example_is_a_call(line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its command, options and values are taken as they stand; nothing is run."""
    monkeypatch.chdir(tmp_path)
    context = click.Context(group, info_name="regionpredict")
    command: click.Command = group
    words = shlex.split(line)
    while isinstance(command, click.Group):
        inner = command.get_command(context, words[0])
        assert inner is not None
        command, rest = inner, words[1:]
        if isinstance(inner, click.Group):
            context, words = click.Context(inner, context, words[0]), rest
        else:
            inner.make_context(words[0], rest, parent=context)


def test_an_option_that_there_is_not_is_no_call() -> None:
    command = group.get_command(click.Context(group), "predict")
    assert command is not None
    with pytest.raises((click.UsageError, UsageError)):
        command.make_context("predict", ["src", "--no-such"])


def test_text_that_looks_like_a_macro_is_text() -> None:
    assert roff(".SH a-b\\n") == "\\&.SH a\\-b\\en"
    assert roff("'quoted'") == "\\&'quoted'"


@pytest.mark.skipif(shutil.which("man") is None, reason="needs man")
@pytest.mark.parametrize("page", ["regionpredict.1", "regionpredict-trace-waits.1"])
def test_a_manual_page_is_shown_without_a_warning(page: str) -> None:
    done = subprocess.run(
        ["man", "--warnings", "-l", str(MANUAL / page)], capture_output=True, text=True,
        check=False, env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "SYNOPSIS" in done.stdout
    assert "--help" in done.stdout


def test_the_wheel_installs_them(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    pages = [name for name in names if "/data/share/man/man1/regionpredict" in name]
    assert len(pages) == len(manual_pages())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("regionpredict ", {"predict", "trace", "measure"}),
        ("regionpredict trace ", {"waits", "factors"}),
        ("regionpredict predict --form", {"--format"}),
        ("regionpredict predict --format ", {"json", "sarif", "slurm"}),
        ("regionpredict predict src -m d", {"dunnington"}),
        ("regionpredict machines show h", {"host"}),
        ("regionpredict explain RP20", {"RP201", "RP207"}),
    ],
)
def test_a_shell_completes_commands_options_and_choices(words: str, offered: set[str]) -> None:
    known = words.split(" ")
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict"], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "_REGIONPREDICT_COMPLETE": "bash_complete",
             "COMP_WORDS": words, "COMP_CWORD": str(len(known) - 1)},
    )  # fmt: skip
    found = {line.partition(",")[2] for line in done.stdout.splitlines()}
    assert offered <= found, done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_its_own(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict"], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "_REGIONPREDICT_COMPLETE": f"{shell}_source"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{shell}_complete" in done.stdout
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=done.stdout, text=True, check=False)
        assert checked.returncode == 0
