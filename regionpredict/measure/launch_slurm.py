"""Runs a measuring campaign as a Slurm job, submitted through submitit.

A campaign is one job on one node. Its thread counts run in turn within one allocation. Separate
jobs would run at other times, with other neighbors, on other nodes. The job appends its runs to the
measurements file itself, so they are kept even if the job or the waiting process ends.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import submitit
from submitit.core.utils import FailedJobError, FailedSubmissionError, UncompletedJobError

from regionpredict.errors import InputError, escape_control_characters
from regionpredict.measure.child import end_with_parent

_ACTIVE = {
    "PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING",
    "STAGE_OUT", "RESIZING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD",
    "SPECIAL_EXIT",
}  # fmt: skip
_ENDS = {
    "CANCELLED": "was cancelled",
    "TIMEOUT": "ran into its time limit",
    "NODE_FAIL": "lost its node",
    "OUT_OF_MEMORY": "ran out of memory",
    "PREEMPTED": "was preempted",
    "DEADLINE": "met its deadline",
    "BOOT_FAIL": "got a node that did not start",
    "COMPLETED": "ended without a result",
    "FAILED": "failed",
    "GONE": "is no longer known to Slurm",
}
_NEVER = {
    "AccountNotAllowed", "BadConstraints", "DependencyNeverSatisfied", "InvalidAccount",
    "InvalidQOS", "PartitionConfig", "PartitionTimeLimit", "QOSNotAllowed",
}  # fmt: skip
"""Reasons for waiting that do not resolve by themselves (squeue's manual, "JOB REASON CODES")."""
_GRACE_S = {"COMPLETED": 30.0, "FAILED": 2.0}
"""Seconds that a shared file system may take to show the job's last output."""
_ASK_OTHERWISE = "change the request with --threads, --time-budget or --slurm-option NAME=VALUE"
_SILENCE_S = 600.0
"""Seconds for which Slurm's controller may be unreachable."""
_SLOWEST_S = 5.0


class JobFailedError(InputError):
    """Raised if Slurm refused the job, or if the job did not finish."""


@dataclass(frozen=True, slots=True)
class Request:
    """The resources of a job. `processors` is the number of CPUs, None for all of the node. The
    job has its node alone unless it is `shared`. `minutes` is its time limit. `node` is set if it
    must be a specific one. `options` are the user's own by name, and take precedence.
    """

    minutes: int
    processors: int | None = None
    shared: bool = False
    node: str | None = None
    options: Mapping[str, str | bool] = field(default_factory=dict)


class JobState(NamedTuple):
    """The state of a job in Slurm, why it waits, and its node."""

    state: str
    reason: str
    node: str

    @property
    def active(self) -> bool:
        """Whether the job waits, runs, or is about to end."""
        return self.state in _ACTIVE


class JobEnd(NamedTuple):
    """The end of a job's command: exit code, text on standard error, and node."""

    code: int
    said: str
    node: str


Job = submitit.Job[JobEnd]


def slurm_is_available() -> bool:
    """Whether this machine can submit jobs."""
    return all(shutil.which(name) for name in ("sbatch", "squeue", "scontrol", "srun"))


def sbatch_parameters(request: Request) -> dict[str, str | int | bool]:
    """Returns the options of sbatch by name, with `_` for `-`.

    >>> asked = sbatch_parameters(Request(12, 4, node="n1", options={"partition": "long"}))
    >>> asked["exclusive"], asked["cpus_per_task"], asked["nodelist"], asked["partition"]
    (True, 4, 'n1', 'long')
    """
    asked: dict[str, str | int | bool] = {
        "job_name": "regionpredict",
        "time": request.minutes,
        "nodes": 1,
        "ntasks": 1,
        "no_requeue": True,  # a restarted job might run on another node
    }
    if request.processors is not None:
        asked["cpus_per_task"] = request.processors
    if request.shared:
        asked |= {"threads_per_core": 1, "distribution": "block:block"}
    else:
        asked["exclusive"] = True
    if request.node is not None:
        asked["nodelist"] = request.node
    return asked | {name.replace("-", "_"): value for name, value in request.options.items()}


def submit(folder: Path, command: tuple[str, ...], request: Request) -> Job:
    """Submits a job that runs `command` on a node. submitit stores its files in `folder`. Raises
    JobFailedError if Slurm rejects it.
    """
    executor = submitit.SlurmExecutor(folder, max_num_timeout=0)
    # The command runs in the batch step, which has the whole allocation. With srun, the step would
    # need a number of CPUs.
    executor.update_parameters(
        use_srun=False, wckey=None, additional_parameters=sbatch_parameters(request)
    )
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # submitit repeats sbatch's messages
            return executor.submit(run_command, command)
    except (FailedJobError, FailedSubmissionError) as error:
        why = _refusal(str(error))
        if "nable to contact" in why:
            raise JobFailedError(f"Slurm does not answer: {why}", remedy="try later") from None
        raise JobFailedError(f"Slurm refused the job: {why}", remedy=_ASK_OTHERWISE) from None
    except OSError as error:
        raise JobFailedError(
            f"cannot write the job's files: {error.strerror}", remedy="choose another -o FILE",
            path=str(folder),
        ) from None  # fmt: skip


def run_command(command: tuple[str, ...]) -> JobEnd:
    """Runs the command on the job's node."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, errors="replace", check=False,
        preexec_fn=partial(end_with_parent, signal.SIGTERM, os.getpid()),
    )  # fmt: skip
    return JobEnd(done.returncode, done.stderr, os.uname().nodename)


def look(job_id: str) -> JobState | None:
    """Queries the state of a job: `GONE` if Slurm no longer knows it, None if Slurm does not
    respond.

    It uses squeue, since submitit would use sacct, which needs an accounting database.
    """
    line = ["squeue", "--noheader", "--states=all", f"--jobs={job_id}", "--format=%T|%r|%N"]
    done = _command_output(line)
    if done is None:
        return None
    for answer in done.stdout.splitlines() if done.returncode == 0 else ():
        if answer.count("|") >= 2:
            return JobState(*map(escape_control_characters, answer.split("|")[:3]))
    if done.returncode == 0 or "Invalid job id" in done.stderr:
        return JobState("GONE", "", "")
    return None


def watch(
    job: Job, report_state: Callable[[JobState], None], patience_s: float | None = None
) -> JobEnd:
    """Waits for the end of a job, and reports its state regularly.

    Raises JobFailedError if the job does not finish, can never start, or has not started within
    `patience_s`. In the last two cases, it cancels the job.
    """
    begin = heard = time.monotonic()
    since: float | None = None
    while not job.paths.result_pickle.exists():
        seen, now = look(job.job_id), time.monotonic()
        if seen is not None:
            heard = now
            if seen.active:
                _check_start(job, seen, now - begin, patience_s)
                report_state(seen)
            else:
                since = since or now
                if now - since >= _GRACE_S.get(seen.state, 0.0):
                    raise _failure_text(job, seen)
        elif now - heard > _SILENCE_S:
            raise JobFailedError(
                f"job {job.job_id}: Slurm has not answered for {_SILENCE_S / 60:.0f} minutes",
                remedy="the job may still run; use --resume later",
            )
        time.sleep(min(_SLOWEST_S, 0.1 + (now - begin) / 10))
    return _job_end(job)


def cancel(job: Job) -> None:
    """Cancels a job and waits a few seconds until it stops writing."""
    with contextlib.suppress(OSError):
        job.cancel(check=False)
    _end_after_wait(job)


def running_jobs(folder: Path) -> list[str]:
    """Returns the unfinished jobs in a folder of submitit."""
    ids = [path.name.split("_")[0] for path in folder.glob("*_submission.sh")]
    seen = {job_id: look(job_id) for job_id in sorted(ids) if job_id.isdigit()}
    return [job_id for job_id, job in seen.items() if job is None or job.active]


def _command_output(line: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    """Returns what a command of Slurm prints. None if Slurm does not respond."""
    try:
        return subprocess.run(
            line, capture_output=True, text=True, errors="replace", timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def node_of(host: str) -> str | None:
    """Returns Slurm's name of the node with host name `host`. None if several match. Raises
    JobFailedError if no node matches.
    """
    done = _command_output(["scontrol", "--oneliner", "show", "nodes"])
    if done is None:
        return None
    names = set()
    for line in done.stdout.splitlines():
        node = dict(re.findall(r"\b(NodeName|NodeHostName)=(\S+)", line))
        calls_itself = {name.split(".")[0] for name in node.values()}
        if "NodeName" in node and host.split(".", maxsplit=1)[0] in calls_itself:
            names.add(node["NodeName"])
    if done.returncode == 0 and not names:
        raise JobFailedError(
            f"measured on {host}, which is not a node of this Slurm", remedy="take another -o FILE"
        )
    return names.pop() if len(names) == 1 else None


def _check_start(job: Job, state: JobState, waited: float, patience_s: float | None) -> None:
    if state.state != "PENDING":
        return
    per_job = state.reason.startswith(("Assoc", "QOS")) and "PerJob" in state.reason
    if state.reason in _NEVER or per_job:
        cancel(job)
        raise JobFailedError(
            f"job {job.job_id} could never start ({state.reason}) and was cancelled",
            remedy=_ASK_OTHERWISE,
        )
    if patience_s is not None and waited > patience_s:
        cancel(job)
        raise JobFailedError(
            f"job {job.job_id} did not start within {patience_s:.0f} s ({state.reason}) and was "
            "cancelled",
            remedy="raise --slurm-wait, or choose another partition by --slurm-option",
        )


def _job_end(job: Job) -> JobEnd:
    try:
        ended = job.result()
    except UncompletedJobError as error:
        parts = re.split(r"\n-{10,}\n", str(error))  # text, the traceback, text
        raise JobFailedError(
            f"job {job.job_id} failed: {_last_line(parts[1] if len(parts) > 1 else parts[0])}",
            remedy="are Python and its packages the same on the nodes?",
        ) from None
    if ended.code < 0 or ended.code == 143:  # ended by a signal, whose cause Slurm knows
        seen = _end_after_wait(job)
        if seen is not None and seen.state not in ("COMPLETED", "FAILED", "GONE"):
            raise _failure_text(job, seen)
    return ended


def _end_after_wait(job: Job, seconds: float = 15.0) -> JobState | None:
    deadline = time.monotonic() + seconds
    while ((seen := look(job.job_id)) is None or seen.active) and time.monotonic() < deadline:
        time.sleep(0.2)
    return seen


def _failure_text(job: Job, state: JobState) -> JobFailedError:
    where = f" on {state.node}" if state.node else " before it started"
    text = f"job {job.job_id} {_ENDS.get(state.state, 'ended as ' + state.state)}"
    remedy = "use --resume to continue"
    if state.state in ("FAILED", "COMPLETED"):
        output = _last_error_line(job)
        text += f"{where} (it said: {output})" if output else where
        if output is None:
            remedy = "take an -o FILE in a folder that the nodes share"
    elif state.state != "GONE":
        text += where
    return JobFailedError(text, remedy=remedy)


def _last_error_line(job: Job) -> str | None:
    """Returns the last line of a job's standard error. None if there is no such file."""
    try:
        text: Any = job.stderr()
    except OSError:
        text = None
    return None if text is None else _last_line(text)


def _refusal(text: str) -> str:
    """Returns sbatch's message, without the text around it.

    >>> _refusal("sbatch: error: Batch job submission failed: Invalid partition name specified")
    'Invalid partition name specified'
    """
    messages = "\n".join(line for line in text.splitlines() if not line.startswith("Try "))
    reason = re.sub(
        r"^sbatch: (error: )?(Batch job submission failed: )?", "", _last_line(messages)
    )
    return reason or "no reason is given"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    return next((line for line in reversed(lines) if line.strip("- ")), "")[:120]
