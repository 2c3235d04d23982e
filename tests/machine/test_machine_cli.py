"""The commands: what they print, where, and how they end."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from regionpredict.cli.calibrate import command as calibrate
from regionpredict.cli.machines import command as machines
from regionpredict.errors import InputError, UsageError
from regionpredict.machine import load, shipped_names


def run(command: click.Command, *arguments: str):
    return CliRunner().invoke(command, list(arguments))


def test_list_names_every_machine():
    result = run(machines, "list")
    assert result.exit_code == 0
    rows = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert [row.split()[0] for row in rows] == list(shipped_names())


def test_show_draws_a_name_or_a_file(tmp_path):
    assert "package 0" in run(machines, "show", "dunnington").stdout
    path = tmp_path / "mine.yaml"
    path.write_text(MINE)
    assert "mine" in run(machines, "show", str(path)).stdout


@pytest.mark.parametrize("name", shipped_names())
def test_one_of_a_unit_is_one(name):
    """`1 store/cycle`, `1 pipe`: in the table and in what is assumed."""
    for command in ("show", "check"):
        shown = run(machines, command, name).stdout
        assert re.findall(r"(?:= | {2,})1 [a-z]+s(?:/[a-z]+)?\b", shown) == []
    assert re.search(r" 1 page walk|[ =] 1 walk\b", run(machines, "show", "dunnington").stdout)


MINE = """\
name: mine
source: a made up data sheet
node: {packages: 1, cores_per_package: 4, clock: 2 GHz}
caches: [{level: 1, size: 32 KiB, cores: 1, latency: 4}]
memory: {latency: 80 ns, bandwidth: {load: {1: 10, 4: 20}}}
"""


def test_check_ends_with_one_where_there_are_errors(tmp_path):
    sound = run(machines, "check", "skylake-gold-6148")
    assert sound.exit_code == 0
    assert "0 errors" in sound.stdout
    path = tmp_path / "mine.yaml"
    path.write_text(MINE.replace("80 ns", "3"))
    broken = run(machines, "check", str(path))
    assert broken.exit_code == 1
    assert broken.stdout.startswith("error: memory.latency:")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "nosuch"), "no machine is called 'nosuch'"),
        (("check", "./nosuch.yaml"), "no such machine file"),
        (("detect", "--hwloc", "/nosuch.xml"), "No such file"),
        (("detect", "--sysfs", "/nosuch", "--cpuinfo", "/nosuch"), "hides its topology"),
    ],
)
def test_a_wrong_input_is_one_line(arguments, said):
    result = run(machines, *arguments)
    assert isinstance(result.exception, InputError)
    assert result.stdout == ""
    assert len(str(result.exception).splitlines()) == 1
    assert said in str(result.exception)


def test_detect_writes_a_file_that_loads(tmp_path):
    xml = tmp_path / "m.xml"
    xml.write_text(
        '<topology><object type="Machine"><object type="Package" os_index="0">'
        '<object type="L1Cache" cache_size="32768" cache_type="1"><object type="Core">'
        '<object type="PU" os_index="0"/></object></object></object></object></topology>'
    )
    out = tmp_path / "found.yaml"
    result = run(machines, "detect", "--hwloc", str(xml), "-o", str(out))
    assert result.exit_code == 0, result.stderr
    assert load(out).name == "found"
    assert load(out).cores == 1
    printed = run(machines, "detect", "--hwloc", str(xml), "--name", "found")
    assert printed.stdout == out.read_text()


def test_nothing_is_left_behind_where_the_file_cannot_be_written(tmp_path):
    xml = tmp_path / "m.xml"
    xml.write_text("<topology/>")
    out = tmp_path / "none" / "m.yaml"
    result = run(machines, "detect", "--hwloc", str(xml), "-o", str(out))
    assert result.exit_code == 1
    assert list(tmp_path.iterdir()) == [xml]


@pytest.mark.parametrize("budget", ["soon", "0", "-3s", ""])
def test_calibrate_refuses_what_is_no_time(tmp_path, budget):
    result = run(calibrate, "-o", str(tmp_path / "m.yaml"), f"--time-budget={budget}")
    assert isinstance(result.exception, UsageError)
    assert "not a time" in str(result.exception)


def test_calibrate_says_that_a_compiler_is_missing(tmp_path):
    result = run(calibrate, "-o", str(tmp_path / "m.yaml"), "--cc", "no-such-compiler-here")
    assert result.exit_code == 1
    assert "no compiler 'no-such-compiler-here'" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_importing_the_commands_imports_nothing_heavy():
    source = Path(calibrate.callback.__code__.co_filename).parent
    for name in ("machines.py", "calibrate.py"):
        top = [
            line
            for line in (source / name).read_text().splitlines()
            if line.startswith(("import ", "from "))
        ]
        assert not any("yaml" in line or "regionpredict.machine" in line for line in top)
