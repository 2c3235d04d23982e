"""The constants of the saturation model, except those of the machine, with unit, evidence and
source.
"""

from __future__ import annotations

from regionpredict.constant import Constant

# -- any core -------------------------------------------------------------------------------------

BYTE = Constant(8, "bit", "derived", "a byte")
RESERVED_REGISTERS = Constant(
    4, "registers", "assumed", "registers for intermediate results, without a loop's constants"
)
LOOP_CONTROL = Constant(
    2.0, "instructions/iteration", "derived", "the increment and the fused comparison and branch"
)
OUTER_BODY = Constant(
    1.0,
    "instructions/iteration",
    "derived",
    "loop control of an outer loop, in addition to its inner one",
)
SCALAR_LOAD = Constant(
    8.0, "B", "derived",
    "the size of a double, the element of the kernels of a machine's tables. A kernel that "
    "reads the first cache only as fast as its ports allow may be scalar code",
)  # fmt: skip
INTERLEAVED_SUMS = Constant(
    4, "vectors", "assumed",
    "partial sums of a sum in any order. LLVM's vectorizer interleaves up to four vectors, and "
    "Intel's compiler unrolls as much (LLVM, Auto-Vectorization, partial unrolling). gcc keeps "
    "one, which matters only in caches",
)  # fmt: skip
CHAIN_OVERLAP = Constant(
    0.5, "of the window", "measured",
    "the part of the window in which a restarted chain overlaps with the end of the previous "
    "one. It is less than the whole window because of the branch at each end. Running sums of "
    "64 to 512 products on Zen 5 are within 7 % of it. With a whole window they are predicted "
    "up to 31 % faster than measured, and with none up to 49 % slower",
)  # fmt: skip
MASKED_BITS = Constant(
    256, "bit", "measured",
    "vectors of this width load and store under masks. AVX has masked moves, AVX-512 and SVE "
    "have masks for all operations, and SSE and NEON for none (Intel 64 and IA-32 Architectures "
    "Software Developer's Manual, vol. 1, ch. 14 and 15. Arm Architecture Reference Manual, "
    "SVE)",
)  # fmt: skip
LONG_INTEGER = Constant(
    0.5, "of the table's cycles", "assumed",
    "integer multiplications: vectors use two pipes, and tables are for one",
)  # fmt: skip
PREFETCHED_STRIDE = Constant(
    0.5, "of the prefetch block", "derived",
    "a prefetcher needs two misses of a stream inside its block to see a direction: strides beyond "
    "half a block leave it one or two",
)  # fmt: skip

WALKED_STRIDE = Constant(
    0.5, "of a page", "assumed",
    "page walks of narrower strides are not counted: two steps or more share a translation",
)  # fmt: skip

PAGE_ENTRY = Constant(
    8.0, "B", "measured",
    "an entry of a page table of x86-64 and AArch64 (Intel 64 and IA-32 Architectures Software "
    "Developer's Manual, vol. 3A, sec. 4.5. Arm Architecture Reference Manual, sec. D8.3)",
)  # fmt: skip
LARGE_PAGE = Constant(
    2 << 20, "B", "measured",
    "the next larger page of x86-64 and of AArch64 with pages of 4 KiB. A TLB may keep its "
    "translations separately (Intel 64 and IA-32 Architectures Software Developer's Manual, "
    "vol. 3A, sec. 4.5)",
)  # fmt: skip
TABLE_SHARE = Constant(
    0.5, "of a cache", "derived",
    "the share for the page table if each step reaches another page: at most one line of the "
    "table per line of data",
)  # fmt: skip
CHE_STEPS = Constant(
    50,
    "steps",
    "derived",
    "after this many halvings, Che's time is exact to the precision of a double",
)

# -- the operating system and its libraries -------------------------------------------------------

TASK_LOCKS = Constant(
    2.0, "passages/task", "derived",
    "GCC's runtime holds the lock of the parallel region when a task is created, and when it ends "
    "and the next one starts (GCC, libgomp/task.c)",
)  # fmt: skip
USABLE_MEMORY = Constant(
    0.95, "of the memory", "assumed",
    "the memory of a domain that a program can use. Linux keeps 64 B per page of 4 KiB (1.6 %). "
    "The kernel, its caches and services take about one GiB of the 32 of a domain",
)  # fmt: skip
FIRST_TOUCH_BYTES = Constant(
    4096,
    "B",
    "derived",
    "the amount to which the machine's table `first_touch` refers, for any page size",
)
RECYCLED_BLOCK = Constant(
    128 << 10, "B", "measured",
    "malloc takes smaller blocks from memory that the program has used before. Larger blocks "
    "come from the kernel (The GNU C Library, sec. 3.2.3.7: M_MMAP_THRESHOLD, which programs "
    "that free large blocks raise)",
)  # fmt: skip
KEPT_BLOCKS = Constant(
    2.0, "largest freed blocks", "measured",
    "of free memory that malloc keeps at the end of its heap (GNU C Library, mallopt(3), "
    "M_TRIM_THRESHOLD)",
)  # fmt: skip
LARGEST_KEPT_BLOCK = Constant(
    32 << 20, "B", "measured",
    "malloc always takes larger blocks from the kernel, and returns them (mallopt(3): "
    "DEFAULT_MMAP_THRESHOLD_MAX)",
)  # fmt: skip
BORDER_TRANSFERS = Constant(
    2.0, "transfers", "derived",
    "malloc's blocks begin anywhere in a line. Where the parts of two neighbors meet, the line "
    "moves back and forth. Each transfer takes as long as an update of one variable by two "
    "threads in turn, the machine's `atomic` on two",
)  # fmt: skip

FAR_STARTS = Constant(
    2.0, "lines per thread", "derived",
    "a thread of another package fetches the start of a region from the first thread. Its "
    "arrival at the end is counted there. Each way, a line crosses the link",
)  # fmt: skip
FAR_ARRIVALS = Constant(
    1.0, "lines per thread", "derived",
    "if threads take turns to change one variable, its line crosses the link once per thread of "
    "another package",
)  # fmt: skip

# -- the model ------------------------------------------------------------------------------------

ASSUMED_DATA = Constant(
    10, "largest caches", "measured",
    "data of a region with unknown sizes: the setting of Chatzopoulos 2012, sec. 6.2",
)  # fmt: skip
FIRST_CACHE_SHARE = Constant(
    0.5, "of the first cache", "assumed",
    "up to this amount, a line of another core costs `line_transfer`, beyond it `bulk_transfer`",
)  # fmt: skip
COUNTED_TEAMS = Constant(
    10, "numbers of threads", "derived",
    "maximum thread counts with counted traffic. In between it is interpolated, within 1 % on the "
    "samples",
)  # fmt: skip
CURVE_WORK = Constant(
    10_000.0, "closed forms", "assumed",
    "after this work (0.25 s), the traffic is not counted at further thread counts",
)  # fmt: skip
STRAIGHT = Constant(
    0.01, "of the traffic", "derived", "the accepted deviation from a straight line"
)
TURNING_WRITES = Constant(
    0.02, "of the traffic", "assumed",
    "from this share of write-backs on, the bus saturates like with writing kernels",
)  # fmt: skip
MIX_DIGITS = Constant(
    4,
    "digits",
    "derived",
    "kernels whose shares of write-backs agree to this many digits are grouped",
)
SOLVER_STEPS = Constant(
    60, "steps", "derived", "after this many steps, bisection has reached the last bit of a double"
)
SOLVER_RESIDUAL = Constant(
    1e-9,
    "of the cores",
    "derived",
    "precision of the closed queue's solution, beyond that of times",
)
SOLVER_INTERVAL = Constant(1e-7, "of the cores", "derived", "the interval of that solution")
STAYING = Constant(
    0.5, "of one thread's traffic", "assumed",
    "a loss of memory traffic from which the caches are reported to keep data between two runs",
)  # fmt: skip
DECIDING_SHARE = Constant(
    0.5, "of the time", "assumed",
    "the figures of a term decide from this share of the time on the hinted threads on",
)  # fmt: skip
SUPERLINEAR = Constant(
    1.05, "of the number of threads", "assumed",
    "a speedup above this is reported with its reason: repeated runs differ by less",
)  # fmt: skip

# -- how far an assumed figure of a machine is off ------------------------------------------------
# Standard deviations of the logarithm, from the figures of shipped machine files: their differences
# from the defaults, or from each other.

OPENMP_SPREAD = Constant(
    0.49, "of the logarithm", "measured",
    "an assumed cost of OpenMP: the difference between the barriers of four shipped machines "
    "and the formula for machines without one, as each machine's root mean square. Files have "
    "no data for other constructs",
)  # fmt: skip
CORE_SPREAD = Constant(
    0.41, "of the logarithm", "measured",
    "an assumed figure of a core: latencies and throughputs of operations in shipped machine files "
    "against the defaults, each machine's root mean square",
)  # fmt: skip
CACHE_SPREAD = Constant(
    0.61, "of the logarithm", "measured",
    "an assumed bandwidth of a cache: bytes per cycle beyond the first cache in shipped machine "
    "files against the defaults, each machine's root mean square",
)  # fmt: skip
LATENCY_SPREAD = Constant(
    0.17, "of the logarithm", "measured",
    "an assumed latency of memory: those of shipped machine files against the default of 90 ns",
)  # fmt: skip
BANDWIDTH_SPREAD = Constant(
    0.097, "of the logarithm", "measured",
    "an assumed bandwidth of a domain: by how much the shares of the peak that shipped machines "
    "reach with loads differ (standard deviation)",
)  # fmt: skip
LINK_SPREAD = Constant(
    0.39, "of the logarithm", "measured",
    "an assumed link between packages, or its latency. Links in shipped machine files carry "
    "other shares of a package's bandwidth than the default of a half",
)  # fmt: skip
INTERVAL_95 = Constant(
    1.96, "standard deviations", "derived", "half of a 95 % interval of a normal distribution"
)
