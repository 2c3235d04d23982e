"""`regionpredict measure --slurm`: submits the campaign as a job and waits for it."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.campaign import kept_runs_text
from regionpredict.cli.durations import parse_duration
from regionpredict.cli.progress import ProgressLine
from regionpredict.errors import InputError, UsageError, with_extra

if TYPE_CHECKING:
    from regionpredict.measure.launch_slurm import Job, JobEnd, JobState, Request
    from regionpredict.measure.sweep import Plan

_ONE_NODE = ("nodes", "array", "ntasks-per-node")
_SPARE_MINUTES = 2
"""Time for starting and ending the job, in addition to the time budget."""


def measure_through_slurm(
    argv: tuple[str, ...], plan: Plan, output: Path, options: Mapping[str, Any], *, resume: bool
) -> None:
    """Submits a job that measures into `output`, and waits for it.

    Raises InputError without Slurm, if it rejects the job, or if the job does not finish.
    Measurements so far are kept.
    """
    launch = _import_launcher()
    request = _job_request(plan, options)
    patience = (
        parse_duration(options["slurm_wait"], "--slurm-wait") if options["slurm_wait"] else None
    )
    folder = output.absolute().with_name(output.name + ".slurm")
    with _outside_any_job():
        node = _required_node(argv, output, folder, resume=resume)
        if node is not None and "nodelist" not in request.options:
            request = replace(request, node=node)
        try:
            job = launch.submit(folder, _job_command(argv, plan, output, options), request)
        except InputError:
            _remove_job_files(folder)
            raise
        _print_note(f"job {job.job_id} measures into {output}")
        try:
            ended = _waited_for(job, _Progress(job.job_id, plan, output), output, patience)
        except InputError:
            if not any(folder.glob("*_log.*")):
                _remove_job_files(folder)  # the job never started, so the folder has no results
            raise
    _remove_job_files(folder)
    _print_and_exit(ended, f"job {job.job_id} on {ended.node}")


def _import_launcher() -> Any:
    """Returns the module for Slurm. Raises InputError if submitit is not installed."""
    try:
        from regionpredict.measure import launch_slurm
    except ModuleNotFoundError as error:
        raise InputError(
            f"--slurm needs the package {error.name}",
            remedy=with_extra("slurm"),
        ) from None
    if not launch_slurm.slurm_is_available():
        raise InputError(
            "no Slurm here: there is no sbatch",
            remedy="log in to a node from which jobs are submitted, or measure without --slurm",
        )
    return launch_slurm


def _job_request(plan: Plan, options: Mapping[str, Any]) -> Request:
    from regionpredict.measure.launch_slurm import Request

    own: dict[str, str | bool] = {}
    for text in options["slurm_options"]:
        name, equals, value = text.lstrip("-").partition("=")
        if not name.replace("-", "").isalnum():
            raise UsageError(f"--slurm-option {text}: not an option", remedy="write partition=long")
        if name in _ONE_NODE:
            raise UsageError(
                f"--slurm-option {text}: a campaign is one job on one node",
                remedy="measure several nodes one by one, each into its own -o FILE",
            )
        own[name] = value if equals else True
    if options["slurm_shared"] and not plan.threads:
        raise UsageError("--slurm-shared needs to know how many cores", remedy="add --threads")
    minutes = math.ceil(plan.budget_s / 60) + _SPARE_MINUTES
    return Request(minutes, max(plan.threads, default=None), options["slurm_shared"], None, own)


def _required_node(
    argv: tuple[str, ...], output: Path, folder: Path, *, resume: bool
) -> str | None:
    """Returns the node of the campaign in FILE. None if the campaign is new, or may run on any
    node.
    """
    from regionpredict.measure.launch_slurm import node_of, running_jobs
    from regionpredict.measure.store import read_campaign

    if not folder.parent.is_dir():
        raise InputError("no such folder", remedy="choose another -o FILE", path=str(output.parent))
    for job_id in running_jobs(folder):
        raise InputError(
            f"job {job_id} measures into it", remedy=f"wait for it, or scancel {job_id}",
            path=str(output),
        )  # fmt: skip
    if not output.exists() or output.stat().st_size == 0:
        return None
    if not resume:
        raise InputError(
            "there already", remedy="use --resume to continue it, or another -o FILE",
            path=str(output),
        )  # fmt: skip
    known = read_campaign(output)
    if known.command != argv:
        raise InputError(
            f"measurements of another program ({' '.join(known.command)}) cannot be mixed with "
            "these", remedy="take another -o FILE", path=str(output),
        )  # fmt: skip
    return node_of(known.host.name)


def _job_command(
    argv: tuple[str, ...], plan: Plan, output: Path, options: Mapping[str, Any]
) -> tuple[str, ...]:
    """Returns the command of the job: the same command on its node, without Slurm."""
    line = [sys.executable, "-m", "regionpredict", "measure", "--resume", "--format", "json"]
    if plan.threads:
        line += ["--threads", ",".join(str(count) for count in plan.threads)]
    line += ["--bind", options["binding"]]
    for name in ("repeat", "time_budget", "quiet_wait", "timeout"):
        if options[name] is not None:
            line += ["--" + name.replace("_", "-"), options[name]]
    if options["binary"]:
        line.append("--binary")
    return (*line, "-o", str(output.absolute()), "--", *argv)


@contextlib.contextmanager
def _outside_any_job() -> Iterator[None]:
    """Hides the current job's environment variables, which would affect the new job."""
    hidden = {
        name: os.environ.pop(name)
        for name in list(os.environ)
        if name.startswith(("SLURM_", "SLURMD_", "SUBMITIT_")) and name != "SLURM_CONF"
    }
    try:
        yield
    finally:
        os.environ.update(hidden)


def _waited_for(job: Job, progress: _Progress, output: Path, patience: float | None) -> JobEnd:
    from regionpredict.measure.launch_slurm import JobFailedError, cancel, watch

    try:
        ended = watch(job, progress.show, patience)
    except JobFailedError as failure:
        progress.line.end()
        raise InputError(
            f"{failure.message}; {kept_runs_text(output)}", remedy=failure.remedy
        ) from None
    except KeyboardInterrupt:
        progress.line.end()
        cancel(job)
        click.echo(
            f"regionpredict: interrupted; job {job.job_id} cancelled; {kept_runs_text(output)}. "
            "Use --resume to continue.", err=True,
        )  # fmt: skip
        sys.exit(130)
    progress.line.end()
    return ended


def _print_and_exit(ended: JobEnd, which: str) -> None:
    """Prints the output of the command in the job, and exits with the command's exit code."""
    lines = [line for line in ended.said.splitlines() if line.strip()]
    for line in lines if ended.code == 0 else lines[:-1]:
        click.echo(line, err=True)
    if ended.code:
        last = lines[-1].removeprefix("regionpredict: ") if lines else f"exit code {ended.code}"
        click.echo(f"regionpredict: {which}: {last}", err=True)
        sys.exit(ended.code if ended.code > 0 else 1)


def _remove_job_files(folder: Path) -> None:
    """Removes submitit's files."""
    shutil.rmtree(folder, ignore_errors=True)


def _print_note(text: str) -> None:
    click.echo(f"note: {text}", err=True)


class _Progress:
    """Shows the state of a job: a line per change, and a progress bar on a terminal."""

    def __init__(self, job_id: str, plan: Plan, output: Path) -> None:
        self.job_id = job_id
        self.plan = plan
        self.output = output
        self.line = ProgressLine()
        self.said = ""
        self.began: float | None = None
        self.size = -1
        self.runs = ""

    def show(self, state: JobState) -> None:
        """Shows a state reported by Slurm."""
        if state.state == "RUNNING":
            self.began = self.began or time.monotonic()
            self._print_line(f"job {self.job_id} runs on {state.node}")
            if self.line.live:
                spent = time.monotonic() - self.began
                share = min(spent / self.plan.budget_s, 1.0)
                self.line.show(
                    share, f"{self._progress_text()}, {spent:.0f} s of {self.plan.budget_s:.0f} s"
                )
        elif state.state == "PENDING" and state.reason != "None":
            self._print_line(f"job {self.job_id} waits: {state.reason}")

    def _print_line(self, text: str) -> None:
        if text != self.said:
            self.line.end()
            _print_note(text)
            self.said = text

    def _progress_text(self) -> str:
        """Describes the progress of the measurements file, which is read again only if it has
        grown.
        """
        from regionpredict.measure.store import read_campaign
        from regionpredict.measure.sweep import enough

        try:
            size = self.output.stat().st_size
            if size != self.size:
                runs = read_campaign(self.output).runs
                counts = self.plan.threads or sorted({run.threads for run in runs})
                settled = sum(enough(self.plan, runs, count) for count in counts)
                self.runs = f"{settled} of {len(counts)} thread counts done, {len(runs)} runs"
                self.size = size
        except (OSError, InputError):
            return "no run yet"
        return self.runs
