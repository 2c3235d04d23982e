"""A program's hint as Slurm options and as the head of a job script.

#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --sockets-per-node=2
#SBATCH --cores-per-socket=6
#SBATCH --cpus-per-task=12
export OMP_NUM_THREADS=12 OMP_PLACES=cores OMP_PROC_BIND=close
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regionpredict.errors import InputError
from regionpredict.machine import Machine
from regionpredict.predict import Prediction
from regionpredict.report.program_hint import ProgramHint, program_hint
from regionpredict.report.quantities import plural


def slurm_options(hint: ProgramHint) -> tuple[str, ...]:
    """The options of sbatch, salloc and srun.

    Sockets and cores are what a node must have; `--cpus-per-task` is what the job is given.
    """
    return (
        "--nodes=1",
        "--ntasks=1",
        f"--sockets-per-node={hint.packages}",
        f"--cores-per-socket={hint.cores_per_package}",
        f"--cpus-per-task={hint.threads}",
    )


def slurm_script(
    predictions: Sequence[Prediction], machine: Machine, model: str,
    seconds: Mapping[str, float] | None = None,
) -> str:  # fmt: skip
    """A job script that lacks only the program's own line.

    `seconds` are measured times on one thread by region id. Raises InputError where no region has
    a hint.
    """
    hint = program_hint(predictions, machine, seconds)
    if hint is None:
        raise InputError(
            "no region has a hint, so there is nothing to ask Slurm for",
            remedy="see --format table for what is missing",
        )
    threads = plural(hint.threads, "thread")
    lines = [
        "#!/bin/bash",
        f"# {threads} on {plural(hint.packages, 'package')} of {machine.name}: {model} model, "
        f"{plural(hint.regions, 'region')} weighed {_by(hint.weighted_by)}",
    ]
    lines += [f"# without a hint: {name}" for name in hint.left_out]
    lines += [f"#SBATCH {option}" for option in slurm_options(hint)]
    binding = "close" if hint.packages == 1 else "spread"
    lines += [
        "",
        f"export OMP_NUM_THREADS={hint.threads}",
        "export OMP_PLACES=cores",
        f"export OMP_PROC_BIND={binding}",
        "",
        "# srun --cpu-bind=cores ./program",
    ]
    return "\n".join(lines) + "\n"


def _by(weighted: str) -> str:
    return weighted if weighted == "equally" else f"by {weighted}"
