"""The constants that turn a curve into a hint, with unit, evidence and source."""

from __future__ import annotations

from regionpredict.constant import Constant

WITHIN = Constant(
    0.05, "of the best speed", "assumed",
    "the loss that a hint accepts without `--within`: repeated runs of a region differ by as much",
)  # fmt: skip
PACKAGE_PRICE = Constant(
    2.0, "times the allowed loss of a hint", "assumed",
    "the gain in speed that justifies another socket. It is the highest price in docs/accuracy.md "
    "at which hints lose almost no more time than at lower prices",
)  # fmt: skip
OPENED_SHARE = Constant(
    0.5, "of a package's price", "assumed",
    "the part of the price for using a socket at all. The rest is for the used cores. Jobs get "
    "whole sockets, so a few threads block a socket for others",
)  # fmt: skip
PROGRAM_SLACK = Constant(
    0.1, "of a program's least time", "assumed",
    "the loss that a program accepts for fewer threads, since other programs use such "
    "cores better",
)  # fmt: skip
MOST_OF_THE_TIME = Constant(
    0.9, "of a program's time on one thread", "assumed",
    "the shown loops take this share, and their sizes are listed for the program's number",
)  # fmt: skip
WORTHWHILE_SAVING = Constant(
    0.01, "of the program's time", "assumed",
    "changes to the source that save less are not listed, since models are not as exact",
)  # fmt: skip
SATURATED = Constant(
    0.9, "of the best speed", "assumed", "a curve is saturated where it reaches this share"
)
EFFICIENT = Constant(
    0.8, "of the ideal speedup", "assumed",
    "at this efficiency or above, a region has no bottleneck",
)  # fmt: skip
SMALLEST_SIZE_TRIED = Constant(2.0, "elements", "derived", "fewer cannot be shared")
LARGEST_SIZE_TRIED = Constant(
    1e8, "elements", "assumed", "a vector of 0.8 GB, beyond all caches: larger sizes behave alike"
)
SIZE_RATIO = Constant(
    10.0,
    "times the size before",
    "assumed",
    "a hint that changes twice within this factor is assumed not to change back",
)
MOST_TRIALS = Constant(
    100.0,
    "sizes",
    "assumed",
    "eight thresholds with a precision of 5 %: more are not useful for people",
)
TRIAL_WORK = Constant(
    60_000.0, "references", "measured",
    "the fixed cost of a trial, without counting references and footprints (5 ms and 0.08 us, "
    "least squares over 2,784 trials of five programs)",
)  # fmt: skip
STATEMENT_WORK = Constant(
    900.0, "references a statement", "measured",
    "the same for regions with many statements (0.06 to 0.13 ms per statement and trial of 14 "
    "regions with 112 to 612 statements)",
)  # fmt: skip
TRIALS_WORK = Constant(
    6e6, "references", "assumed",
    "maximum references counted for trials of one region's unknown sizes: half a second",
)  # fmt: skip
LEAST_TRIALS_WORK = Constant(
    1e6, "references", "assumed", "the same for one of many regions: the ends and the middle"
)
RUN_TRIALS_WORK = Constant(
    2e7, "references", "assumed",
    "the same for all regions of a run together, which have equal shares: 1.6 seconds",
)  # fmt: skip
QUICK_SHARE = Constant(
    0.25,
    "of the work",
    "assumed",
    "the share counted with --effort quick: the smallest and the largest sizes",
)
SIZE_PRECISION = Constant(0.05, "of the size", "assumed", "finer than sizes are chosen")
THREADS_PRECISION = Constant(
    0.5,
    "of the size",
    "assumed",
    "for thresholds between thread counts, since the next number is nearly as good there",
)
SELDOM = Constant(
    0.01, "of its executions", "assumed",
    "the share of a condition that is almost never true: guarded code then no longer counts",
)  # fmt: skip
ADVICE_GAIN = Constant(
    1.1, "times faster", "assumed", "a source change with a smaller gain is not reported"
)
ADVICE_SCREEN = Constant(
    0.95, "of the needed gain", "assumed",
    "a change with a smaller gain on whole caches and all cores is not tried on other thread "
    "counts",
)  # fmt: skip
ADVISED_SHARE = Constant(
    0.01,
    "of the program's time",
    "assumed",
    "no changes are searched for parallel regions with a smaller share",
)
ADVISED_TEAMS = Constant(
    20, "teams", "assumed", "the longest parallel regions, for which changes are searched"
)
SKEW_TRIED = Constant(
    1e4, "times the mean", "assumed",
    "the longest iteration for which schedules are tried: hubs of large graphs",
)  # fmt: skip
SKEW_PRECISION = Constant(
    0.1, "of the logarithm", "assumed", "finer than the imbalance of work can be predicted"
)
CHUNKS_A_THREAD = Constant(
    32, "chunks", "assumed",
    "with this many pieces per thread, threads wait for about 3 % of a thread's work, at a low "
    "cost",
)  # fmt: skip
PLAN_ROUNDS = Constant(
    8,
    "rounds",
    "derived",
    "passes of a plan's improvement, which ends without a gain. Few gain after the second",
)
COSCHEDULE_ROUNDS = Constant(
    4,
    "rounds",
    "derived",
    "passes of the overlap of several programs' phases: the third changes little",
)
COSCHEDULE_CLASSES = Constant(
    6, "classes", "assumed", "groups of a program's phases by their memory requests"
)
COSCHEDULE_STEPS = Constant(
    24,
    "steps",
    "assumed",
    "steps in which a package's cores are distributed: finer steps have no effect",
)
TIMELINE_VISITS = Constant(
    48, "visits", "assumed", "the visits of a program to its regions that a timeline "
                             "distinguishes. If there are more, consecutive visits are merged",
)  # fmt: skip
MANY_RUNS = Constant(
    8, "runs", "assumed", "consecutive executions of a region. With more, it may change its cores "
                          "at any time",
)  # fmt: skip
HANDOVER_NARROWEST = Constant(
    6, "schedules", "assumed", "minimum number of schedules that such a search keeps"
)
VISIT_ROUNDING = Constant(1e-9, "of a visit", "assumed", "a smaller remainder is a rounding error")
HANDOVER_BEAM = Constant(
    480, "schedules of visits", "derived",
    "the schedules that a search for the best assignment of cores over time keeps, divided by "
    "the visits of all programs. On random timelines with known optimum, the worst result is "
    "within 3 %",
)  # fmt: skip
COSCHEDULE_GAIN = Constant(
    1.02, "times as fast as taking turns", "assumed",
    "the least gain for which programs share a node",
)  # fmt: skip
