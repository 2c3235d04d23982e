"""Lines moved by random programs: what the package says against an LRU simulation of their traces.

`python tests/workload/random_traffic.py [COUNT [FIRST]]` prints shares by schedule, team and kind
of program. Each program is run, its references are dealt to threads as its schedule does, threads
of one cache take turns, and caches of 6 to 120 % of the lines touched are simulated.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

RANDOM_LOOPS = Path(__file__).parents[1] / "random_loops"
sys.path.insert(0, str(RANDOM_LOOPS))

from loop_verdicts import facts_of  # noqa: E402
from programs import RandomProgram, program  # noqa: E402
from twin import COMPILER, SHARED, WRITE, Truth, truths  # noqa: E402

from regionpredict.analysis import RegionFacts  # noqa: E402
from regionpredict.analysis.schedule import Schedule  # noqa: E402
from regionpredict.workload import CacheLevel, SizeTarget, workload_of  # noqa: E402
from regionpredict.workload.cache_traffic import TrafficCounter  # noqa: E402

LINE_BYTES = 64
SHARES = (0.06, 0.15, 0.35, 0.7, 1.2)  # of the lines touched, in all caches together
TEAMS = ((1, 1), (4, 1), (4, 4))  # threads, and how many of them share a cache
SCHEDULES = (("block", None), ("chunked", 1), ("chunked", 3))
FEWEST_LINES = 60
FEWEST_HELD = 8
"""Smaller caches hold a part of one iteration at best: no real one is as small."""


class Compared(NamedTuple):
    """One cache: bytes moved below it as told and as simulated."""

    seed: int
    schedule: str
    threads: int
    sharers: int
    share: float
    told: float
    simulated: float
    kinds: frozenset[str]

    @property
    def ratio(self) -> float:
        return self.told / self.simulated


class Simulator:
    """The simulated cache, compiled."""

    def __init__(self, folder: Path) -> None:
        library = folder / "lru.so"
        subprocess.run(
            [COMPILER, "-O2", "-shared", "-fPIC", str(RANDOM_LOOPS / "lru.c"), "-o", str(library)],
            check=True,
        )
        self._lru = ctypes.CDLL(str(library)).lru

    def lines_moved(self, lines: np.ndarray, writes: np.ndarray, held: int) -> int:
        """Lines brought into a cache of `held` lines and written back from it."""
        lines = np.ascontiguousarray(lines, dtype=np.int64)
        writes = np.ascontiguousarray(writes, dtype=np.uint8)
        out = (ctypes.c_long * 2)()
        self._lru(lines.ctypes.data_as(ctypes.c_void_p), writes.ctypes.data_as(ctypes.c_void_p),
                  ctypes.c_long(len(lines)), ctypes.c_long(int(lines.max(initial=0)) + 1),
                  ctypes.c_long(held), out)  # fmt: skip
        return out[0] + out[1]


class Trace:
    """A program's references: line numbers, whether written, and the shared iteration of each."""

    def __init__(self, truth: Truth) -> None:
        events = truth.events
        iteration = np.cumsum(events["kind"] == SHARED) - 1
        memory = (events["kind"] != SHARED) & (iteration >= 0)
        self.iterations = truth.iterations
        self.iteration = iteration[memory]
        seen = events[memory]
        self.writes = seen["kind"] == WRITE
        local = np.array([own for _, own in truth.arrays], dtype=bool)[seen["array"]]
        # Arrays lie apart; lines of a thread's own arrays are told apart by thread below.
        self.place = seen["array"].astype(np.int64) * (1 << 32) + seen["offset"] // LINE_BYTES
        self.local = local

    def touched(self) -> int:
        """Lines that one thread touches."""
        return len(np.unique(self.place))

    def caches(
        self, threads: int, sharers: int, chunk: int | None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The lines and writes that reach each cache, in order."""
        thread = thread_of_iterations(self.iterations, threads, chunk)[self.iteration]
        place = self.place + np.where(self.local, (thread + 1) << 48, 0)
        turn = np.zeros(len(thread), dtype=np.int64)
        for one in range(threads):
            mine = thread == one
            turn[mine] = np.arange(mine.sum())
        for first in range(0, threads, sharers):
            mine = np.flatnonzero((thread >= first) & (thread < first + sharers))
            order = mine[np.lexsort((thread[mine], turn[mine]))]
            _, lines = np.unique(place[order], return_inverse=True)
            yield lines, self.writes[order]


def thread_of_iterations(iterations: int, threads: int, chunk: int | None) -> np.ndarray:
    """The thread of each shared iteration: blocks as even as can be, or chunks in turn."""
    number = np.arange(iterations)
    if chunk is not None:
        return number // chunk % threads
    least, more = divmod(iterations, threads)
    return np.where(number < more * (least + 1), number // (least + 1),
                    more + (number - more * (least + 1)) // max(1, least))  # fmt: skip


def comparisons(
    one: RandomProgram, facts: RegionFacts, truth: Truth, simulator: Simulator
) -> Iterator[Compared]:
    """Every cache of one program; nothing where its counts are withheld or it is too small."""
    trace = Trace(truth)
    touched = trace.touched()
    if touched < FEWEST_LINES or facts.iterations.value != truth.iterations:
        return
    if any(fact.executions.value is None or fact.executions.at_most for fact in facts.statements):
        return
    work = workload_of(facts, SizeTarget(float(1 << 20), "a MiB"), LINE_BYTES).execution
    if work is None:
        return
    for schedule, chunk in SCHEDULES:
        counter = TrafficCounter(
            work.work.nest, work.work.profile,
            Schedule("static", None if chunk is None else float(chunk)), LINE_BYTES,
        )  # fmt: skip
        for threads, sharers in TEAMS:
            if threads > truth.iterations:
                continue
            streams = list(trace.caches(threads, sharers, chunk))
            for share in SHARES:
                held = int(share * touched * sharers / threads)
                if held < FEWEST_HELD:
                    continue
                true = sum(simulator.lines_moved(*stream, held) for stream in streams)
                (level,) = counter.traffic([CacheLevel(float(held * LINE_BYTES), sharers)], threads)
                yield Compared(one.seed, schedule, threads, sharers, share, level.total,
                               float(true * LINE_BYTES), one.kinds)  # fmt: skip


def compared_programs(seeds: Sequence[int], batch: int = 50) -> Iterator[Compared]:
    """All comparisons of the large programs of these seeds whose references do not hang on data."""
    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(Path(folder))
        for begin in range(0, len(seeds), batch):
            made = [program(seed, large=True) for seed in seeds[begin : begin + batch]]
            made = [one for one in made if one.alike]
            kept = [(one, true) for one, true in zip(made, truths(made), strict=True) if true]
            told = facts_of([one for one, _ in kept], "libclang")
            for (one, true), facts in zip(kept, told, strict=True):
                yield from comparisons(one, facts, true, simulator)


def near(found: Sequence[Compared]) -> float:
    """The share within 10 %."""
    return sum(abs(one.ratio - 1) <= 0.1 for one in found) / len(found)


def furthest(found: Sequence[Compared]) -> float:
    """The worst ratio, above or below."""
    return max(max(one.ratio, 1 / max(one.ratio, 1e-9)) for one in found)


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000
    found = list(compared_programs(range(first, first + count)))
    classes: dict[str, list[Compared]] = defaultdict(list)
    for one in found:
        classes["all"].append(one)
        caches = "private" if one.sharers < one.threads else "shared"
        threads = "1 thread" if one.threads == 1 else f"{one.threads} threads, {caches} caches"
        classes[f"{one.schedule}, {threads}"].append(one)
        classes[f"cache of {one.share:.0%}"].append(one)
        for kind in one.kinds:
            classes[f"kind: {kind}"].append(one)
    print(f"{len({one.seed for one in found})} programs, {len(found)} caches")
    print(f"{'':44}{'caches':>8}{'within 10 %':>13}{'furthest':>10}{'beyond 3':>10}")
    for name, members in sorted(classes.items()):
        beyond = sum(max(one.ratio, 1 / max(one.ratio, 1e-9)) > 3 for one in members)
        print(f"{name:44}{len(members):8}{near(members):13.1%}{furthest(members):10.2f}{beyond:10}")
    for one in sorted(found, key=lambda one: -max(one.ratio, 1 / max(one.ratio, 1e-9)))[:12]:
        print(one._replace(kinds=frozenset()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
