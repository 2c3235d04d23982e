"""`regionpredict measure --slurm`: campaigns as jobs of a real Slurm, and jobs that go wrong.

Jobs run as they do on a cluster: sbatch, queue, batch step, scancel. Only the nodes are made up,
and both are this machine; `n1` is the one that has its name.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from measured_programs import ROOT, WRAPPER
from private_slurm import PATIENCE_S, Cluster, private_slurm

from regionpredict.measure.store import read_campaign

pytestmark = pytest.mark.slow

MEASURE = [sys.executable, "-m", "regionpredict", "measure", "--quiet-wait", "none"]
PROGRAM = """#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int mode = argc > 1 ? atoi(argv[1]) : 0;
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
        usleep(0);
    if (mode == 1)
        abort();
    if (mode == 2)
        sleep(60);
    return 0;
}
"""
FOREVER = ("--threads", "1,2", "--repeat", "100000", "--time-budget", "5m")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with private_slurm(tmp_path_factory.mktemp("slurm")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("measured")
    (folder / "p.c").write_text(PROGRAM)
    line = [*WRAPPER, "gcc", "-O1", "-fopenmp", "p.c", "-o", "p"]
    subprocess.run(line, cwd=folder, env=_settings(), check=True, timeout=PATIENCE_S)
    return str(folder / "p")


def _settings(slurm: Cluster | None = None, **more: str) -> dict[str, str]:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return {
        **(os.environ if slurm is None else slurm.settings),
        "PYTHONPATH": path,
        **more,
    }


def _measure(
    slurm: Cluster, cwd: Path, *words: str, **more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MEASURE, "--slurm", "-o", "m", *words], cwd=cwd, env=_settings(slurm, **more),
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip


@contextlib.contextmanager
def _measuring(slurm: Cluster, cwd: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A campaign that has three runs in its file and goes on."""
    line = [*MEASURE, "--slurm", "-o", "m", *words]
    with subprocess.Popen(
        line, cwd=cwd, env=_settings(slurm), stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            _await(lambda: (cwd / "m").exists() and (cwd / "m").read_text().count("\n") > 3)
            yield process
        finally:
            process.kill()


def _await(reached: object) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not reached():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _kill_in_job(folder: Path) -> None:
    """Kills the first process of a job's, as a node that is out of memory may."""
    (first,) = _processes(b"_submit\0%b\0" % bytes(folder))
    os.kill(first, signal.SIGKILL)


def _processes(words: bytes) -> list[int]:
    """Those whose command line has the words."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if words in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def _job(said: str) -> str:
    found = re.search(r"job (\d+)", said)
    assert found is not None, said
    return found[1]


def _last(said: str | None) -> str:
    assert said is not None
    return said.splitlines()[-1]


def _told(slurm: Cluster, job: str) -> dict[str, str]:
    """What Slurm says of a job, once it has taken note that its script has ended."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        said = slurm.call("scontrol", "show", "job", "-d", job).stdout
        told = dict(re.findall(r"([\w/:]+)=(\S+)", said))
        if told.get("JobState") not in ("RUNNING", "COMPLETING"):
            return told
        assert time.monotonic() < deadline, said
        time.sleep(0.1)


def test_a_campaign_is_one_job_on_a_whole_node(
    slurm: Cluster, program: str, tmp_path: Path
) -> None:
    done = _measure(slurm, tmp_path, "--threads", "1,2", "--repeat", "2", "--", program)
    assert done.returncode == 0, done.stderr
    assert "1 thread" in done.stdout
    campaign = read_campaign(tmp_path / "m")
    # Warm-up, then in turn, each round in the other direction: one allocation has them all.
    assert [(run.threads, run.warm_up) for run in campaign.runs] == [
        (1, True), (2, True), (2, False), (1, False), (1, False), (2, False),
    ]  # fmt: skip
    assert {run.regions[0].most_team for run in campaign.runs if run.threads == 2} == {2}
    assert campaign.command == (program,)
    assert campaign.host.name == os.uname().nodename
    told = _told(slurm, _job(done.stderr))
    assert (told["JobState"], told["NumNodes"], told["BatchHost"]) == ("COMPLETED", "1", "n1")
    assert (told["NumCPUs"], told["CPUs/Task"]) == ("24", "2")  # the whole node; 2 needed
    assert told["TimeLimit"] == "00:12:00"  # of 10 minutes' budget
    assert not (tmp_path / "m.slurm").exists()

    again = _measure(slurm, tmp_path, "--threads", "1", "--", program)
    assert again.returncode == 1
    assert again.stderr.startswith("regionpredict: m: there already; use --resume to continue")
    other = _measure(slurm, tmp_path, "--resume", "--", program, "0")
    assert "m: measurements of another program" in other.stderr
    more = _measure(
        slurm, tmp_path, "--resume", "--threads", "1,2", "--repeat", "3", "--format", "json", "--",
        program,
    )  # fmt: skip
    assert more.returncode == 0, more.stderr
    assert len(read_campaign(tmp_path / "m").runs) == 8
    assert json.loads(more.stdout)["host"]["name"] == campaign.host.name
    assert _told(slurm, _job(more.stderr))["ReqNodeList"] == "n1"  # where it began


def test_a_campaign_of_another_node_is_not_gone_on_with(
    slurm: Cluster, program: str, tmp_path: Path
) -> None:
    done = _measure(slurm, tmp_path, "--threads", "1", "--repeat", "1", "--", program)
    assert done.returncode == 0, done.stderr
    path = tmp_path / "m"
    own = f'"name": "{os.uname().nodename}"'
    assert own in path.read_text()

    path.write_text(path.read_text().replace(own, '"name": "elsewhere"'))
    words = ("--resume", "--threads", "1", "--repeat", "2", "--", program)
    unknown = _measure(slurm, tmp_path, *words)
    assert unknown.returncode == 1
    assert "measured on elsewhere, which is not a node of this Slurm" in unknown.stderr
    # Slurm has a node of that name, but where the job comes to is another host.
    path.write_text(path.read_text().replace('"elsewhere"', '"n2"'))
    forced = _measure(slurm, tmp_path, "--slurm-option", "nodelist=n1", *words)
    assert forced.returncode == 1
    assert "measurements on another host cannot be mixed" in _last(forced.stderr)
    assert len(read_campaign(path).runs) == 2


def test_cores_of_a_shared_node(slurm: Cluster, program: str, tmp_path: Path) -> None:
    words = ("--slurm-shared", "--slurm-option", "partition=threads", "--slurm-option", "comment=x")
    done = _measure(slurm, tmp_path, *words, "--threads", "2", "--repeat", "1", "--", program)
    assert done.returncode == 0, done.stderr
    told = _told(slurm, _job(done.stderr))
    assert (told["Partition"], told["Comment"], told["BatchHost"]) == ("threads", "x", "n2")
    # Two cores, each with both its hardware threads.
    assert (told["NumCPUs"], told["CPU_IDs"]) == ("4", "0-3")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--threads", "1", "--", "{p}", "1"),
            r"job \d+ on \S+: \S+ ended with signal 6 \(SIGABRT\) on 1 thread; 0 runs kept in ",
        ),
        (
            ("--threads", "1", "--timeout", "1s", "--", "{p}", "2"),
            r"job \d+ on \S+: \S+ did not end within 1 s on 1 thread and was stopped; 0 runs kept",
        ),
        (("--threads", "1", "--", "./missing"), r"job \d+ on \S+: no program './missing'; 0 runs"),
        (
            ("--threads", "1,25", "--", "{p}"),
            r"job \d+ could never start \(PartitionConfig\) and was cancelled; 0 runs kept in m; "
            r"change the request",
        ),
        (
            ("--slurm-option", "partition=short", "--threads", "1", "--", "{p}"),
            r"job \d+ could never start \(Partition\w+\) and was cancelled; 0 runs kept in m; ",
        ),
        (
            ("--slurm-option", "hold", "--slurm-wait", "1s", "--", "{p}"),
            r"job \d+ did not start within 1 s \(JobHeldUser\) and was cancelled; 0 runs kept in m",
        ),
        (
            ("--slurm-option", "partition=nosuch", "--", "{p}"),
            "Slurm refused the job: Invalid partition name specified; change the request",
        ),
        (
            ("--slurm-option", "nosuch=1", "--", "{p}"),
            "Slurm refused the job: unrecognized option '--nosuch=1'; change the request",
        ),
        (("--slurm-option", "nodes=2", "--", "{p}"), "--slurm-option nodes=2: a campaign is one"),
        (("-o", "nowhere/m", "--", "{p}"), "nowhere: no such folder; choose another -o FILE"),
        (("--slurm-shared", "--", "{p}"), "--slurm-shared needs to know how many cores; add "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_goes_wrong_is_one_line(
    slurm: Cluster, program: str, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    done = _measure(slurm, tmp_path, *[word.format(p=program) for word in words])
    assert done.returncode == (2 if message.startswith("--") else 1)
    told = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert len(told) == 1, done.stderr
    assert re.match("regionpredict: " + message, told[0]), told[0]
    assert not (tmp_path / "m.slurm").exists()


@pytest.mark.parametrize(
    ("end", "message"),
    [("cancel", "was cancelled on n1"), ("node", "lost its node on n1"), ("kill", "failed on n1")],
)
def test_a_job_that_is_ended_keeps_its_runs(
    slurm: Cluster, program: str, tmp_path: Path, end: str, message: str
) -> None:
    with _measuring(slurm, tmp_path, *FOREVER, "--", program) as process:
        job = (tmp_path / "m.slurm").glob("*_submission.sh").__next__().name.split("_")[0]
        if end == "cancel":
            slurm.call("scancel", job)
        elif end == "kill":
            _kill_in_job(tmp_path / "m.slurm")
        else:
            slurm.call("scontrol", "update", "nodename=n1", "state=down", "reason=test")
        _, said = process.communicate(timeout=PATIENCE_S)
    if end == "node":
        slurm.call("scontrol", "update", "nodename=n1", "state=resume")
    assert process.returncode == 1
    assert _last(said).startswith(f"regionpredict: job {job} {message}")
    told = re.search(r"; (\d+) runs kept in m; use --resume to continue$", _last(said))
    assert told is not None
    runs = len(read_campaign(tmp_path / "m").runs)
    assert 3 <= int(told[1]) <= runs  # Slurm says that a node is lost before all on it has ended
    _await(lambda: not _processes(os.fsencode(program)))  # nothing of it runs on


def test_an_interrupted_campaign_cancels_its_job(
    slurm: Cluster, program: str, tmp_path: Path
) -> None:
    with _measuring(slurm, tmp_path, *FOREVER, "--", program) as process:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert f"job {_job(said)} cancelled; " in _last(said)
    assert slurm.end_of(_job(said)) == "CANCELLED"


def test_the_job_outlives_who_waits_for_it(slurm: Cluster, program: str, tmp_path: Path) -> None:
    with _measuring(slurm, tmp_path, *FOREVER, "--", program) as process:
        process.send_signal(signal.SIGKILL)
    runs = len(read_campaign(tmp_path / "m").runs)
    _await(lambda: len(read_campaign(tmp_path / "m").runs) > runs)
    busy = _measure(slurm, tmp_path, "--resume", "--", program)
    assert busy.returncode == 1
    found = re.match(r"regionpredict: m: job (\d+) measures into it; wait", busy.stderr)
    assert found is not None, busy.stderr
    slurm.call("scancel", found[1])
    assert slurm.end_of(found[1]) == "CANCELLED"
    words = ("--resume", "--threads", "1", "--repeat", "1", "--", program)
    # From inside another job, whose variables must not steer the new one.
    inside = {"SLURM_JOB_ID": "77", "SLURM_PROCID": "3", "SLURM_ARRAY_JOB_ID": "77"}
    done = _measure(slurm, tmp_path, *words, **inside)
    assert done.returncode == 0, done.stderr


def test_what_a_scheduler_terminates_ends_its_run(program: str, tmp_path: Path) -> None:
    """The campaign as it runs in a job, which gets SIGTERM when the job is cancelled."""
    line = [*MEASURE, "--threads", "1", "-o", "m", "--", program, "2"]
    with subprocess.Popen(
        line, cwd=tmp_path, env=_settings(), stderr=subprocess.PIPE, text=True
    ) as process:
        _await(lambda: len(_processes(b"%b\0002\0" % os.fsencode(program))) == 2)  # and its run
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + signal.SIGTERM
    assert said == "regionpredict: interrupted; 0 runs kept in m. Use --resume to continue.\n"
    _await(lambda: not _processes(os.fsencode(program)))


def test_a_killed_campaign_leaves_no_run(program: str, tmp_path: Path) -> None:
    line = [*MEASURE, "--threads", "1", "-o", "m", "--", program, "2"]
    with subprocess.Popen(line, cwd=tmp_path, env=_settings()) as process:
        _await(lambda: len(_processes(b"%b\0002\0" % os.fsencode(program))) == 2)
        process.kill()
    _await(lambda: not _processes(os.fsencode(program)))


def test_without_slurm_it_is_one_line(tmp_path: Path) -> None:
    def refused(*words: str, path: str) -> tuple[int, str]:
        done = subprocess.run(
            [*MEASURE, *words, "--", "true"], cwd=tmp_path, env=_settings(PATH=path),
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        return done.returncode, done.stderr

    (tmp_path / "empty").mkdir()
    assert refused("--slurm", path=str(tmp_path / "empty")) == (
        1,
        "regionpredict: no Slurm here: there is no sbatch; log in to a node from which jobs are "
        "submitted, or measure without --slurm\n",
    )
    assert refused("--slurm-option", "partition=x", path=os.environ["PATH"]) == (
        2, "regionpredict: --slurm-option applies only to a job; add --slurm\n",
    )  # fmt: skip
    hidden = tmp_path / "hidden" / "submitit"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError(name='submitit')\n")
    done = subprocess.run(
        [*MEASURE, "--slurm", "--", "true"], cwd=tmp_path, capture_output=True, text=True,
        env=_settings(PYTHONPATH=f"{hidden.parent}{os.pathsep}{_settings()['PYTHONPATH']}"),
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.stderr == (
        "regionpredict: --slurm needs the package submitit; "
        "python3 -m pip install 'regionpredict[slurm]'\n"
    )
