"""A Slurm of our own: the real daemons in a temporary folder, on free ports, gone afterwards.

Nothing of the system's is used but the programs: key, socket, ports, state and logs are private,
and there is no systemd. The nodes are made up (4 packages of 6 cores; `n2` with two hardware
threads a core) by `SlurmdParameters=config_overrides`; nothing is bound to their cores, which do
not exist.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PATIENCE_S = 300
"""For what ends in a second on a quiet machine: a test that waits so long tells of a hang."""
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "salloc",
            "srun")  # fmt: skip
CONFIGURATION = """
ClusterName=private
SlurmctldHost=localhost
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={ports[0]}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
KillWait=5
NodeName=DEFAULT Sockets=4 CoresPerSocket=6 State=UNKNOWN
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname={host} Port={ports[1]} ThreadsPerCore=1
NodeName=n2 NodeAddr=127.0.0.1 NodeHostname=localhost Port={ports[2]} ThreadsPerCore=2
PartitionName=main Nodes=n1 Default=YES
PartitionName=threads Nodes=n2
PartitionName=short Nodes=n1 MaxTime=1
"""


@dataclass(frozen=True)
class Cluster:
    """A running Slurm: what has to be in the environment to talk to it."""

    folder: Path

    @property
    def settings(self) -> dict[str, str]:
        # Of the tests' own environment, nothing that would steer a job.
        kept = {name: value for name, value in os.environ.items() if "SLURM" not in name}
        return {**kept, "PATH": search_path(), "SLURM_CONF": str(self.folder / "slurm.conf")}

    def call(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Runs one of Slurm's commands."""
        return subprocess.run(
            words, env=self.settings, cwd=cwd, capture_output=True, text=True,
            timeout=PATIENCE_S, check=False,
        )  # fmt: skip

    def state(self, job: str) -> str:
        """PENDING, RUNNING, COMPLETED or whatever Slurm says of a job."""
        line = ("squeue", "--noheader", "--states=all", "--format=%T", f"--jobs={job}")
        return self.call(*line).stdout.strip()

    def end_of(self, job: str) -> str:
        """The state of a job that has ended, which is waited for."""
        deadline = time.monotonic() + PATIENCE_S
        while (state := self.state(job)) in ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING"):
            assert time.monotonic() < deadline, f"job {job} is {state}"
            time.sleep(0.05)
        return state


def search_path() -> str:
    """PATH with the folders that daemons stand in."""
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def missing() -> str | None:
    """Why there can be no Slurm here; None where there can."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=search_path()) is None]
    if not absent:
        return None
    return f"needs {', '.join(absent)}: make system installs them as root"


@contextlib.contextmanager
def private_slurm(folder: Path) -> Iterator[Cluster]:
    """Starts the daemons and stops them; skips the test where they are not installed."""
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    cluster = Cluster(folder)
    _configure(folder)
    with contextlib.ExitStack() as daemons:
        where = str(folder / "slurm.conf")
        options = [f"--{name}={folder}/munge.{name}" for name in ("socket",)]
        options += [
            f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")
        ]
        daemons.enter_context(_running(cluster, "munged", "--foreground", "--force", *options))
        daemons.enter_context(_running(cluster, "slurmctld", "-D", "-c", "-f", where))
        for node in ("n1", "n2"):
            daemons.enter_context(_running(cluster, "slurmd", "-D", "-c", "-N", node, "-f", where))
        _await_nodes(cluster)
        try:
            yield cluster
        finally:
            cluster.call("scancel", "--user", pwd.getpwuid(os.getuid()).pw_name)
            deadline = time.monotonic() + PATIENCE_S
            while time.monotonic() < deadline and cluster.call("squeue", "--noheader").stdout:
                time.sleep(0.1)


def _configure(folder: Path) -> None:
    folder.chmod(0o755)
    for name in ("state", "spool.n1", "spool.n2"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.touch(0o600)
    key.write_bytes(os.urandom(128))
    text = CONFIGURATION.format(
        user=pwd.getpwuid(os.getuid()).pw_name, folder=folder, ports=_free_ports(3),
        host=os.uname().nodename,
    )  # fmt: skip
    (folder / "slurm.conf").write_text(text)
    if _version() >= (24, 5):  # from then on slurmd wants a cgroup plugin, or be told of none
        (folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")


def _version() -> tuple[int, int]:
    program = shutil.which("slurmd", path=search_path())
    assert program is not None
    said = subprocess.run([program, "-V"], capture_output=True, text=True, check=True)
    year, month = said.stdout.split()[-1].split(".")[:2]  # slurm-wlm 22.05.8
    return int(year), int(month)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@contextlib.contextmanager
def _running(cluster: Cluster, name: str, *options: str) -> Iterator[None]:
    """A daemon in the foreground; it also ends where the tests are killed."""
    program = shutil.which(name, path=search_path())
    assert program is not None
    tied = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
    with (cluster.folder / f"{name}.out").open("ab") as sink:
        daemon = subprocess.Popen(
            [*tied, program, *options], env=cluster.settings, cwd=cluster.folder,
            stdin=subprocess.DEVNULL, stdout=sink, stderr=sink,
        )  # fmt: skip
    try:
        yield
    finally:
        daemon.terminate()
        try:
            daemon.wait(5)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def _await_nodes(cluster: Cluster) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        said = cluster.call("sinfo", "--noheader", "--format=%T")
        if set(said.stdout.split()) == {"idle"}:
            return
        time.sleep(0.1)
    logs = [path.read_text(errors="replace")[-600:] for path in cluster.folder.glob("*.out")]
    pytest.fail("Slurm is installed but did not start:\n" + "\n".join(logs))
