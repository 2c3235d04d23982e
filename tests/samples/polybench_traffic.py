"""Traffic of the PolyBench kernels: counted by the model and simulated, at scaled-down sizes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reference_traffic import simulated_lines

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.schedule import schedule_of
from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse
from regionpredict.workload.cache_traffic import CacheLevel, TrafficCounter
from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.work_distribution import work_profile

SAMPLES = Path(__file__).parents[2] / "polybench_samples"
ROOMS = ("linear_algebra", "solvers", "stencils", "data_mining", "medley")
KERNELS = tuple(
    str(path.relative_to(SAMPLES))
    for room in ROOMS
    for path in sorted(SAMPLES.glob(f"{room}/*/*.c"))
)


SMALLER = {"correlation": 200, "covariance": 200}  # M and N, of 500


def kernel_regions(kernel: str, dataset: str = "SMALL_DATASET") -> list[RegionFacts]:
    """The facts of the regions in a kernel's own function."""
    defines = [(dataset, "1")]
    size = SMALLER.get(Path(kernel).stem)
    if size is not None:
        defines += [("M", str(size)), ("N", str(size))]
    requests = requests_for((str(SAMPLES / kernel),), defines, [], "")
    facts = analyse(requests, {}).facts
    return [one for one in facts if one.region.function.startswith("kernel")]


def counted_bytes(facts: RegionFacts, threads: int, capacity: int) -> tuple[float, float]:
    """(bytes read, bytes written back) by the model's closed forms."""
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    level = CacheLevel(float(capacity), threads)
    counter = TrafficCounter(nest, work_profile(nest), schedule_of(facts.region), 64)
    (one,) = counter.traffic([level], threads)
    return one.read, one.written


def simulated_bytes(
    facts: RegionFacts, threads: int, capacities: Sequence[int], folder: Path, compiler: str
) -> list[float]:
    """Bytes read and written back by simulated caches of the given bytes."""
    lines = simulated_lines(facts, threads, capacities, folder, compiler)
    return [64.0 * (reads + writes) for reads, writes in lines]
