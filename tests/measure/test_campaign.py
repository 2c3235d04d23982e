"""`regionpredict measure`: campaigns, their files, and programs that go wrong."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from measured_programs import WRAPPER, environment

from regionpredict.errors import InputError
from regionpredict.measure.host_activity import Disturbance
from regionpredict.measure.records import Campaign, Host, RegionRun, Run
from regionpredict.measure.results import read_results
from regionpredict.measure.store import Store, read_campaign
from regionpredict.measure.summary import summarise, unconverged
from regionpredict.measure.sweep import MOST_DISTURBED, Plan, enough
from regionpredict.report.measurements import disturbed_runs

MEASURE = [sys.executable, "-m", "regionpredict", "measure", "--quiet-wait", "none"]
HOST = Host("here", "a processor", 2, 6, 1, 1)
PROGRAM = """#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int mode = argc > 1 ? atoi(argv[1]) : 0;
#pragma omp parallel for
    for (int i = 0; i < 1000; i++)
        usleep(0);
    if (mode == 1)
        abort();
    if (mode == 2)
        sleep(60);
    if (mode == 4)
        usleep(300000);
    return mode == 3 ? 3 : 0;
}
"""


def _campaign(**changes: Any) -> Campaign:
    values: dict[str, Any] = {
        "command": ("./a",), "host": HOST, "binding": {"places": "cores"}, "started": "now",
    }  # fmt: skip
    return Campaign(**{**values, **changes})


def _region(seconds: float, line: int = 7, **changes: Any) -> RegionRun:
    values: dict[str, Any] = {
        "file": "/f.c", "line": line, "loop_line": line + 1, "function": "f",
        "directive": "omp for", "build": "gcc",
        "executions": 1, "total_s": seconds, "least_s": seconds, "most_s": seconds,
        "first_s": seconds, "counted": 1, "trips": 10, "least_trips": 10, "most_trips": 10,
        "least_team": 1, "most_team": 1,
    }  # fmt: skip
    return RegionRun(**{**values, **changes})


def _run(threads: int, *regions: RegionRun, warm_up: bool = False) -> Run:
    return Run(threads, 0, warm_up, 1.0, "now", 0.5, "/a", "gcc 12", "libgomp", regions)


def test_what_is_stored_is_read(tmp_path: Path) -> None:
    store = Store(tmp_path / "m.jsonl")
    store.begin(_campaign())
    runs = (_run(1, _region(2.0)), _run(2, _region(1.0), _region(0.5, 9)))
    for run in runs:
        store.add(run)
    assert read_campaign(tmp_path / "m.jsonl") == _campaign(runs=runs)


def _beside(threads: int, others: float, stolen: float = 0.0, **changes: Any) -> Run:
    region = _region(changes.pop("seconds", 1.0))
    return replace(_run(threads, region), beside=Disturbance(others, stolen), **changes)


def test_disturbed_runs_are_stored_and_known(tmp_path: Path) -> None:
    # More than a tenth of a core busy with others, or more than 2 % of the time stolen.
    runs = (_beside(1, 0.1), _beside(1, 0.11), _beside(1, 0.0, 0.02), _beside(1, 0.0, 0.021))
    store = Store(tmp_path / "m.jsonl")
    store.begin(_campaign())
    for run in runs:
        store.add(run)
    known = read_campaign(tmp_path / "m.jsonl")
    assert known.runs == runs
    assert [run.disturbed for run in known.runs] == [False, True, False, True]
    assert known.undisturbed.runs == (runs[0], runs[2])
    assert disturbed_runs(known) == (
        "2 of 4 runs were disturbed: other processes kept up to 0.1 cores busy, "
        "up to 2 % of the time was stolen"
    )
    assert disturbed_runs(known.undisturbed) == ""


def test_the_table_takes_undisturbed_runs_where_there_are_any() -> None:
    runs = (
        _beside(1, 0.0, seconds=1.0), _beside(1, 0.9, seconds=9.0), _beside(2, 0.9, seconds=3.0)
    )  # fmt: skip
    (summary,) = summarise(_campaign(runs=runs).quietest)
    assert {n: timing.seconds for n, timing in summary.timings.items()} == {1: 1.0, 2: 3.0}


def test_disturbed_runs_are_repeated_but_not_for_ever() -> None:
    plan = Plan((1,), 2, 60.0, None, quiet_s=0.0)
    quiet, loud = _beside(1, 0.0), _beside(1, 0.9)
    assert not enough(plan, [quiet, loud], 1)
    assert enough(plan, [quiet, loud, quiet], 1)
    assert enough(plan, [loud, loud], 1)  # as many as were asked for: it will not get quiet
    assert enough(Plan((1,), 2, 60.0, None), [loud, loud], 1)
    free = Plan((1,), None, 60.0, None, quiet_s=0.0)
    assert not enough(free, [loud] * (MOST_DISTURBED - 1), 1)
    assert enough(free, [loud] * MOST_DISTURBED, 1)
    assert not enough(free, [loud] * 3 + [quiet] * 2, 1)
    assert enough(free, [loud] * 3 + [quiet] * 3, 1)


def test_a_file_cut_anywhere_is_read_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    store = Store(path)
    store.begin(_campaign())
    store.add(_run(1, _region(2.0)))
    store.add(_run(2, _region(1.0)))
    whole = path.read_bytes()
    first, second = whole.index(b"\n") + 1, whole.rindex(b"\n", 0, -1) + 1
    for cut in range(first, len(whole), 37):
        path.write_bytes(whole[:cut])
        kept = (cut >= second) + (cut >= len(whole))
        assert len(read_campaign(path).runs) == kept
        store.add(_run(4, _region(0.5)))
        assert [run.threads for run in read_campaign(path).runs] == [*[1, 2][:kept], 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no measurements: it is empty"),
        ('{"kind": "camp', "no measurements: it ends in its first line"),
        ("nonsense\n", ":1: not a line of measurements"),
        ('{"kind": "campaign", "schema": "other/9"}\n', ":1: not a line of measurements"),
        ("[1]\n", ":1: not a line of measurements"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "m").write_text(text)
    with pytest.raises(InputError, match=message.replace(":", r"\:")):
        read_campaign(tmp_path / "m")


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"host": Host("there", "a processor", 2, 6, 1, 1)}, "hosts"),
        ({"command": ("./b",)}, "programs"),
        ({"binding": {"places": "sockets"}}, "bindings"),
    ],
)
def test_mixed_campaigns_are_refused(tmp_path: Path, changes: dict[str, Any], what: str) -> None:
    store = Store(tmp_path / "m")
    store.begin(_campaign())
    store.begin(_campaign())
    store.begin(_campaign(**changes))
    with pytest.raises(InputError, match=f"m:3: measurements of different {what}"):
        read_campaign(tmp_path / "m")


def test_summary_takes_medians_of_counted_runs() -> None:
    times = {1: [4.0, 5.0, 90.0], 2: [2.0, 2.5, 2.6]}
    runs = [_run(1, _region(1000.0), warm_up=True)]
    runs += [_run(n, _region(value)) for n, values in times.items() for value in values]
    (summary,) = summarise(_campaign(runs=tuple(runs)))
    assert summary.timings[1].seconds == 5.0
    assert summary.timings[1].least == 4.0
    assert summary.speedup(2) == 2.0
    assert summary.speedup(4) is None


def test_small_regions_do_not_keep_a_campaign_open() -> None:
    noisy = [_run(1, _region(1.0), _region(value, 99)) for value in (1e-4, 5e-4, 9e-4)]
    assert unconverged(noisy, 1) == ()
    loud = [_run(1, _region(1.0), _region(value, 99)) for value in (0.1, 0.5, 0.9)]
    assert unconverged(loud, 1) == ("/f.c:99",)


def test_instances_add_up_and_ranks_do_not() -> None:
    entry = {
        "kind": "region", "pid": 1, "file": "/f.c", "line": 7, "loop_line": 8, "function": "f",
        "directive": "omp for", "build": "gcc", "flags": 2, "executions": 2, "total_ns": 100,
        "least_ns": 40, "most_ns": 60, "first_ns": 60, "counted": 2, "trips": 20, "least_trips": 5,
        "most_trips": 15, "least_team": 1, "most_team": 2,
    }  # fmt: skip
    run = {"kind": "run", "program": "p", "compiler": "c", "runtime": "r"}
    lines = [
        json.dumps(line)
        for line in (run, entry, {**entry, "most_ns": 80, "trips": 0, "counted": 0}, run,
                     {**entry, "pid": 2, "total_ns": 150})
    ]  # fmt: skip
    results = read_results([*lines, '{"kind": "region", "pid'])
    assert results.processes == 2
    (region,) = results.regions
    assert (region.executions, region.counted, region.nowait) == (4, 2, True)
    assert region.total_s == pytest.approx(200e-9)
    assert (region.most_s, region.least_trips) == (pytest.approx(80e-9), 5)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measured")
    (folder / "p.c").write_text(PROGRAM)
    line = [*WRAPPER, "gcc", "-O1", "-fopenmp", "p.c", "-o", "p"]
    done = subprocess.run(
        line,
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if "no compiler" in done.stderr:
        pytest.skip("needs gcc")
    assert done.returncode == 0, done.stderr
    return folder / "p"


def _measure(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MEASURE, *words], cwd=cwd, env=environment(), capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip


def test_a_campaign(program: Path, tmp_path: Path) -> None:
    done = _measure("--threads", "1,2", "--repeat", "3", "--", str(program), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    campaign = read_campaign(tmp_path / "measurements.jsonl")
    assert [(r.threads, r.warm_up) for r in campaign.runs] == [
        (1, True), (2, True), (2, False), (1, False), (1, False), (2, False), (2, False),
        (1, False),
    ]  # fmt: skip
    assert {r.regions[0].most_team for r in campaign.runs if r.threads == 2} == {2}
    assert campaign.runs[0].compiler.startswith("gcc ")
    assert campaign.runs[0].runtime == "libgomp"
    assert campaign.runs[0].regions[0].build == "gcc -O1 -fopenmp"
    again = _measure("--threads", "1,2", "--repeat", "3", "--", str(program), cwd=tmp_path)
    assert again.returncode == 1
    assert "measurements.jsonl: there already; use --resume" in again.stderr
    more = _measure("--resume", "--threads", "1", "--repeat", "4", "--", str(program), cwd=tmp_path)
    assert more.returncode == 0, more.stderr
    assert len(read_campaign(tmp_path / "measurements.jsonl").runs) == 9
    other = _measure("--resume", "--", str(program), "0", cwd=tmp_path)
    assert other.returncode == 1
    assert "measurements of another program cannot be mixed" in other.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{p}", "1"], "ended with signal 6 (SIGABRT) on 1 thread"),
        (
            ["--timeout", "1", "--", "{p}", "2"],
            "did not end within 1 s on 1 thread and was stopped",
        ),
        (["sh", "-c", "{p} 1; exit 134"], "ended with exit code 134 on 1 thread"),
        (
            ["sh", "-c", "echo no input; echo ===; echo; exit 3"],
            "sh ended with exit code 3 on 1 thread (it said: no input); 0 runs",
        ),
        (["true"], "wrote no measurements"),
        (["./missing"], "no program './missing'"),
        (["{folder}"], "does not run: Permission denied"),
    ],
)
def test_a_program_that_goes_wrong_is_one_line(
    program: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    given = [word.format(p=program, folder=tmp_path) for word in words]
    split = given if "--" in given else ["--", *given]
    done = _measure("--threads", "1", *split, cwd=tmp_path)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert "0 runs kept in measurements.jsonl" in done.stderr


def test_a_program_that_finds_its_result_wrong_is_measured(program: Path, tmp_path: Path) -> None:
    says = "; ".join(
        f"echo {word}" for word in ("first", "Energy: 3", "'  INVALID CHECKSUM'", "==")
    )
    words = ("--threads", "1,2", "--repeat", "2", "-o", "m")
    done = _measure(*words, "--", "sh", "-c", f"{program}; {says}; exit 1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        "note: 6 of 6 runs ended with exit code 1. Their times are kept. "
        "The last lines of the program:\n  first\n  Energy: 3\n  INVALID CHECKSUM\n"
    ) in done.stderr
    assert [run.exit_code for run in read_campaign(tmp_path / "m").runs] == [1] * 6
    assert "6 of 6 runs" not in done.stdout


def test_a_killed_campaign_goes_on(program: Path, tmp_path: Path) -> None:
    line = [*MEASURE, "--threads", "1,2", "--repeat", "100000", "--", str(program)]
    path = tmp_path / "measurements.jsonl"
    with subprocess.Popen(line, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline and (
            not path.exists() or path.read_text().count("\n") < 4
        ):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    kept = len(read_campaign(path).runs)
    assert kept >= 3
    done = _measure(
        "--resume", "--threads", "1,2", "--repeat", "2", "--", str(program), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    runs = read_campaign(path).runs
    assert len(runs) >= kept
    assert {n: sum(r.threads == n for r in runs if not r.warm_up) >= 2 for n in (1, 2)} == {
        1: True, 2: True,
    }  # fmt: skip


def test_the_end_of_the_budget_is_said(program: Path, tmp_path: Path) -> None:
    budget = ("--repeat", "100000", "--time-budget", "2s")
    done = _measure("--threads", "1", *budget, "--", str(program), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "note: the time budget of 2 s ended first" in done.stderr
    assert "1 thread" in done.stdout


def test_a_file_without_runs_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    line = [*WRAPPER, "gcc", "-fopenmp", "p.c", "-o", "p"]
    subprocess.run(line, cwd=tmp_path, check=True, timeout=600, env=environment())
    codes = []
    for words in (["./typo"], ["./p", "1"], ["./p"], ["./p"]):
        done = subprocess.run(
            [*MEASURE, "--threads", "1", "--repeat", "1", "-o", "m", "--", *words], cwd=tmp_path,
            capture_output=True, text=True, timeout=600, env=environment(), check=False,
        )  # fmt: skip
        codes.append((done.returncode, "there already" in done.stderr))
    assert codes == [(1, False), (1, False), (0, False), (1, True)]
    assert read_campaign(tmp_path / "m").command == ("./p",)


@pytest.mark.usefixtures("busy_core")
def test_who_is_waited_for_is_told(program: Path, tmp_path: Path) -> None:
    """On a terminal, beside a process that keeps a core busy: what the bar says, and the end."""
    master, slave = pty.openpty()
    command = [*MEASURE[:-1], "3s", "--threads", "1", "--repeat", "1", "--", str(program), "4"]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=slave, stdout=subprocess.DEVNULL,
        env=environment(),
    ) as process:  # fmt: skip
        os.close(slave)
        shown = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(master, 4096):
                shown += part
    os.close(master)
    told = shown.decode()
    assert process.returncode == 0, told
    assert "other processes use this host: waiting, 3 s at most" in told
    assert "0 undisturbed runs of at least 3" in told and "settled, " not in told
