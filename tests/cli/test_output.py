"""Where results go: whole or not at all, through real processes with their exit codes."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from regionpredict.cli.durations import parse_duration
from regionpredict.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
C = "void f(double *a) {\n#pragma omp parallel for\nfor (int i = 0; i < 100; ++i) a[i] = i;\n}\n"
POINTS = "POINTS 1 2 4 8 16\nREGION main\nMETRIC time\n" + "".join(
    f"DATA {3 + 2 * p}\n" for p in (1, 2, 4, 8, 16)
)
BROKEN = "measurements: m.txt\nmetric: time\nexpectations:\n  - {callpath: main, expect: 1}\n"
COMMANDS = {
    "analyze": ["analyze", "f.c"],
    "predict": ["predict", "f.c", "-m", "epyc-7452"],
    "fit": ["fit", "m.txt"],
    "machines detect": ["machines", "detect"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "f.c").write_text(C)
    (tmp_path / "m.txt").write_text(POINTS)
    return tmp_path


def call(*words: str, cwd: Path, **streams: object) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.run(
        [sys.executable, "-m", "regionpredict", *words],
        cwd=cwd, env=settings, text=True, errors="surrogateescape", check=False, timeout=600,
        **streams,  # type: ignore[call-overload]
    )  # fmt: skip


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_device_is_one_line(folder: Path, name: str) -> None:
    before = sorted(folder.iterdir())
    with Path("/dev/full").open("w") as full:
        done = call(*COMMANDS[name], cwd=folder, stdout=full)
    assert done.returncode == 1
    assert "No space left on device" in last_line(done)
    done = call(*COMMANDS[name], "-o", "/dev/full", cwd=folder)
    assert done.returncode == 1
    assert last_line(done).startswith("regionpredict: /dev/full: cannot be written: No space")
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("words", [["machines", "list"], ["--help"], ["explain", "RP101"]])
def test_a_full_device_is_one_line_for_what_prints_by_itself(folder, words) -> None:
    with Path("/dev/full").open("w") as full:
        done = call(*words, cwd=folder, stdout=full)
    assert done.returncode == 1
    assert "No space left on device" in last_line(done)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_closed_pipe_is_silence(folder: Path, name: str) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = call(*COMMANDS[name], cwd=folder, stdout=write)
    finally:
        os.close(write)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("target", ["none/x", "f.c/x", ".", "x" * 300, "/proc/x"])
def test_what_cannot_be_written_is_one_line(folder: Path, name: str, target: str) -> None:
    before = sorted(folder.iterdir())
    done = call(*COMMANDS[name], "-o", target, cwd=folder)
    assert done.returncode == 1
    assert target in last_line(done)
    assert sorted(folder.iterdir()) == before


def test_the_drawing_of_fit_and_what_expect_keeps_go_the_same_way(folder: Path) -> None:
    (folder / "e.yaml").write_text(BROKEN)
    assert call("fit", "m.txt", "--plot", "none/x.svg", cwd=folder).returncode == 1
    done = call("expect", "e.yaml", "--junit", "none/x.xml", cwd=folder)
    assert done.returncode == 1
    assert "none/x.xml: cannot be written" in last_line(done)


@pytest.mark.parametrize("name", COMMANDS)
def test_links_beside_the_file_are_left_alone(folder: Path, name: str) -> None:
    victim = folder / "victim"
    victim.write_text("mine")
    for link in ("out.part", ".out.part"):
        (folder / link).symlink_to(victim)
    done = call(*COMMANDS[name], "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert victim.read_text() == "mine"
    assert (folder / "out").read_text()
    assert (folder / "out.part").is_symlink()
    left = {path.name for path in folder.iterdir()}
    assert left == {"f.c", "m.txt", "victim", "out", "out.part", ".out.part"}


def test_a_link_that_is_the_file_itself_is_followed(folder: Path) -> None:
    (folder / "real").write_text("old")
    (folder / "real").chmod(0o640)
    (folder / "out").symlink_to("real")
    assert call("fit", "m.txt", "-o", "out", cwd=folder).returncode == 0
    assert (folder / "out").is_symlink()
    assert "2*p" in (folder / "real").read_text()
    assert (folder / "real").stat().st_mode & 0o777 == 0o640


BOUND_BY_PERMISSIONS = """
import ctypes, os, sys
# Without CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH (capabilities(7)), root may read and write what
# the permissions of a file say, as any other user, and still reads the package in its own home.
if os.geteuid() == 0:
    for capability in (1, 2):
        if ctypes.CDLL(None).prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
            sys.exit("no permission to drop a capability")
os.chmod(".", int(sys.argv[1], 8))
os.execv(sys.executable, [sys.executable, "-m", "regionpredict", *sys.argv[2:]])
"""


def call_bound_by_permissions(
    *words: str, cwd: Path, mode: str = "755"
) -> subprocess.CompletedProcess[str]:
    """Calls the command in a folder of this mode, where permissions hold for root, too."""
    try:
        return subprocess.run(
            [sys.executable, "-c", BOUND_BY_PERMISSIONS, mode, *words], cwd=cwd, check=False,
            timeout=600, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    finally:
        cwd.chmod(0o755)


def test_a_read_only_folder_is_one_line(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o555)
    done = call_bound_by_permissions("fit", "m.txt", "-o", "closed/x", cwd=folder)
    assert done.returncode == 1
    assert last_line(done) == (
        "regionpredict: closed/x: cannot be written: Permission denied; choose another -o FILE"
    )
    assert list(closed.iterdir()) == []


def test_broken_expectations_fail_the_command(folder: Path) -> None:
    (folder / "e.yaml").write_text(BROKEN)
    done = call("expect", "e.yaml", cwd=folder)
    assert "not as expected" in done.stdout
    assert done.returncode == 1
    (folder / "e.yaml").write_text(BROKEN.replace("expect: 1", "expect: p"))
    done = call("expect", "e.yaml", cwd=folder)
    assert done.returncode == 0, done.stdout


def test_series_without_a_model_fail_the_command(folder: Path) -> None:
    (folder / "m.txt").write_text(POINTS + "REGION other\nDATA 1\nDATA 2\n")
    done = call("fit", "m.txt", cwd=folder)
    assert "2*p" in done.stdout
    assert done.returncode == 1
    assert last_line(done).startswith("regionpredict: m.txt:")


def test_junit_of_odd_names_is_xml(folder: Path) -> None:
    odd = os.fsdecode(b'caf\xe9\x1b[31m\x01<&>".txt')
    (folder / odd).write_text(POINTS)
    (folder / "e.yaml").write_text(BROKEN.replace("m.txt", json.dumps(odd, ensure_ascii=True)))
    (folder / os.fsdecode(b"e\xe9\x1b.yaml")).write_text(BROKEN.replace("expect: 1", "expect: p"))
    for expectations in ("e.yaml", os.fsdecode(b"e\xe9\x1b.yaml")):
        done = call("expect", expectations, "--junit", "r.xml", cwd=folder)
        assert "Traceback" not in done.stderr
        if done.returncode == 0:
            suite = ElementTree.parse(folder / "r.xml").getroot()[0]
            assert suite.get("name") == r"expectations of e\udce9\x1b.yaml"
            assert suite.get("tests") == "1"
        else:
            assert done.stderr.count("\n") == 1


NAMES = [b"a\nb.c", b"caf\xe9.c", b"a\tb.c", b"\x1b[31m.c"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", [["analyze"], ["predict", "-m", "epyc-7452"]])
def test_a_file_of_a_strange_name_is_one_line_and_takes_no_other_down(
    folder, name, command
) -> None:
    plain = call(*command, ".", cwd=folder)
    (folder / os.fsdecode(name)).write_text(C)
    done = call(*command, ".", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == plain.stdout
    told = [line for line in done.stderr.splitlines() if "RP004" in line]
    assert len(told) == 1
    assert "a file name that is not one line of UTF-8 text" in told[0]
    assert told[0].isprintable()
    (folder / "f.c").unlink()
    alone = call(*command, ".", cwd=folder)
    assert alone.returncode == 1
    assert len(alone.stderr.splitlines()) == 1
    assert alone.stdout == ""


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_a_name_of_quotes_and_commas_leaves_output_well_formed(folder, form) -> None:
    name = "a,b\"c'.c"
    (folder / "f.c").rename(folder / name)
    done = call("predict", ".", "-m", "epyc-7452", "--format", form, cwd=folder)
    assert done.returncode == 0, done.stderr
    if form == "json":
        (region,) = json.loads(done.stdout)["regions"]
        assert region["file"] == name
    elif form == "csv":
        header, row = csv.reader(io.StringIO(done.stdout))
        assert row[header.index("file")] == name
    else:
        assert any(name in line for line in done.stdout.splitlines())
    into = call("predict", ".", "-m", "epyc-7452", "--format", form, "-o", "out", cwd=folder)
    assert into.returncode == 0
    assert (folder / "out").read_text() == done.stdout


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("1.5", 1.5), ("10m", 600), ("2h", 7200), ("2m30s", 150),
     ("1h2m3s", 3723), ("1h30", 3630), ("0.5m", 30)],
)  # fmt: skip
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text, "--timeout") == seconds


@pytest.mark.parametrize(
    "text",
    ["", "0", "-1", "1x", "m", "1s2m", "nan", "inf", "1e3", "9" * 30, "٣s", "1 m", "400h400h"],
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(UsageError, match="not a time"):
        parse_duration(text, "--timeout")


def test_all_commands_read_durations_alike(folder: Path) -> None:
    for words in (
        ["measure", "--time-budget", "2m30x", "--", "./p"],
        ["measure", "--timeout", "2m30x", "--", "./p"],
        ["calibrate", "--time-budget", "2m30x", "-o", "m.yaml"],
    ):
        done = call(*words, cwd=folder)
        assert done.returncode == 2
        assert "2m30x: not a time; write 30s, 10m, 2m30s or 2h" in last_line(done)
    done = call("measure", "--time-budget", "2m30s", "--", "./p", cwd=folder)
    assert "not a time" not in done.stderr


def test_a_folder_closed_to_the_user_is_searched_for_nothing(folder: Path) -> None:
    """As one that is reached by its number, or lies in somebody's home: nothing there is read."""
    (folder / "regionpredict.toml").write_text("not = [read")
    done = call_bound_by_permissions("fit", "m.txt", cwd=folder, mode="0")
    assert done.returncode == 1
    assert last_line(done) == "regionpredict: m.txt: Permission denied; get permission for it"


def in_shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = f"{sys.executable} -m regionpredict"
    return subprocess.run(
        ["sh", "-c", line.replace("CALL", command)], cwd=cwd, capture_output=True, text=True,
        check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=600,
    )  # fmt: skip


def test_a_closed_output_is_one_line_and_a_file_is_written_all_the_same(folder: Path) -> None:
    done = in_shell("CALL fit m.txt >&-", folder)
    assert done.returncode == 1
    assert last_line(done).startswith("regionpredict: standard output: cannot be written: ")
    done = in_shell("CALL fit m.txt -o out.txt >&-", folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert (folder / "out.txt").read_text() == in_shell("CALL fit m.txt", folder).stdout


def test_closed_notes_and_input_cost_nothing(folder: Path) -> None:
    plain = in_shell("CALL fit m.txt", folder)
    done = in_shell("CALL fit m.txt 2>&- <&-", folder)
    assert (done.returncode, done.stdout) == (0, plain.stdout)


def test_a_deleted_working_folder_is_one_line(folder: Path) -> None:
    done = in_shell("mkdir gone && cd gone && rmdir ../gone && CALL machines list", folder)
    assert done.returncode == 1
    assert last_line(done) == "regionpredict: the working folder was deleted; change to another"


def test_timings_name_all_stages_and_the_slowest_regions(folder: Path) -> None:
    done = call("predict", "f.c", "-m", "dunnington", "--timings", "--no-cache", cwd=folder)
    assert done.returncode == 0
    said = done.stderr.splitlines()
    stages = [line.partition(":")[0] for line in said if line.endswith(" s")]
    assert stages == ["read", "analyse", "order", "predict", "teams", "advise", "report"]
    (regions,) = (at for at, line in enumerate(said) if line.startswith("regions: 1, median "))
    assert said[regions + 1].endswith(" s f.c:2")
