"""A machine of round figures, and loop bodies and traffic made up for it.

Two packages of four cores at 2 GHz: a cycle is half a nanosecond, and 2 B a cycle are 4 GB/s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from regionpredict.frontend import requests_for
from regionpredict.machine import Machine
from regionpredict.machine.reader.machine_file import read
from regionpredict.pipeline import analyse, region_workload
from regionpredict.workload import (
    ArrayTraffic,
    CacheContents,
    CacheLevel,
    LevelTraffic,
    LoopBody,
    Recurrence,
    Schedule,
    TrafficCounter,
    Workload,
    WorkProfile,
)
from regionpredict.workload.cache_traffic import EMPTY
from regionpredict.workload.layer_conditions import Carrier
from regionpredict.workload.loop_nest import LoopNest

CYCLE = 0.5e-9
TEXT = """
name: round
sources: {test: "round numbers"}
source: test
node: {packages: 2, cores_per_package: 4, clock: 2 GHz, simd: 256}
processor:
  issue_width: 4
  vector_registers: 16
  general_registers: 16
  loads_per_cycle: 2
  stores_per_cycle: 1
  memory_operations_per_cycle: 3
  load_bytes_per_cycle: 64
  store_bytes_per_cycle: 64
  fp_pipes: 2
  fp_add_pipes: 2
  fp_mul_pipes: 2
  integer_pipes: 4
  divider_bits: 128
  window: 192
  store_forward: 7
  outstanding_misses: 10
  tlb_entries: 1024
  tlb_large_entries: 32
  page_walkers: 1
  page_walk_factor: 1
  prefetched_streams: 32
  prefetch_block: 4 KiB
  write_allocate: 1
  lasting_share: 0
caches:
  - {level: 1, size: 32 KiB, ways: 8, cores: 1, latency: 4, bandwidth: {load: {1: 128}}}
  - {level: 2, size: 256 KiB, ways: 8, cores: 1, latency: 14, bytes_per_cycle: 32}
  - {level: 3, size: 4 MiB, ways: 16, cores: 4, latency: 40, bandwidth: {load: {1: 16, 4: 32}}}
memory:
  latency: 200
  remote_latency: 300
  page: 4 KiB
  bandwidth: {load: {1: 10, 4: 20}}
operations:
  fp_add: {latency: 4, throughput: 1}
  fp_mul: {latency: 5, throughput: 2}
  fp_fma: {latency: 6, throughput: 2}
  fp_div: {latency: 20, throughput: 10}
  fp_sqrt: {latency: 24, throughput: 12}
  fp_compare: {latency: 3, throughput: 1}
  fp_neg: {latency: 1, throughput: 1}
  int_add: {latency: 1, throughput: 0.5}
  int_mul: {latency: 3, throughput: 4}
  int_div: {latency: 40, throughput: 30}
  exp: {latency: 40, throughput: 20}
  call: {latency: 100, throughput: 50}
openmp:
  fork_join: {1: 1000, 4: 4000, 8: 8000}
  barrier: {1: 100, 2: 300, 4: 700, 8: 1500}
  reduction: {1: 10, 4: 60, 8: 100}
  dynamic_chunk: {1: 40, 4: 400, 8: 800}
  atomic: {1: 20, 2: 200, 4: 600, 8: 1200}
  critical: {1: 60, 4: 900, 8: 1800}
  first_touch: {1: 1000, 2: 1500, 4: 2000, 8: 3000}
  line_transfer: {1: 1, 2: 50, 4: 60, 8: 80}
  bulk_transfer: {1: 1, 2: 10, 4: 12, 8: 16}
"""


def round_machine(*changes: tuple[str, str]) -> Machine:
    """The machine, with some of its text replaced."""
    text = TEXT
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return read(text, "round.yaml")


def body(
    operations: Mapping[str, float] | None = None, *, loads: float = 0.0, stores: float = 0.0,
    executions: float = 1.0, innermost: bool = True, element: int = 8, scalars: int = 0,
    recurrences: Sequence[Recurrence] = (), because: str = "",
) -> LoopBody:  # fmt: skip
    """A loop over `i` on line 7; operations, loads and stores are those of one iteration."""
    return LoopBody(
        "i", 7, executions, innermost, element, tuple((operations or {}).items()), loads, stores,
        scalars, tuple(recurrences), because,
    )  # fmt: skip


def workload_of_text(folder: Path, text: str, machine: Machine, **sizes: int) -> Workload:
    """The workload of the only region of a text."""
    path = folder / "case.c"
    path.write_text(text)
    (facts,) = analyse(requests_for([str(path)]), sizes).facts
    return region_workload(facts, machine)


Traffic = Callable[[int, int], Mapping[str, tuple[float, float]]]
"""(position of a cache, threads) to bytes (read, written) below it, by array."""


class GivenTraffic(TrafficCounter):
    """Bytes as a test gives them; `asked` are the numbers of threads and the caches asked for."""

    def __init__(
        self, nest: LoopNest, given: Traffic, touched: Mapping[str, float] | None = None
    ) -> None:
        super().__init__(nest, WorkProfile(1.0, ()), Schedule("static", None), 64)
        self.given = given
        self.whole = dict(touched or {})
        self.asked: dict[int, tuple[CacheLevel, ...]] = {}

    def traffic(
        self, levels: Sequence[CacheLevel], threads: int, *, contents: CacheContents = EMPTY
    ) -> tuple[LevelTraffic, ...]:
        """The given bytes."""
        assert threads not in self.asked, "counted once"
        self.asked[threads] = tuple(levels)
        return tuple(
            LevelTraffic(tuple(
                ArrayTraffic(name, read, written, Carrier(None, 0.0))
                for name, (read, written) in self.given(position, threads).items()
            ))
            for position in range(len(levels))
        )  # fmt: skip

    def touched(self) -> dict[str, float]:
        """The given bytes of each array."""
        return self.whole


def no_traffic(position: int, threads: int) -> Mapping[str, tuple[float, float]]:
    """Nothing below any cache."""
    return {}
