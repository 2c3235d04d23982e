"""`run_factors`: splits the parallel efficiency of a run into LB x Ser x Trf.

`t_i` is the useful time of process `i` (a thread counts as a process), `T` the run time, and `T_0`
the run time on the ideal network. The factors follow Rosas 2014, eq. 1 to 4:

    LB   = mean(t_i) / max(t_i)
    Comm = max(t_i) / T
    Ser  = max(o_i) / T_0
    Trf  = Comm / Ser

`o_i` is the own time of process `i` in the ideal run. It is the sum of useful time, other time
without waiting (I/O), and the time before the process starts, which the reference tools replay as
work.
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
from regionpredict.trace.clock_conditions import late_events, message_conditions, violations
from regionpredict.trace.event_trace import EventTrace, Kind
from regionpredict.trace.iterations import Iterations
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import Matches
from regionpredict.trace.nominal_run import CYCLES
from regionpredict.trace.region_split import RegionSplit, region_splits
from regionpredict.trace.replay import IDEAL, BlockedError, Network, replay, start_times
from regionpredict.trace.team_split import TeamSplit, team_split
from regionpredict.trace.thread_dependencies import thread_synchronisations

Serialisation = Literal["reference", "useful", "ideal-run"]
SERIALISATIONS: dict[str, str] = {
    "reference": "largest own time (useful, I/O, and before the process began) over the ideal run "
    "time, as the reference tools print it",
    "useful": "largest useful time over the ideal run time (Rosas 2014, eq. 3)",
    "ideal-run": "largest share of its lifetime that a process computes in the ideal run",
}
"""The definitions of serialization efficiency (Ser) by name. The first one is the default."""

GIVEN = "given"
"""The name of the definition of Ser for runs whose factors are from a table."""

INSTRUCTIONS = ("PAPI_TOT_INS", "INSTRUCTIONS", "instructions", "perf::INSTRUCTIONS")


@dataclass(frozen=True, slots=True)
class EagerPoint:
    """The serialization efficiency Ser, and the ideal run time in seconds, for another eager limit
    (`limit` in bytes).
    """

    limit: float
    ideal_runtime_s: float
    serialisation: float


@dataclass(frozen=True, slots=True)
class Initialized:
    """The factors of the part of a run after the last exit from MPI_Init and before the first entry
    into MPI_Finalize. `left_out` is the share of the run time outside this part. Factors and shares
    are from 0 to 1. `useful_s` is the useful time of all processes in this part.
    """

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
    """The factors and totals of one run. Factors are from 0 to 1, and times are in seconds.

    `ranks` is the number of MPI ranks, and `width` the number of processes in the factors. Threads
    count as processes if a rank has several. `useful_s`, `instructions` and `cycles` are totals in
    useful time. The last two are None if the trace has no such counter. `serialisations` has all
    definitions. `trimmed` means that Trf was above 1 and was set to 1, because the ideal run was
    slower than the real one. `iterations` is the number of iterations in the selected phase, None
    for a whole run. `not_analysed` has the number of calls that the replay leaves out, by name.
    `initialized` is None if the trace has no MPI_Init, or if a part of the run is selected. If a
    table has communication but not its factors, `undivided` is communication, and the factors and
    the ideal run time are None. `relative` means that a table has speedups or scalabilities instead
    of run times, so all times have an unknown unit.
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
    relative: bool = False

    @property
    def communication(self) -> float:
        """Ser x Trf. It is the largest useful time divided by the run time, unless Trf was
        trimmed.
        """
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
        """Useful instructions per cycle."""
        if self.instructions is None or not self.cycles:
            return None
        return self.instructions / self.cycles

    @property
    def frequency_hz(self) -> float | None:
        """Cycles per second of useful time."""
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
    """Computes the factors of one run. `network` is the network of the ideal run, by default
    without costs. Its eager limit has the largest effect. With `nominal`, the run time `T` is that
    of a replay on this network instead of the recorded one. `work` may then replace the length of
    the span after each event, in ticks. `inside` selects the events after which time counts (None:
    all). Other time outside MPI passes, but is not useful. Without `eager_points`, other eager
    limits are not tried. Raises InputError for an unknown definition, for ranks without events, and
    for a trace without computation.
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
    conditions = {"message": message_conditions(trace, matches)}
    clocks = violations(trace, late_events(trace, conditions))[1]
    left_out = calls_not_analysed(trace, matches, replayed=True)
    findings = (*trace.findings, *matches.findings, *clocks, *note_of(left_out))
    notes = list(map(str, findings))
    if nominal is not None:
        runtime = int(
            _replay_without_deadlock(
                trace, matches, kernels, nominal, own_work, bursts, notes
            ).max()
        )
    if not useful.max(initial=0) or not runtime:
        raise InputError(
            f"{trace.name or 'the trace'}: no process computes anything outside MPI",
            remedy="record the functions or states of the program, too",
        )
    begin = start_times(trace, thread_synchronisations(trace).need)
    ideal = _replay_without_deadlock(trace, matches, kernels, network, own_work, bursts, notes)
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
    instructions, balance = _counter_total(trace, counted, INSTRUCTIONS)
    cycles, _ = _counter_total(trace, counted, CYCLES)
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
        eager=_factors_by_eager_limit(
            trace, matches, kernels, network, own_work, bursts, largest_own
        )
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
        regions=_entered_regions(trace),
    )


def _replay_without_deadlock(
    trace: EventTrace,
    matches: Matches,
    kernels: Kernels,
    network: Network,
    work: NDArray[np.int64],
    bursts: Bursts,
    notes: list[str],
) -> NDArray[np.int64]:
    """Returns the end of each location in the replay. After a deadlock, the replay is repeated
    without an eager limit, since the network of the run must have sent larger messages eagerly.
    """
    try:
        return replay(trace, matches, kernels, network, work, bursts)
    except BlockedError:
        array = replay(
            trace, matches, kernels, replace(network, eager_limit=float(2**62)), work, bursts
        )
        notes.append(
            f"with an eager limit of {network.eager_limit:.0f} bytes the ranks would deadlock, "
            f"so their network sent larger messages eagerly: replayed without a limit"
        )
        return array


def _check_complete(trace: EventTrace) -> None:
    events = np.diff(trace.starts)
    empty = [str(trace.locations[i]) for i in np.flatnonzero(events == 0).tolist()]
    # Only a rank's first thread must have events; additional threads may be unused.
    ranks = {
        location.rank for location, count in zip(trace.locations, events, strict=True) if count
    }
    missing = sorted({location.rank for location in trace.locations} - ranks)
    if missing or not len(trace):
        raise InputError(
            f"{trace.name or 'the trace'}: {plural(len(trace.ranks), 'rank')} announced, "
            f"{len(ranks)} with events; the first without events is {empty[0] if empty else 0}",
            remedy="use the complete trace, or one that announces only the ranks it contains",
        )


def _entered_regions(trace: EventTrace) -> frozenset[str]:
    """Returns the names of the regions that events enter, without the region of the whole
    program.
    """
    used = np.unique(trace.region[trace.region >= 0])
    return frozenset(
        trace.regions[i].name for i in used.tolist() if trace.regions[i].role.name != "PROGRAM"
    )


def _counter_total(
    trace: EventTrace, bursts: Bursts, names: tuple[str, ...]
) -> tuple[float | None, float | None]:
    """Returns a counter's total in useful time, and the counter's mean divided by its maximum over
    the processes.
    """
    for counter in trace.counters:
        if counter.name in names:
            grown = useful_increase(trace, bursts, counter)
            if grown.max(initial=0) > 0:
                return float(grown.sum()), float(grown.sum() / (len(grown) * grown.max()))
    return None, None


def _factors_by_eager_limit(
    trace: EventTrace,
    matches: Matches,
    kernels: Kernels,
    network: Network,
    work: NDArray[np.int64],
    bursts: Bursts,
    own: int,
) -> tuple[EagerPoint, ...]:
    """Returns Ser for eager limits of zero, half and twice the network's limit, and infinity.
    Limits between the same message sizes are tried only once.
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
