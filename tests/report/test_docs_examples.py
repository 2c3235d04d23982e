"""What the documents show of the command line is what it prints.

Every block ```` ```console ```` in the README and the docs that begins with a command of ours is
run from the root of the repository, and its output compared, line by line. `make demo` stands for
the commands that the Makefile gives for it.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from regionpredict.cli.group import COMMANDS
from regionpredict.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/density.md", "docs/front_end.md"]
BLOCK = re.compile(r"^```console\n\$ (.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(command, shown, id=f"{page}: {command}")
    for page in PAGES
    for command, shown in BLOCK.findall((ROOT / page).read_text())
]


def demo() -> str:
    """The command of `make demo` whose output is shown."""
    lines = (ROOT / "Makefile").read_text().split("\ndemo:")[1].split("\n\n")[0].splitlines()
    shown = next(line for line in lines if line.startswith("\t$(BIN)/regionpredict"))
    return shown.strip().replace("$(BIN)/", "").replace("$(MACHINE)", "dunnington")


def printed(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.mark.parametrize(("command", "shown"), EXAMPLES)
def test_shown_output(
    command: str, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = demo() if command == "make demo" else command
    assert printed(real, monkeypatch, capsys).splitlines() == shown.splitlines()


def option_names(command: str) -> set[str]:
    """Every option of a command and of its subcommands."""
    import importlib

    found: click.Command = importlib.import_module(f"regionpredict.cli.{command}").command
    every = [found]
    if isinstance(found, click.Group):  # `trace` loads its commands when they are called
        context = click.Context(found)
        inner = (found.get_command(context, name) for name in found.list_commands(context))
        every += [one for one in inner if one is not None]
    return {
        name
        for one in every
        for parameter in one.params
        for name in (*parameter.opts, *parameter.secondary_opts)
    }


@pytest.mark.parametrize("page", [*PAGES, "docs/rules.md", "CONTRIBUTING.md"])
def test_options_named_exist(page: str) -> None:
    """No page names an option of a command that the command has not."""
    text = (ROOT / page).read_text()
    known = {name for command in COMMANDS for name in option_names(command)}
    known |= {"--update-golden", "--help", "--version"}
    known |= {"--file"}  # of tests/mutants/run_mutants.py
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))
    assert named <= known, named - known


@pytest.mark.parametrize("page", [*PAGES, "docs/rules.md"])
def test_commands_named_exist(page: str) -> None:
    text = (ROOT / page).read_text()
    assert set(re.findall(r"(?:`|^|\$ )regionpredict ([a-z]+)", text, re.MULTILINE)) <= set(
        COMMANDS
    )


def test_the_table_of_rules_is_complete() -> None:
    from regionpredict.report.rules import rule_ids, rule_page

    rows = dict(
        re.findall(r"^\| (RP\d{3}) \| (.*?) \|", (ROOT / "docs/rules.md").read_text(), re.M)
    )
    assert tuple(sorted(rows)) == rule_ids()
    for rule in rows:
        assert rule_page(rule).startswith(f"# {rule}: ")


README_SAMPLES = [
    line.split("#")[0].strip()
    for block in re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    for line in block.splitlines() if "polybench_samples/" in line
]  # fmt: skip


def test_the_readme_gives_sizes_to_a_sample() -> None:
    assert {"--set", "-D"} <= {word for line in README_SAMPLES for word in line.split()}


@pytest.mark.parametrize("command", README_SAMPLES)
def test_commands_of_the_readme_on_samples_do_what_they_say(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)], cwd=ROOT, capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r" kernel_gemm +4000 ", done.stdout)
