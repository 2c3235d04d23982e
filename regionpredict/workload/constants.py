"""The constants of the workload, with unit, evidence and source."""

from __future__ import annotations

from regionpredict.constant import Constant

UNKNOWN_TRIPS = Constant(
    16.0, "iterations", "assumed",
    "a loop whose bounds depend on data. A row of a sparse matrix of a three-dimensional "
    "stencil has 7 to 27 entries",
)  # fmt: skip
UNKNOWN_EXTENT = Constant(
    1 << 20, "elements", "assumed",
    "an array of unknown length that is read at random, in a loop with an unknown number of "
    "iterations. It is larger than the private caches and smaller than memory",
)  # fmt: skip
BRANCH_SHARE = Constant(
    0.5, "of the executions", "assumed",
    "the executed share of each side of a branch in a loop body, since the source does not show "
    "its frequency. More than two sides have equal shares",
)  # fmt: skip
CALL_OPERATIONS = Constant(
    20.0, "operations", "assumed",
    "the operations that a library call counts for. Functions such as exp, sin and log take 10 to "
    "40 times as long as an addition (Intel SVML, glibc 2.28 and later)",
)  # fmt: skip
RARE_SIDE = Constant(
    4 / 68, "of the executions", "assumed",
    "a side of a branch with a message or an allocation: LLVM weighs cold calls by 4 and other "
    "code by 64 (BranchProbabilityInfo)",
)  # fmt: skip
EULER_GAMMA = Constant(
    0.5772156649015329, "1", "derived",
    "the difference of 1 + 1/2 + ... + 1/n and ln n for large n (Abramowitz and Stegun 1964, "
    "6.1.3)",
)  # fmt: skip
SKEW_EXPONENT = Constant(
    2.5, "1", "assumed",
    "the exponent of the assumed power law of iterations of unknown work. Exponents of degrees "
    "and other natural quantities are mostly between 2 and 3 (Clauset, Shalizi and Newman 2009, "
    '"Power-law distributions in empirical data", SIAM Review 51)',
)  # fmt: skip
HEAVY_SHARE = Constant(
    0.9, "of the work", "assumed",
    "the share of the work in the long iterations if only the longest and the mean iteration are "
    "known",
)  # fmt: skip
TRIANGLE_NODES = ((0.2113248654, 0.5), (0.7886751346, 0.5))
"""Gauss-Legendre points and weights on [0, 1], derived. They are exact for polynomials up to degree
three, such as the work of a triangular nest (Abramowitz and Stegun 1964, table 25.4).
"""
TRIANGLE_HALVINGS = Constant(
    6, "halvings", "derived",
    "precision of the position in a triangle from which an iteration fits: 1/64 of the loop",
)  # fmt: skip
PROFILE_SAMPLES = Constant(
    64, "samples", "derived",
    "samples of the work along a triangular loop, linear or quadratic: precise to 1 % of a piece",
)  # fmt: skip
SCATTER = Constant(
    0.1, "of the mean", "assumed",
    "work counts as erratic if neighboring samples have a larger standard deviation. Smooth bounds "
    "have less than 1 %, the lengths of Collatz sequences 40 %",
)  # fmt: skip
MEDIAN_BEND = Constant(
    1.652, "standard deviations", "derived",
    "the median of the second differences of independent normal values: 0.6745 sqrt(1 + 4 + 1)",
)  # fmt: skip
SCATTERED_SAMPLES = Constant(
    256, "samples", "derived",
    "samples for the share of iterations in which a condition holds: precise to 1 %",
)  # fmt: skip
GOLDEN_RATIO = Constant(
    0.6180339887498949, "of the loop, from a sample to the next", "derived",
    "its multiples modulo 1 are evenly distributed without a period (Niederreiter 1992, ch. 3)",
)  # fmt: skip
MOST_GUIDED_PIECES = Constant(
    64, "pieces a thread", "derived",
    "the pieces of a guided schedule halve each time, so 64 pieces cover all 64-bit counts",
)  # fmt: skip
WORK_PLACES = (0.0, 0.3, 1.0)
"""Positions along the parallel loop at which work is compared (assumed): both ends, and an inner
position. The inner position is not the middle, where symmetric work may equal that at the ends.
"""
WORK_PHASES = Constant(
    3, "phases", "assumed",
    "maximum number of thread counts at work that are distinguished: the threads of a piece end"
    " one after the other, and their footprint changes slowly",
)  # fmt: skip
KEPT_SHARE = Constant(
    0.5, "of a cache", "assumed",
    "a cache keeps all data of the previous run up to this size, and none from a whole cache "
    "on, with a linear share in between. A cyclic walk over more than an LRU cache holds finds "
    "nothing",
)  # fmt: skip
CHANCE_STEPS = Constant(
    40, "steps", "derived",
    "after this many steps, the share that random replacement keeps is known to 1 %. For data "
    "within 5 % of the size of the cache, it is known to 5 %",
)  # fmt: skip
UNEVEN_WORK = Constant(
    1.1, "times", "assumed",
    "the ratio of work between parallel iterations above which threads do not run in lockstep",
)  # fmt: skip
HALO = Constant(
    2.0, "elements", "assumed",
    "the additional elements of a row of unknown length beyond the range of its loops: one at "
    "each end, as in a stencil",
)  # fmt: skip
NUMBER_BYTES = Constant(
    16.0, "B", "derived",
    "the widest number that is always in one line, at any place in a struct, because of its "
    "alignment (System V ABI for AMD64, table 3.1, `long double` and `__int128`)",
)  # fmt: skip
BRANCH_SIDES = Constant(
    2.0, "sides", "derived", "a branch has two sides, even if one of them is empty"
)
GUIDED_DIVISOR = Constant(
    2.0, "even shares", "assumed",
    "a guided piece is half of an even share of the rest, as in libomp. OpenMP 5.2, sec. "
    "11.5.3, does not define the factor, and libgomp takes the whole share",
)  # fmt: skip
WAITED_PIECE = Constant(
    0.5, "pieces", "derived",
    "with dynamic schedules, the ends of threads are evenly distributed over the time of the last "
    "piece",
)  # fmt: skip
GATHER_LOADS = Constant(
    2.0,
    "loads",
    "derived",
    "loads of a reference with a data-dependent address: the address and the element",
)
NEAR_DEPENDENCE = Constant(
    8, "iterations", "assumed",
    "a recurrence over more iterations than this has enough independent chains to hide its latency",
)  # fmt: skip
LONGEST_CYCLE = Constant(
    4, "iterations", "assumed",
    "maximum length of a cycle of scalars that exchange values: 2 for `a, b = b, a + b`",
)  # fmt: skip
DEFAULT_ELEMENT = Constant(
    8,
    "B",
    "assumed",
    "element size of loops without references, and for unknown sizes: double precision",
)
TILE_SIZE = Constant(
    32,
    "iterations",
    "assumed",
    "the value of a name that is a step and a bound, which is a tile size",
)
LARGEST_TRIAL = Constant(
    1 << 34, "1", "derived", "a vector of this many numbers fills the memory of any node: 128 GiB"
)
FALLBACK_SIZE = Constant(
    2000, "1", "assumed", "the assumed size if neither data nor work grows with the size"
)
LEAST_TYPICAL = Constant(
    1000, "iterations", "assumed",
    "the minimum iterations of the largest loop in a run that gives a scale for unknown sizes",
)  # fmt: skip
SHORT_LOOP = Constant(
    32, "iterations", "assumed",
    "an inner loop with fewer iterations is the work of one element, such as 8 corners of a cell "
    "or 27 entries of a row",
)  # fmt: skip
MOST_WORK = Constant(
    1e11, "iterations", "assumed",
    "the maximum iterations of innermost loops in one execution of a region of unknown sizes: "
    "minutes of one core",
)  # fmt: skip
TRIAL_DATA = Constant(
    1 << 30, "B", "assumed",
    "data of a region with unknown sizes, for expressions that hold for large sizes: beyond all "
    "caches",
)  # fmt: skip
COUNTED_SHARE = Constant(
    0.5, "of the lines", "assumed",
    "a smaller share of lines at a distance is due to the ends of rows",
)  # fmt: skip
NEAR = Constant(
    8, "elements", "derived",
    "a remainder with this many values selects places within one line of doubles",
)  # fmt: skip
MOST_BLOCKS = Constant(
    16, "threads", "derived",
    "pieces that are enumerated; with more, the middle one represents all",
)  # fmt: skip
MOST_RUNS = Constant(
    2048, "runs", "derived",
    "addresses of an array that are enumerated run by run if rows overlap, which takes a few "
    "milliseconds; more are counted by closed forms",
)  # fmt: skip
FEW_RUNS = Constant(
    48, "runs", "measured",
    "up to this number, single addresses are faster than arrays, whose operations take a "
    "microsecond each",
)  # fmt: skip
ENUMERATED_GROUP = Constant(
    4.0, "closed forms", "measured",
    "enumerating a group's lines takes as long as this many closed forms (0.1 ms and 25 us in a "
    "nest of seven loops)",
)  # fmt: skip
FIRST_WORK = Constant(
    3000.0, "closed forms", "assumed",
    "if one thread's traffic through all caches takes longer to count (0.1 s), closed forms "
    "replace enumeration",
)  # fmt: skip
MOST_REFERENCES = Constant(
    1 << 19, "references", "derived",
    "a nest with at most this many references is enumerated, which takes some hundredths of a "
    "second per number of threads, and some megabytes",
)  # fmt: skip
STREAM_LINES = Constant(
    64, "lines", "derived",
    "lines between two uses: every first cache holds at least this many",
)  # fmt: skip
FOOTPRINT_WORK = Constant(
    2000.0, "references", "measured",
    "a footprint that is counted run by run takes as long as this many references of a trace "
    "(0.17 ms and 0.08 µs, least squares over 2,784 trials of five programs)",
)  # fmt: skip
MOST_EVALUATIONS = Constant(
    1 << 12, "evaluations", "derived",
    "evaluations of bounds and addresses that are not affine, in an enumerated nest. They "
    "take some hundredths of a second",
)  # fmt: skip
TRACE_PLACES = Constant(
    4, "places", "derived",
    "tried starts of unaligned arrays in a line: precise to an eighth of a line at the ends of "
    "rows",
)  # fmt: skip
PLACED_REFERENCES = Constant(
    1 << 17, "references", "derived",
    "the maximum references of a nest for which several offsets of arrays within a line are tried. "
    "In larger nests, each array has another offset",
)  # fmt: skip
NEAR_USE = Constant(
    256, "references", "derived",
    "a line that is used again after fewer others is still in the first cache",
)  # fmt: skip
REUSE_SAMPLES = Constant(
    8, "samples", "derived",
    "the number of sampled iterations of a loop with growing or shrinking inner loops",
)  # fmt: skip
LONGEST_EXPRESSION = Constant(
    60,
    "names, numbers and operators",
    "assumed",
    "longer ones are not shown, since they are not readable",
)
LARGEST_DENOMINATOR = Constant(
    1000, "1", "derived",
    "maximum denominator of the fraction that represents a double",
)  # fmt: skip
COARSE_CHUNK = Constant(
    16, "iterations", "assumed", "the chunk that is tried if threads fetch single iterations"
)
ADDRESS_SPACE = Constant(
    1 << 47, "B", "measured",
    "the address space with four-level page tables (Intel 64 and IA-32 Architectures Software "
    "Developer's Manual, vol. 3A, sec. 4.5)",
)  # fmt: skip
MOST_EXECUTIONS = Constant(
    1e30, "1", "derived", "30,000 years of 1e18 operations per second, the rate of the largest "
    "computers",
)  # fmt: skip
LARGEST_COUNT = Constant((1 << 63) - 1, "1", "derived", "the largest signed 64-bit integer")
ROUNDING = Constant(
    1e-9, "1", "derived", "rounding error of sums of doubles, below any difference of counts"
)
TRAFFIC_SLACK = Constant(
    0.15, "of the traffic", "measured",
    "the tolerance for more traffic in a larger cache. Four of 2,730 pairs of cache sizes of the "
    "samples, one twice the other, have up to 11 % more traffic in the larger cache. There, an "
    "iteration of a loop just begins to fit",
)  # fmt: skip
EXACT_RECIPROCAL = Constant(
    126, "power of two", "derived",
    "powers of two between this and its reciprocal have a reciprocal that is a normal number of "
    "single precision (IEEE 754, exponents from -126 to 127). A division by them is a product",
)  # fmt: skip
