"""`run_factors`: why one run is not `P` times as fast: parallel efficiency = LB x Ser x Trf.

With `t_i` the useful time of process `i` (a thread counts as one), `T` the run time and `T_0` the
run time on the ideal network (Rosas 2014, eq. 1 to 4, in the order that the tools compute them):

    LB   = mean(t_i) / max(t_i)
    Comm = max(t_i) / T
    Ser  = max(o_i) / T_0
    Trf  = Comm / Ser

`o_i` is what process `i` does by itself in the ideal run: useful time, time in which it neither
computes nor waits (I/O), and the time before it began, which the reference tools replay as work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from regionpredict.errors import InputError, plural
from regionpredict.trace.bursts import Bursts, bursts_of, by_location, useful_increase
from regionpredict.trace.calls_not_analysed import calls_not_analysed, note_of
from regionpredict.trace.clock_conditions import message_conditions, violations
from regionpredict.trace.event_trace import EventTrace, Kind
from regionpredict.trace.iterations import Iterations
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import Matches
from regionpredict.trace.nominal_run import CYCLES
from regionpredict.trace.region_split import RegionSplit, region_splits
from regionpredict.trace.replay import IDEAL, BlockedError, Network, begins, replay
from regionpredict.trace.team_split import TeamSplit, team_split
from regionpredict.trace.thread_dependencies import synchronisations

Serialisation = Literal["reference", "useful", "ideal-run"]
SERIALISATIONS: dict[str, str] = {
    "reference": "largest own time (useful, I/O, and before the process began) over the ideal run "
    "time, as the reference tools print it",
    "useful": "largest useful time over the ideal run time (Rosas 2014, eq. 3)",
    "ideal-run": "largest share of its own life that a process computes in the ideal run",
}
"""The definitions of Ser in use, by name; the first one is printed unless another is asked for."""

GIVEN = "given"
"""The definition of Ser of runs whose factors come from a table."""

INSTRUCTIONS = ("PAPI_TOT_INS", "INSTRUCTIONS", "instructions", "perf::INSTRUCTIONS")


@dataclass(frozen=True, slots=True)
class EagerPoint:
    """What Ser would be with another eager limit (bytes), and the ideal run time in seconds."""

    limit: float
    ideal_runtime_s: float
    serialisation: float


@dataclass(frozen=True, slots=True)
class Initialized:
    """The factors between the last rank's leaving MPI_Init and the first one's entering
    MPI_Finalize, and what share of the run time that leaves out; all from 0 to 1. `useful_s` is the
    useful time between them, of all processes."""

    useful_s: float
    left_out: float
    load_balance: float
    serialisation: float
    transfer: float

    @property
    def parallel(self) -> float:
        """LB x Ser x Trf."""
        return self.load_balance * self.serialisation * self.transfer


@dataclass(frozen=True, slots=True)
class RunFactors:
    """One run's figures. Factors are from 0 to 1; times are seconds.

    `ranks` counts MPI's, `width` the processes of the factors: threads where a rank has several.
    `useful_s`, `instructions` and `cycles` are totals in useful time, the latter None where the
    trace has no such counter. `serialisations` has all definitions. `trimmed` says that Trf came
    out above 1, because the ideal run was slower than the real one, and was cut to 1. `iterations`
    are those of the phase that the figures are of, None for a whole run. `not_analysed` has calls
    that the replay leaves out, with their number. `initialized` is None where the trace has no
    MPI_Init, or the figures are of a part of the run. Where a table gives communication, but not
    its parts, `undivided` is that, and the parts and the ideal run time are None.
    """

    name: str
    ranks: int
    width: int
    runtime_s: float
    ideal_runtime_s: float | None
    useful_s: float
    useful_maximum_s: float
    own_maximum_s: float
    load_balance: float
    serialisation: float | None
    transfer: float | None
    definition: str
    serialisations: dict[str, float]
    eager: tuple[EagerPoint, ...]
    instructions: float | None = None
    cycles: float | None = None
    instruction_balance: float | None = None
    team: TeamSplit | None = None
    parallel_regions: tuple[RegionSplit, ...] = ()
    trimmed: bool = False
    notes: tuple[str, ...] = ()
    not_analysed: Mapping[str, int] = field(default_factory=dict)
    regions: frozenset[str] = field(default=frozenset())
    iterations: Iterations | None = None
    initialized: Initialized | None = None
    undivided: float | None = None

    @property
    def communication(self) -> float:
        """Ser x Trf: the largest useful time over the run time, unless trimmed."""
        if self.serialisation is None or self.transfer is None:
            assert self.undivided is not None
            return self.undivided
        return self.serialisation * self.transfer

    @property
    def parallel(self) -> float:
        """LB x Ser x Trf."""
        return self.load_balance * self.communication

    @property
    def ipc(self) -> float | None:
        """Useful instructions a cycle."""
        if self.instructions is None or not self.cycles:
            return None
        return self.instructions / self.cycles

    @property
    def frequency_hz(self) -> float | None:
        """Cycles a second of useful time."""
        return None if self.cycles is None or not self.useful_s else self.cycles / self.useful_s


def run_factors(
    trace: EventTrace,
    matches: Matches,
    kernels: Kernels,
    *,
    definition: str = "reference",
    network: Network = IDEAL,
    nominal: Network | None = None,
    work: NDArray[np.int64] | None = None,
    inside: NDArray[np.bool_] | None = None,
    eager_points: bool = True,
) -> RunFactors:
    """The factors of one run.

    `network` replaces the ideal one as the network of `T_0` (for its eager limit, first of all).
    With `nominal`, `T` is not what the trace shows but what a replay on that network takes; then
    `work` may replace the length of the span after each event, in ticks. `inside` says after which
    events time is part of what the factors are of (all of it where it is None); other time outside
    MPI passes, but is not useful. Without `eager_points`, other eager limits are not tried. Raises
    InputError for an unknown definition, for a trace of more ranks than have events, and where
    nothing is computed.
    """
    if definition not in SERIALISATIONS:
        raise InputError(
            f"unknown definition of serialisation '{definition}'",
            remedy=f"use one of {', '.join(SERIALISATIONS)}",
        )
    _check_complete(trace)
    bursts = bursts_of(trace)
    counted = bursts
    if inside is not None:
        bursts = replace(bursts, useful=bursts.useful & inside)
    length = bursts.length if work is None else work
    tick = 1.0 / trace.ticks_per_second
    useful = by_location(trace, np.where(bursts.useful, length, 0))
    own = by_location(trace, np.where(bursts.own, length, 0))
    own_work = np.where(bursts.own, length, 0)
    runtime = int(trace.time.max(initial=0))
    clocks = violations(trace, {"message": message_conditions(trace, matches)})[1]
    left_out = calls_not_analysed(trace, replayed=True)
    findings = (*trace.findings, *matches.findings, *clocks, *note_of(left_out))
    notes = list(map(str, findings))
    if nominal is not None:
        runtime = int(_replayed(trace, matches, kernels, nominal, own_work, bursts, notes).max())
    if not useful.max(initial=0) or not runtime:
        raise InputError(
            f"{trace.name or 'the trace'}: no process computes anything outside MPI",
            remedy="record the functions or states of the program, too",
        )
    begin = begins(trace, synchronisations(trace).need)
    ideal = _replayed(trace, matches, kernels, network, own_work, bursts, notes)
    ideal_end = int(ideal.max())
    largest_own = int((own + begin).max())
    life = np.maximum(ideal - begin, 1)
    serialisations = {
        "reference": largest_own / ideal_end,
        "useful": int(useful.max()) / ideal_end,
        "ideal-run": float((useful / life).max()),
    }
    serialisation = min(serialisations[definition], 1.0)
    communication = int(useful.max()) / runtime
    transfer = communication / serialisation
    instructions, balance = _counted(trace, counted, INSTRUCTIONS)
    cycles, _ = _counted(trace, counted, CYCLES)
    return RunFactors(
        name=trace.name,
        ranks=len(trace.ranks),
        width=len(trace.locations),
        runtime_s=runtime * tick,
        ideal_runtime_s=ideal_end * tick,
        useful_s=int(useful.sum()) * tick,
        useful_maximum_s=int(useful.max()) * tick,
        own_maximum_s=largest_own * tick,
        load_balance=float(useful.sum()) / (len(useful) * int(useful.max())),
        serialisation=serialisation,
        transfer=min(transfer, 1.0),
        definition=definition,
        serialisations=serialisations,
        eager=_eager_points(trace, matches, kernels, network, own_work, bursts, largest_own)
        if eager_points
        else (),
        instructions=instructions,
        cycles=cycles,
        instruction_balance=balance,
        team=team_split(trace, bursts),
        parallel_regions=region_splits(trace, bursts),
        trimmed=transfer > 1.0 + 1e-9,
        notes=tuple(dict.fromkeys(notes)),
        not_analysed=left_out,
        regions=_entered(trace),
    )


def _replayed(
    trace: EventTrace,
    matches: Matches,
    kernels: Kernels,
    network: Network,
    work: NDArray[np.int64],
    bursts: Bursts,
    notes: list[str],
) -> NDArray[np.int64]:
    """The replay; where it blocks and the run did not, the run's network sent more eagerly."""
    try:
        return replay(trace, matches, kernels, network, work, bursts)
    except BlockedError:
        array = replay(
            trace, matches, kernels, replace(network, eager_limit=float(2**62)), work, bursts
        )
        notes.append(
            f"with an eager limit of {network.eager_limit:.0f} bytes the ranks would wait for each "
            "other for ever, so their network sent more without asking: replayed without a limit"
        )
        return array


def _check_complete(trace: EventTrace) -> None:
    events = np.diff(trace.starts)
    empty = [str(trace.locations[i]) for i in np.flatnonzero(events == 0).tolist()]
    # a rank's further threads may never have been used; its first one was
    ranks = {
        location.rank for location, count in zip(trace.locations, events, strict=True) if count
    }
    missing = sorted({location.rank for location in trace.locations} - ranks)
    if missing or not len(trace):
        raise InputError(
            f"{trace.name or 'the trace'}: announced: {plural(len(trace.ranks), 'rank')}, "
            f"with events: {len(ranks)}; the first without is {empty[0] if empty else 0}",
            remedy="give the complete trace, or one cut to the ranks it has",
        )


def _entered(trace: EventTrace) -> frozenset[str]:
    """The names of the regions that events enter, but for the program's."""
    used = np.unique(trace.region[trace.region >= 0])
    return frozenset(
        trace.regions[i].name for i in used.tolist() if trace.regions[i].role.name != "PROGRAM"
    )


def _counted(
    trace: EventTrace, bursts: Bursts, names: tuple[str, ...]
) -> tuple[float | None, float | None]:
    """A counter's total in useful time, and the balance of the processes in it."""
    for counter in trace.counters:
        if counter.name in names:
            grown = useful_increase(trace, bursts, counter)
            if grown.max(initial=0) > 0:
                return float(grown.sum()), float(grown.sum() / (len(grown) * grown.max()))
    return None, None


def _eager_points(
    trace: EventTrace,
    matches: Matches,
    kernels: Kernels,
    network: Network,
    work: NDArray[np.int64],
    bursts: Bursts,
    own: int,
) -> tuple[EagerPoint, ...]:
    """Ser when all messages wait for their receivers, when none does, and around the limit.

    Only limits between which messages lie are tried.
    """
    operations = trace.operations
    sends = np.isin(trace.kind[operations.event], (Kind.SEND, Kind.SEND_REQUEST))
    sizes = np.unique(operations.sent[sends & (matches.mate >= 0)])
    if not len(sizes):
        return ()
    points = []
    tried: set[int] = set()
    for limit in (0.0, network.eager_limit / 2, network.eager_limit * 2, float(2**62)):
        within = int(np.searchsorted(sizes, limit, side="right"))
        if within in tried:
            continue
        tried.add(within)
        other = replace(network, eager_limit=limit)
        try:
            end = int(replay(trace, matches, kernels, other, work, bursts).max())
        except BlockedError:  # a program that relies on eager messages blocks without them
            continue
        points.append(EagerPoint(limit, end / trace.ticks_per_second, min(own / end, 1.0)))
    return tuple(points)
