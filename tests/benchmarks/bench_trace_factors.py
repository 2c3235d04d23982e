"""Factors against published ones, and their time for a trace of 10^6 events.

    python tests/benchmarks/bench_trace_factors.py [FOLDER]

FOLDER holds Paraver traces `epoch_Nproc.prv.gz` and `factors.csv` with the published figures.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from regionpredict.trace import Collective, Communicator, EventTrace, Kind, Location, Operations
from regionpredict.trace.event_trace import NONE, Paradigm, Region, Role
from regionpredict.trace.factors import run_factors
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import match_operations
from regionpredict.trace.paraver import read_paraver
from regionpredict.trace.scaling import study_of


def ring(ranks: int, rounds: int) -> EventTrace:
    """Each round: compute, send to the next rank, receive from the one before; 6 events."""
    step = 6
    time_of = np.array([0, 0, 1, 2, 2, 3])
    kinds = [Kind.ENTER, Kind.SEND, Kind.LEAVE, Kind.ENTER, Kind.RECEIVE, Kind.LEAVE]
    region = np.array([1, NONE, 1, 2, NONE, 2])
    per_rank = step * rounds + 2
    times, kind, regions = [], [], []
    for rank in range(ranks):
        base = 1000 * np.arange(rounds)[:, None] + time_of[None, :] * 100 + 100 + rank % 7
        times.append(np.concatenate([[0], base.reshape(-1), [1000 * rounds + 1000]]))
        kind.append(np.concatenate([[Kind.ENTER], np.tile(kinds, rounds), [Kind.LEAVE]]))
        regions.append(np.concatenate([[0], np.tile(region, rounds), [0]]))
    every = np.concatenate(kind).astype(np.uint8)
    event = np.flatnonzero((every == Kind.SEND) | (every == Kind.RECEIVE))
    rank = event // per_rank
    sends = every[event] == Kind.SEND
    partner = np.where(sends, (rank + 1) % ranks, (rank - 1) % ranks).astype(np.int32)
    zero = np.zeros(len(event), dtype=np.int64)
    return EventTrace(
        locations=tuple(Location(r) for r in range(ranks)),
        regions=(
            Region("ring", Paradigm.USER, Role.PROGRAM),
            Region("MPI_Send", Paradigm.MPI, Role.POINT_TO_POINT),
            Region("MPI_Recv", Paradigm.MPI, Role.POINT_TO_POINT),
        ),
        communicators=(Communicator("MPI_COMM_WORLD", tuple(range(ranks))),),
        ticks_per_second=1e9,
        starts=np.arange(ranks + 1, dtype=np.int64) * per_rank,
        time=np.concatenate(times).astype(np.int64),
        kind=every,
        region=np.concatenate(regions).astype(np.int32),
        operations=Operations(
            event=event,
            partner=partner,
            communicator=zero.astype(np.int32),
            tag=zero.astype(np.int32),
            root=np.full(len(event), NONE, dtype=np.int32),
            sent=np.where(sends, 1024, 0),
            received=np.where(sends, 0, 1024),
            request=np.full(len(event), NONE, dtype=np.int64),
            collective=np.full(len(event), int(Collective.UNKNOWN), dtype=np.uint8),
        ),
        name="ring",
    )


def published(folder: Path, kernels: Kernels) -> None:
    """Prints the largest difference to each published figure."""
    with (folder / "factors.csv").open() as file:
        lines = [row for row in csv.reader(file, delimiter=";") if len(row) > 1]
    rows = {row[0].lstrip("#"): row[1:] for row in lines}
    widths = [int(text) for text in rows.pop("Number of processes")]
    traces = [read_paraver(folder / f"epoch_{width}proc.prv.gz", kernels) for width in widths]
    study = study_of(
        [run_factors(trace, match_operations(trace, kernels), kernels) for trace in traces]
    )
    ours = {
        "Parallel efficiency": lambda r: 100 * r.factors.parallel,
        "Load balance": lambda r: 100 * r.factors.load_balance,
        "Communication efficiency": lambda r: 100 * r.factors.communication,
        "Serialization efficiency": lambda r: 100 * r.factors.serialisation,
        "Transfer efficiency": lambda r: 100 * r.factors.transfer,
        "Computation scalability": lambda r: 100 * r.computation,
        "Global efficiency": lambda r: 100 * r.global_efficiency,
        "IPC scalability": lambda r: 100 * r.ipc,
        "Instruction scalability": lambda r: 100 * r.instructions,
        "Frequency scalability": lambda r: 100 * r.frequency,
        "Speedup": lambda r: r.speedup,
        "Average IPC": lambda r: r.factors.ipc,
        "Average frequency (GHz)": lambda r: r.factors.frequency_hz / 1e9,
        "Runtime (us)": lambda r: 1e6 * r.factors.runtime_s,
        "Runtime (ideal)": lambda r: 1e6 * r.factors.ideal_runtime_s,
        "Useful duration (maximum)": lambda r: 1e6 * r.factors.useful_maximum_s,
        "Useful duration (total)": lambda r: 1e6 * r.factors.useful_s,
        "Useful duration (ideal, max)": lambda r: 1e6 * r.factors.own_maximum_s,
        "Useful instructions (total)": lambda r: r.factors.instructions,
        "Useful cycles (total)": lambda r: r.factors.cycles,
    }
    for name, figure in ours.items():
        gaps = [
            abs(figure(run) - float(text)) for run, text in zip(study.runs, rows[name], strict=True)
        ]
        print(f"{name:30} largest difference {max(gaps):.2e} of {float(rows[name][0]):.6g}")


def main() -> None:
    """Both."""
    with tempfile.TemporaryDirectory() as folder:
        kernels = Kernels(("gcc",), Path(folder))
        if len(sys.argv) > 1:
            published(Path(sys.argv[1]), kernels)
        small = ring(2, 2)
        run_factors(small, match_operations(small, kernels), kernels)  # compiles
        for ranks in (16, 1024):
            trace = ring(ranks, 1_000_000 // (6 * ranks))
            start = time.process_time()
            factors = run_factors(trace, match_operations(trace, kernels), kernels)
            took = time.process_time() - start
            print(f"{len(trace)} events of {ranks} ranks: {took:.2f} s of processor time")
            assert factors.serialisation == 1


if __name__ == "__main__":
    main()
