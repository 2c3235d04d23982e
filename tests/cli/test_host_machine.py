"""`-m host`: measured once, kept, told in one line; and what is said where -m is missing."""

from __future__ import annotations

import re
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from regionpredict.cli import machine_option, this_host
from regionpredict.machine.detect import read_sysfs
from tests.cli.command_line import call

SOURCE = """\
double a[1000];
void f(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) a[i] = 1;
}
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(machine_option, "CALIBRATION_S", 0.5)
    path = tmp_path / "f.c"
    path.write_text(SOURCE)
    return str(path)


@pytest.mark.compiler
def test_the_host_is_measured_once(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    if not any(shutil.which(name) for name in this_host.COMPILERS):
        pytest.skip("needs a compiler")
    monkeypatch.setattr(machine_option, "QUIET_WAIT_S", 0.0)  # other tests run beside this one
    first = call(monkeypatch, capsys, "predict", source, "-m", "host")
    assert first.code == 0, first.err
    assert re.search(r"^host: \d+ package", first.out, re.MULTILINE)
    found = re.fullmatch(
        r"(?:warning: other processes kept .*\n)?"
        r"note: host: \d+ x \d+ cores, measured in \d+ s, kept in (\S+\.yaml)\n",
        first.err,
    )
    assert found is not None, first.err
    [kept] = (tmp_path / "cache" / "regionpredict" / "hosts").iterdir()
    assert str(kept) == found[1]
    assert stat.S_IMODE(kept.stat().st_mode) & 0o022 == 0
    text = kept.read_text()
    monkeypatch.setattr(machine_option, "_measure_host", _must_not)
    for command in ("predict", "sizes"):
        again = call(monkeypatch, capsys, command, source, "-m", "host")
        assert re.fullmatch(r"note: host: \d+ x \d+ cores, as measured today \(\S+\)\n", again.err)
    told = call(monkeypatch, capsys, "explain", f"{source}:3", "-m", "host")
    assert told.code == 0
    assert kept.read_text() == text
    shown = call(monkeypatch, capsys, "machines", "show", "host")
    assert shown.out.startswith("host: ")


def _must_not(*_: object) -> str:
    raise AssertionError("measured again")


def test_a_host_is_the_same_whatever_its_memory_and_clock() -> None:
    """A virtual machine has other amounts at each start; another kernel measures otherwise."""
    host = read_sysfs()
    key = machine_option._host_key(host)
    assert machine_option._host_key(replace(host, memory_bytes=1 << 30, clock_hz=1e9)) == key
    assert machine_option._host_key(replace(host, packages=host.packages + 1)) != key
    assert machine_option._host_key(replace(host, simd_bits=128_000)) != key


def test_a_file_that_others_can_write_is_measured_anew(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("PATH", str(tmp_path))  # no compiler here
    first = call(monkeypatch, capsys, "predict", source, "-m", "host")
    assert first.code == 0
    assert "not measured: no C compiler: none of gcc, cc, clang is there" in first.err
    assert first.err.count("\n") == 1
    [kept] = (tmp_path / "cache" / "regionpredict" / "hosts").iterdir()
    assert kept.name.endswith(".shape.yaml")
    whole = kept.with_name(kept.name.replace(".shape", ""))
    whole.write_text("name: forged\n")
    whole.chmod(0o666)
    again = call(monkeypatch, capsys, "predict", source, "-m", "host")
    assert "not measured" in again.err


@pytest.mark.parametrize("command", ["predict", "sizes", "explain"])
def test_without_a_machine_one_line_tells_the_choice(
    source: str, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = f"{source}:3" if command == "explain" else source
    done = call(monkeypatch, capsys, command, place)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "regionpredict: no machine; add -m host for this one, -m FILE, or -m NAME of "
        "`regionpredict machines list`\n"
    )


@pytest.mark.slow  # `test_campaign.py` has a busy host, too
@pytest.mark.compiler
@pytest.mark.usefixtures("busy_core")
def test_on_a_busy_host_the_wait_is_told_once(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not any(shutil.which(name) for name in this_host.COMPILERS):
        pytest.skip("needs a compiler")
    monkeypatch.setattr(machine_option, "QUIET_WAIT_S", 0.9)
    done = call(monkeypatch, capsys, "predict", source, "-m", "host")
    told = [line for line in done.err.splitlines() if "waiting" in line]
    assert told == ["note: host: other processes use this host: waiting, 1 s at most"]
