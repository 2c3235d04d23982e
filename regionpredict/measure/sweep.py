"""Runs a program over thread counts until the times have converged or the time is up."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from regionpredict.errors import InputError, is_missing, plural
from regionpredict.measure.child import end_with_parent
from regionpredict.measure.host_activity import disturbance, read_activity, wait_for_quiet
from regionpredict.measure.records import Campaign, Run
from regionpredict.measure.results import Results, read_results
from regionpredict.measure.store import Store
from regionpredict.measure.summary import unconverged
from regionpredict.scratch_folder import scratch_folder

MOST_RUNS = 100
MOST_DISTURBED = 10
"""After this number of disturbed runs at one thread count, the sweep stops waiting for an idle
host. The requested number of undisturbed runs also ends the waiting.
"""
_SHELL_SIGNAL = 128
_LAST_LINES, _LINE_WIDTH = 3, 120
OUTPUT_VARIABLE = "REGIONPREDICT_OUTPUT"


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs to make. `repeat` is the number per thread count, or None for as many as needed.
    `timeout_s` is the limit per run, or None for the rest of `budget_s`.

    `quiet_s` is the total time to wait for an idle host before runs. Disturbed runs are repeated.
    With None, every run counts.
    """

    threads: tuple[int, ...]
    repeat: int | None
    budget_s: float
    timeout_s: float | None
    warm_up: bool = True
    quiet_s: float | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a campaign: runs so far, or the remaining seconds `waits_s` of waiting for an
    idle host.
    """

    threads: int
    repetition: int
    settled: int
    thread_counts: int
    spent_s: float
    budget_s: float
    waits_s: float | None = None


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """The result of a campaign: all runs, and which regions have not converged at each thread
    count.
    """

    campaign: Campaign
    open: dict[int, tuple[str, ...]]
    out_of_time: bool


class RunFailedError(InputError):
    """Raised if a run of the program crashed, did not end, or measured nothing."""


class BudgetEndedError(RunFailedError):
    """Raised if the campaign's time ended during a run, which was stopped."""


Reader = Callable[[Path], Results]


def read_output(output: Path) -> Results:
    """Reads the output of the program's measured processes. Empty without a file."""
    try:
        text = output.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    return read_results(text.splitlines())


def sweep(
    campaign: Campaign, plan: Plan, store: Store, environment: Mapping[str, str],
    progress: Callable[[Progress], None] = lambda _: None, *, read: Reader = read_output,
) -> CampaignResult:  # fmt: skip
    """Runs the program over thread counts in rounds, alternating the direction.

    Every run is stored when it ends. `campaign` may already contain runs, which count. Raises
    RunFailedError if a run fails. Stored runs are kept.
    """
    begin = time.monotonic()
    runs = list(campaign.runs)
    round_number = 0
    out_of_time = False
    patience = plan.quiet_s or 0.0
    while todo := [n for n in plan.threads if not enough(plan, runs, n)]:
        for threads in todo if round_number % 2 == 0 else todo[::-1]:
            left = plan.budget_s - (time.monotonic() - begin)
            if left <= 0:
                out_of_time = True
                break
            made = [run for run in runs if run.threads == threads]
            warm_up = plan.warm_up and not made
            repetition = sum(not run.warm_up for run in made)
            progress_at = partial(_progress_of, plan, runs, threads, len(made), begin)
            if not warm_up:
                patience -= wait_for_quiet(
                    min(patience, left), on_wait=_wait_reporter(progress_at, progress)
                )
            try:
                run = _run_once(
                    campaign, plan, threads, environment=environment, left=left, read=read
                )
            except BudgetEndedError:
                if all(run.warm_up for run in runs):
                    raise
                out_of_time = True
                break
            run = replace(run, repetition=repetition, warm_up=warm_up)
            store.add(run)
            runs.append(run)
            progress(progress_at(None))
        if out_of_time:
            break
        round_number += 1
    swept = replace(campaign, runs=tuple(runs))
    counted = runs if plan.quiet_s is None else swept.undisturbed.runs
    kind = "runs" if plan.quiet_s is None else "undisturbed runs"
    waiting = {n: unconverged(counted, n, kind) for n in plan.threads}
    return CampaignResult(swept, {n: why for n, why in waiting.items() if why}, out_of_time)


def _progress_of(
    plan: Plan,
    runs: Sequence[Run],
    threads: int,
    finished_runs: int,
    begin: float,
    waits_s: float | None,
) -> Progress:
    settled = sum(enough(plan, runs, n) for n in plan.threads)
    spent = time.monotonic() - begin
    return Progress(
        threads, finished_runs, settled, len(plan.threads), spent, plan.budget_s, waits_s
    )


def _wait_reporter(
    progress_at: Callable[[float | None], Progress], progress: Callable[[Progress], None]
) -> Callable[[float], None]:
    """Returns a function that reports the remaining waiting time as progress."""
    return lambda most_s: progress(progress_at(most_s))


def enough(plan: Plan, runs: Sequence[Run], threads: int) -> bool:
    """Whether a thread count needs no more runs.

    This holds if the requested number is reached, the times have converged, or an idle host is
    unlikely.
    """
    own = [run for run in runs if run.threads == threads and not run.warm_up]
    counted = own if plan.quiet_s is None else [run for run in own if not run.disturbed]
    hopeless = len(own) - len(counted) >= (plan.repeat or MOST_DISTURBED)
    if plan.repeat is not None:
        return len(counted) >= plan.repeat or (hopeless and len(own) >= plan.repeat)
    settled = bool(counted) and not unconverged(counted, threads)
    return len(own) >= MOST_RUNS or settled or hopeless


def _run_once(
    campaign: Campaign, plan: Plan, threads: int, *, environment: Mapping[str, str], left: float,
    read: Reader,
) -> Run:  # fmt: skip
    """Executes one run of the program. Raises RunFailedError if it fails or measures nothing."""
    seconds = left if plan.timeout_s is None else min(plan.timeout_s, left)
    load = os.getloadavg()[0]
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    with scratch_folder() as folder:
        output = folder / "results"
        standard_error = folder / "said"
        settings = {
            **environment,
            OUTPUT_VARIABLE: str(output),
            "OMP_NUM_THREADS": str(threads),
            "OMP_DYNAMIC": "false",
        }
        begin, own_before, before = time.monotonic(), _processor_time(), read_activity()
        code = _run_process(campaign.command, settings, standard_error, seconds)
        beside = disturbance(before, read_activity(), _processor_time() - own_before)
        wall = time.monotonic() - begin
        if code is None:
            by_limit = plan.timeout_s == seconds
            limit = "--timeout" if by_limit else "--time-budget"
            raise (RunFailedError if by_limit else BudgetEndedError)(
                f"{campaign.command[0]} did not end within {seconds:.3g} s on "
                f"{plural(threads, 'thread')} and was stopped",
                remedy=f"raise {limit}, or take a smaller problem",
            )
        said = _last_lines(standard_error) if code else ()
        results = read(output)
    if code and (_has_crashed(code) or not (results.regions or results.teams)):
        shown = f" (it said: {' / '.join(said)})" if said else ""
        raise RunFailedError(
            f"{campaign.command[0]} ended with {_shown_code(code)} on "
            f"{plural(threads, 'thread')}{shown}",
            remedy="run it without regionpredict to find the cause",
        )
    if not results.processes:
        raise RunFailedError(
            f"{campaign.command[0]} wrote no measurements",
            remedy=(
                "build it with CC='regionpredict cc -- gcc', or measure it with --binary; "
                "measurements before exec are lost"
            ),
        )
    if not results.regions and not results.teams:
        raise RunFailedError(
            f"{campaign.command[0]} ran no parallel loop",
            remedy="is it the right program, and were its sources compiled with -fopenmp?",
        )
    return Run(
        threads, 0, False, wall, started, load, results.program, results.compiler,
        results.runtime, results.regions, beside, results.teams,
        code, said,
    )  # fmt: skip


def _processor_time() -> float:
    """Returns the seconds of processor time used by this process and its finished children."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _run_process(
    command: tuple[str, ...], environment: Mapping[str, str], standard_error: Path, seconds: float
) -> int | None:
    """Runs the command. Returns its exit code, or None if it was stopped after its time limit."""
    with standard_error.open("wb") as sink:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink,
                env=dict(environment), start_new_session=True,
                preexec_fn=partial(end_with_parent, signal.SIGKILL, os.getpid()),  # noqa: PLW1509
            )  # fmt: skip
        except OSError as error:
            if is_missing(command[0], error):
                raise RunFailedError(
                    f"no program '{command[0]}'", remedy="check the path; write ./NAME for one here"
                ) from None
            raise RunFailedError(
                f"'{command[0]}' does not run: {error.strerror}", remedy="is it a program?"
            ) from None
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            _stop_process(process)
            return None
        except BaseException:
            _stop_process(process)
            raise


def _stop_process(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _shown_code(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"


def _has_crashed(code: int) -> bool:
    """Whether a signal ended the program, also inside a shell, which adds 128 to its number.

    A program that detects a wrong result ends with a small number. It has executed all its loops.
    """
    return code < 0 or code > _SHELL_SIGNAL


def _last_lines(standard_error: Path) -> tuple[str, ...]:
    """Returns the last lines that contain a letter or a digit."""
    lines = standard_error.read_text(encoding="utf-8", errors="replace").split("\n")
    written = [line.strip()[:_LINE_WIDTH] for line in lines if any(map(str.isalnum, line))]
    return tuple(written[-_LAST_LINES:])
