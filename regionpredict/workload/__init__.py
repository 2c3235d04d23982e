"""Input: `RegionFacts`. Output: a machine-independent `Workload`, which describes a region for
known sizes.

`workload_of` is the entry point. `statement_table` lists statements with operations and references.
`work_distribution` and `iteration_pieces` divide the work among threads. `loop_bodies`,
`recurrences`, `iteration_chain` and `if_conversion` describe the work of a core. `cache_traffic`
counts the bytes between cache levels by size, threads and sharers. `prefetch` finds accesses
without prefetching, and `gathers` finds data-dependent accesses. `synchronisation` counts calls of
the OpenMP runtime, and `serial_bodies` separates serial work. `array_sharing` finds lines in other
cores' caches. `reuse_facts` and `reuse_distance` compute reuse distances. `verify` cross-checks the
results.
"""

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.history.first_touch import Placement
from regionpredict.analysis.schedule import Schedule
from regionpredict.analysis.teams import TeamFacts
from regionpredict.ir import Diagnostic, Region, Span
from regionpredict.workload.array_sharing import ArraySharing
from regionpredict.workload.assumed_sizes import (
    TYPICAL,
    CommonSizes,
    OpenSize,
    SizeTarget,
    bound_sizes,
    common_names,
    with_typical_sizes,
)
from regionpredict.workload.cache_traffic import (
    NOT_ASKED,
    ArrayTraffic,
    CacheContents,
    CacheLevel,
    LevelTraffic,
    TrafficCounter,
    warm_cache_contents,
)
from regionpredict.workload.constants import COARSE_CHUNK, UNKNOWN_TRIPS
from regionpredict.workload.gathers import Gather, gathers_of
from regionpredict.workload.iteration_chain import Step
from regionpredict.workload.iteration_pieces import piece_count, piece_length
from regionpredict.workload.layer_conditions import Carrier
from regionpredict.workload.loop_bodies import LoopBody
from regionpredict.workload.prefetch import strided_arrays, unprefetched_arrays
from regionpredict.workload.recurrences import Recurrence
from regionpredict.workload.reuse_distance import ReuseShare
from regionpredict.workload.reuse_facts import (
    HistogramBar,
    ReuseFact,
    reuse_facts,
    reuse_histogram,
)
from regionpredict.workload.scalar_replacement import NONE_KEPT
from regionpredict.workload.skewed_work import Skew
from regionpredict.workload.source_changes import (
    Change,
    changes_of,
    clause_of,
    names_of,
    with_parallel_first_touch,
    without_barrier,
    without_fork,
)
from regionpredict.workload.statement_table import (
    ReferenceRow,
    StatementRow,
    StatementTable,
    statement_table,
)
from regionpredict.workload.synchronisation import SynchronisationCounts
from regionpredict.workload.work_distribution import WorkProfile, largest_share
from regionpredict.workload.workload import Execution, SerialWork, Work, Workload, workload_of

__all__ = [
    "COARSE_CHUNK",
    "NONE_KEPT",
    "NOT_ASKED",
    "TYPICAL",
    "UNKNOWN_TRIPS",
    "ArraySharing",
    "ArrayTraffic",
    "CacheContents",
    "CacheLevel",
    "Carrier",
    "Change",
    "CommonSizes",
    "Diagnostic",
    "Execution",
    "Gather",
    "HistogramBar",
    "LevelTraffic",
    "LoopBody",
    "OpenSize",
    "Placement",
    "Recurrence",
    "ReferenceRow",
    "Region",
    "RegionFacts",
    "ReuseFact",
    "ReuseShare",
    "Schedule",
    "SerialWork",
    "SizeTarget",
    "Skew",
    "Span",
    "StatementRow",
    "StatementTable",
    "Step",
    "SynchronisationCounts",
    "TeamFacts",
    "TrafficCounter",
    "Work",
    "WorkProfile",
    "Workload",
    "bound_sizes",
    "changes_of",
    "clause_of",
    "common_names",
    "gathers_of",
    "largest_share",
    "names_of",
    "piece_count",
    "piece_length",
    "reuse_facts",
    "reuse_histogram",
    "statement_table",
    "strided_arrays",
    "unprefetched_arrays",
    "warm_cache_contents",
    "with_parallel_first_touch",
    "with_typical_sizes",
    "without_barrier",
    "without_fork",
    "workload_of",
]
