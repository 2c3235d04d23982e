"""Input: a `Workload` and a machine. Output: an `Estimate` with its speedup curve.

`model` is the entry point. `region_time` combines the terms of a time: `core` (cycles of a core),
`traffic_curve` (bytes and lines by threads), `memory_bandwidth`, `memory_overflow`,
`page_faults_and_coherence`, `openmp_overheads` and `serial_queue`.
"""

from regionpredict.predict.saturation.ablation import ALL_PARTS, Parts
from regionpredict.predict.saturation.model import (
    known_at_all_sizes,
    predict_saturation,
    region_time,
    rough_curve,
    round_counts,
    size_target,
)
from regionpredict.predict.saturation.region_time import RegionTime, counters_of
from regionpredict.predict.saturation.traffic_contention import Contention, contention_slowdown

__all__ = [
    "ALL_PARTS",
    "Contention",
    "Parts",
    "RegionTime",
    "contention_slowdown",
    "counters_of",
    "known_at_all_sizes",
    "predict_saturation",
    "region_time",
    "rough_curve",
    "round_counts",
    "size_target",
]
