"""The constants for the interval, the expected speed and the confidence of a curve.

Constants that are *measured* are fitted to measured curves by `make accuracy DATA=FOLDER UPDATE=1`.
docs/accuracy.md explains the fit and its errors on data that were left out.
"""

from __future__ import annotations

from regionpredict.constant import Constant

CREEP = Constant(
    0.0406, "of the speed, per doubling of threads", "measured",
    "the gain of measured speedups over predicted ones if memory bandwidth limits the whole time "
    "(docs/accuracy.md, fitted there)",
)  # fmt: skip
LOST_GROWTH = Constant(
    0.0923, "of the logarithm of the speedup", "measured",
    "the share of the predicted growth that measured curves do not reach (docs/accuracy.md, "
    "fitted there)",
)  # fmt: skip
THREADS_SPREAD = Constant(
    0.111, "of the speed, per doubling of threads", "measured",
    "standard deviation of measured curves around the expected ones (docs/accuracy.md, fitted "
    "there)",
)  # fmt: skip
PLACES_SPREAD = Constant(
    0.238, "of the speed, per doubling of packages, or of threads on a core", "measured",
    "the additional standard deviation if threads use other packages or share cores "
    "(docs/accuracy.md, fitted there)",
)  # fmt: skip
BAND_REACH = Constant(
    1.16, "standard deviations", "measured",
    "the interval with 80 % of the measured points of data without influence on the spreads "
    "(docs/accuracy.md, fitted there)",
)  # fmt: skip
EVEN_ODDS = Constant(
    1.77, "log odds", "measured",
    "the log odds of a right hint if the spreads give it a probability of one half "
    "(docs/accuracy.md, fitted there)",
)  # fmt: skip
ODDS_SLOPE = Constant(
    0.677, "log odds, per log odds by the spreads", "measured",
    "the slope of a hint's confidence over its probability by the spreads, both in log odds "
    "(docs/accuracy.md, fitted there)",
)  # fmt: skip
MOST_SURE = Constant(
    0.9, "1", "measured",
    "the largest success rate of hints on left-out data (docs/accuracy.md, fitted there)",
)  # fmt: skip
SURE_STEP = Constant(
    0.05, "1", "assumed",
    "confidences are reported in such steps, since measurements do not permit finer ones",
)  # fmt: skip
BAND_SHARE = Constant(
    0.8, "of the measured points", "assumed", "the share of points that a band should contain"
)
LEAST_DOUBT = Constant(
    0.3, "1", "assumed",
    "smaller doubts have no information: even clear choices are wrong if the program differs from "
    "the counted one. This is the best of 0.03 to 0.3 on left-out data",
)  # fmt: skip
PARTIAL_CONFIDENCE = Constant(
    0.8,
    "of the confidence",
    "assumed",
    "the remaining confidence if a part of the region is not supported",
)
TASKS_CONFIDENCE = Constant(
    0.5,
    "of the confidence",
    "assumed",
    "the remaining confidence of explicit tasks: the source does not show which ones wait",
)
LOST_WORK_CONFIDENCE = Constant(
    0.2,
    "of the confidence",
    "assumed",
    "the remaining confidence if a region's work decreases by more than the number of threads",
)
UNKNOWN_PART_CONFIDENCE = Constant(
    0.2, "1", "assumed",
    "for a part of a program without a predicted time, such as a serial loop of unknown length. "
    "The program's number of threads is right only by chance",
)  # fmt: skip
UNSEEN_CONFIDENCE = Constant(
    0.86, "of the confidence", "measured",
    "for a called function whose body and memory accesses are unknown: it may take any time, "
    "allocate, or wait for a lock.",
)  # fmt: skip
UNSEEN_COST_CONFIDENCE = Constant(
    0.85, "of the confidence", "assumed",
    "if overhead limits a loop with such a call, whose few cycles are a guess. 3 of 3 such hints "
    "were right (programs of tests/accuracy/doubtful_programs.py), but a call of a microsecond "
    "would change them",
)  # fmt: skip
RACE_CONFIDENCE = Constant(
    0.6, "of the confidence", "assumed",
    "if several threads may write one element without protection: the frequency is unknown, and a "
    "correct program would need synchronization",
)  # fmt: skip
POSSIBLE_RACE_CONFIDENCE = Constant(
    0.85, "of the confidence", "measured",
    "if elements are written through an index that may repeat: 8 of 8 hints were right (two loops "
    "of LULESH, and six programs of tests/accuracy/doubtful_programs.py on two cores of a busy "
    "host). The same number of right hints is added as for races",
)  # fmt: skip
IN_TURN_CONFIDENCE = Constant(
    0.32, "of the confidence", "measured",
    "for threads that take turns at writing one cache line: how often a compiler keeps the "
    "value in a register is unknown.",
)  # fmt: skip
CONDITION_CONFIDENCE = Constant(
    0.85, "of the confidence", "assumed",
    "if one thread is hinted because of locks or atomic updates under a condition of unknown "
    "share. In the programs of tests/accuracy/doubtful_programs.py 9 of 9 such hints were right. "
    "A condition that rarely holds would change the hint",
)  # fmt: skip
CONTENTION_CONFIDENCE = Constant(
    0.49, "of the confidence", "measured",
    "if several threads are hinted although locks, critical sections, atomic updates, or the "
    "region's start and end delay them: the delay depends on the times of arrival. 6 of 14 hints "
    "were right (programs of tests/accuracy/doubtful_programs.py on 16 cores). Four assumed "
    "hints are added, two of them right",
)  # fmt: skip
UNEVEN_CONFIDENCE = Constant(
    0.74, "of the confidence", "measured",
    "if data determine the work per iteration, and a power law would cost the hint more than its "
    "accepted loss: 6 of 8 hints were right (programs of tests/accuracy/doubtful_programs.py on "
    "16 cores). Four assumed hints are added, two of them right",
)  # fmt: skip
CALIBRATION_CONFIDENCE = Constant(
    0.7, "of the confidence", "assumed",
    "for a machine if most of its figures did not converge. A busy host slows all of them "
    "equally, and a deciding figure is rarely the only wrong one",
)  # fmt: skip
FEW_FIGURES = Constant(
    10,
    "figures",
    "assumed",
    "a machine with fewer figures of known spread has no share of converged figures",
)
NESTED_CONFIDENCE = Constant(
    0.55, "of the confidence", "assumed",
    "if a parallel region runs inside another one, or starts others: a setting of the run-time "
    "system decides their number of threads. 3 of 5 hints were right (programs of "
    "tests/accuracy/doubtful_programs.py on 16 cores). This is too few for a fit",
)  # fmt: skip
