"""Writes a program's hint as Slurm options and as a job script."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from regionpredict.errors import InputError
from regionpredict.ir import Diagnostic
from regionpredict.machine import Machine
from regionpredict.predict import Recommendation, TeamPrediction, loops_of
from regionpredict.quoting import shell_comment, shell_word
from regionpredict.report.names import several
from regionpredict.report.quantities import plural
from regionpredict.report.recommendation import recommendation_lines, sizes_sentence
from regionpredict.report.run_settings import DEFAULT_SETTINGS, RunSettings

_NAMED = 8  # maximum listed parallel regions that are not counted


def slurm_options(hint: Recommendation, run: RunSettings = DEFAULT_SETTINGS) -> tuple[str, ...]:
    """The options of sbatch and salloc.

    Sockets and cores are requirements for the node. `--cpus-per-task` is the size of the job. By
    default, Slurm distributes cores over all sockets in turn and counts hardware threads as CPUs.
    The last option makes it fill one socket after the other, or take them in turn for spread
    threads. `--threads-per-core` sets the hint's number of threads per core (sbatch's manual,
    "--distribution", "--threads-per-core").
    """
    dealt = "block:cyclic" if run.binding == "spread" else "block:block"
    return (
        "--nodes=1",
        "--ntasks=1",
        f"--sockets-per-node={hint.packages}",
        f"--cores-per-socket={hint.cores_per_package}",
        f"--threads-per-core={hint.threads_per_core}",
        f"--cpus-per-task={hint.threads}",
        f"--distribution={dealt}",
    )


def slurm_script(
    hint: Recommendation | None, teams: Sequence[TeamPrediction], machine: Machine, model: str,
    seconds: Mapping[str, float] | None = None, run: RunSettings = DEFAULT_SETTINGS,
    *, unreached: Collection[str] = (), arguments: str = "", notes: Sequence[Diagnostic] = (),
) -> str:  # fmt: skip
    """Returns a job script that is complete except for the program's name.

    `seconds` are measured times on one thread by region id, which weight the `hint`. `unreached`
    are parallel regions that `main` cannot reach. `arguments` are those of the program. `notes` are
    those of reading: a note on a call that sets the number of threads becomes a comment. Raises
    InputError if no region has a hint.
    """
    if hint is None:
        raise InputError(
            "no loop has a hint, so Slurm options cannot be derived",
            remedy="--format table shows the missing sizes",
        )
    silent = [team.facts.id for team in teams if team.facts.id in unreached]
    teams = [team for team in teams if team.facts.id not in unreached]
    threads = plural(hint.threads, "thread")
    by = "" if hint.weighted_by == "equally" else "by "
    comments = [
        f"{threads} on {plural(hint.packages, 'package')} of {machine.name}: {model} model",
        *recommendation_lines(hint),
        sizes_sentence(hint, machine, arguments),
        f"{plural(hint.regions, 'loop')} weighted {by}{hint.weighted_by}",
        f"one number for the whole program: the {hint.rule}",
    ]
    comments += [
        f"without a hint: {team.facts.id}{_share_text(team, seconds)}"
        for team in teams if team.facts.id in hint.left_out
    ]  # fmt: skip
    if silent:
        comments.append(f"excluded, because no main reaches it: {several(silent, _NAMED)}")
    if seconds is not None:
        comments += [
            f"not in the measurements: {name}" for name in _unmeasured_teams(teams, seconds)
        ]
    comments += [str(note) for note in notes if note.id == "RP007"]
    if run.binding == "caches":
        comments.append("OMP_PLACES must list one core of each second-level cache first")
    lines = ["#!/bin/bash", *map(shell_comment, comments)]
    lines += [f"#SBATCH {option}" for option in slurm_options(hint, run)]
    lines += [
        "",
        f"export OMP_NUM_THREADS={hint.threads}",
        f"export OMP_PLACES={shell_word(run.places)}",
        f"export OMP_PROC_BIND={run.proc_bind}",
        "",
        shell_comment(
            f"srun --cpus-per-task={hint.threads} --cpu-bind=cores {run.numactl}./program"
            + (f" {arguments}" if arguments else "")
        ),
    ]
    return "\n".join(lines) + "\n"


def _share_text(team: TeamPrediction, seconds: Mapping[str, float] | None) -> str:
    """Describes a parallel region's share as ` (12 % of the measured time)`."""
    whole = sum((seconds or {}).values())
    own = [seconds[name] for name in loops_of(team) if name in seconds] if seconds else []
    return f" ({100 * sum(own) / whole:.0f} % of the measured time)" if whole and own else ""


def _unmeasured_teams(teams: Sequence[TeamPrediction], seconds: Mapping[str, float]) -> list[str]:
    names = dict.fromkeys(name for team in teams for name in loops_of(team))
    return [name for name in names if name not in seconds]
