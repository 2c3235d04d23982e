"""`study_of`: compares runs of one program on different numbers of processes with the smallest run.

In strong scaling, the total work is constant, and in weak scaling, the work per process. The growth
of the work shows which of the two applies. U are the useful seconds, I the useful instructions and
C the useful cycles of all P processes, and index 0 is the reference run:

    strong: computation scalability = U_0 / U, instruction scalability = I_0 / I
    weak:   the same, times P / P_0
    IPC scalability = (I / C) / (I_0 / C_0),  frequency scalability = (C / U) / (C_0 / U_0)

Computation scalability is the product of the other three. Global efficiency is parallel efficiency
times computation scalability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from regionpredict.constant import Constant
from regionpredict.errors import InputError
from regionpredict.trace.factors import RunFactors
from regionpredict.trace.mpi_regions import plain_name

Scaling = Literal["strong", "weak"]

_ALIKE = Constant(
    0.5,
    "1",
    "assumed",
    "runs of one program share at least half of the smaller set of regions; on one rank, many "
    "programs send no messages",
)
_FEW = Constant(
    0.25,
    "1",
    "assumed",
    "runs of one program on several ranks rarely share less than a quarter of all regions",
)
_SET_UP = frozenset(
    f"mpi_{call}" for call in ("init", "init_thread", "finalize", "comm_rank", "comm_size")
)  # every MPI program calls these
_BETWEEN = Constant(
    0.5,
    "1",
    "derived",
    "total work grows as P^0 in strong scaling and as P^1 in weak scaling. The limit is the middle",
)


@dataclass(frozen=True, slots=True)
class ScaledRun:
    """A run with its scalabilities relative to the reference run. A scalability of 1 means no loss,
    and None is unknown.

    `initialized_computation` is the computation scalability between MPI_Init and MPI_Finalize.
    """

    factors: RunFactors
    computation: float | None
    instructions: float | None
    ipc: float | None
    frequency: float | None
    speedup: float | None
    initialized_computation: float | None = None

    @property
    def global_efficiency(self) -> float | None:
        """Parallel efficiency times computation scalability."""
        return None if self.computation is None else self.factors.parallel * self.computation


@dataclass(frozen=True, slots=True)
class Study:
    """The runs of a program sorted by width. `growth` is the exponent of P in the total work, or
    None for a single width. `scaling` follows from it.
    """

    runs: tuple[ScaledRun, ...]
    scaling: Scaling | None
    growth: float | None
    notes: tuple[str, ...]

    @property
    def widths(self) -> tuple[int, ...]:
        """The different numbers of processes in ascending order."""
        return tuple(sorted({run.factors.width for run in self.runs}))


def study_of(runs: Sequence[RunFactors]) -> Study:
    """Compares runs of one program with the smallest run.

    Raises InputError for runs of different programs.
    """
    runs = sorted(runs, key=lambda run: run.width)
    reference = runs[0]
    doubts = [_check_same_program(reference, run) for run in runs[1:]]
    notes = [doubt for doubt in doubts if doubt is not None]
    notes += [f"{run.name}: {note}" for run in runs for note in run.notes]
    notes += [
        f"{run.name}: the ideal run is longer than the real one, as where the network buffers "
        "messages beyond the eager limit; Trf is cut to 1"
        for run in runs
        if run.trimmed
    ]
    relative = [run.name for run in runs if run.relative]
    if len(relative) not in (0, len(runs)):
        raise InputError(
            f"{relative[0]} has no run time, but other runs have",
            remedy="give tables with run times, or one table",
        )
    if relative:
        notes.append("no run times: speedups and scalabilities count as those of strong scaling")
    notes += _missing_counters(runs)
    growth = _growth_of_work(runs)
    if growth is None:
        what = "one run" if len(runs) == 1 else f"all runs have {reference.width} processes"
        notes.append(f"{what}: factors, but no scalability and no extrapolation; give more sizes")
        return Study(
            tuple(ScaledRun(run, None, None, None, None, None) for run in runs), None, None,
            tuple(notes),
        )  # fmt: skip
    scaling: Scaling = "weak" if growth > _BETWEEN.value else "strong"
    if not -_BETWEEN.value < growth < 1 + _BETWEEN.value:
        notes.append(f"the work grows as P^{growth:.2f}: neither strong nor weak scaling")
    return Study(
        tuple(_scaled_run(run, reference, scaling) for run in runs), scaling, growth, tuple(notes)
    )


def _check_same_program(run: RunFactors, other: RunFactors) -> str | None:
    """Returns a remark if the two runs may be of different programs, or None. Raises InputError if
    they certainly are.
    """
    mine, others = _own_regions(run), _own_regions(other)
    common, least = len(mine & others), min(len(mine), len(others))
    if not least:
        return None
    if common < _ALIKE.value * least:
        only = sorted(others - mine)[:3]
        raise InputError(
            f"{run.name} and {other.name} are runs of different programs: "
            f"only the second has {', '.join(only)}",
            remedy="give runs of one program",
        )
    all_of_them = len(mine | others)
    if run.width > 1 and common < _FEW.value * all_of_them:
        return (
            f"{run.name} and {other.name} share {common} of {all_of_them} regions: "
            "are they runs of one program?"
        )
    return None


def _own_regions(run: RunFactors) -> frozenset[str]:
    """Returns the regions of a run, without the MPI functions that every program calls."""
    return frozenset(name for name in run.regions if plain_name(name) not in _SET_UP)


def _missing_counters(runs: Sequence[RunFactors]) -> list[str]:
    lacking = [run.name for run in runs if run.instructions is None or run.cycles is None]
    if not lacking:
        return []
    which = "no run has" if len(lacking) == len(runs) else f"{', '.join(lacking)}: no"
    return [
        f"{which} counters of instructions and cycles (PAPI_TOT_INS, PAPI_TOT_CYC): scalability "
        f"of instructions, IPC and frequency is unknown"
    ]


def _growth_of_work(runs: Sequence[RunFactors]) -> float | None:
    """Returns the exponent of P in the total work of all processes, by least squares. It is 0 for
    runs without run times.
    """
    width = np.log([run.width for run in runs])
    if np.ptp(width) == 0:
        return None
    if runs[0].relative:
        return 0.0
    counted = [run.instructions for run in runs if run.instructions is not None]
    work = counted if len(counted) == len(runs) else [run.useful_s for run in runs]
    return float(np.polyfit(width, np.log(work), 1)[0])


def _scaled_run(run: RunFactors, reference: RunFactors, scaling: Scaling) -> ScaledRun:
    wider = run.width / reference.width
    share = wider if scaling == "weak" else 1.0
    instructions = None
    if run.instructions is not None and reference.instructions is not None:
        instructions = share * reference.instructions / run.instructions
    inner = None
    if run.initialized is not None and reference.initialized is not None:
        inner = share * reference.initialized.useful_s / run.initialized.useful_s
    return ScaledRun(
        factors=run,
        computation=share * reference.useful_s / run.useful_s,
        instructions=instructions,
        ipc=_quotient_if_known(run.ipc, reference.ipc),
        frequency=_quotient_if_known(run.frequency_hz, reference.frequency_hz),
        speedup=share * reference.runtime_s / run.runtime_s,
        initialized_computation=inner,
    )


def _quotient_if_known(value: float | None, reference: float | None) -> float | None:
    return None if value is None or not reference else value / reference
