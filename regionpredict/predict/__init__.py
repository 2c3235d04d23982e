"""Input: a `Workload` and a machine. Output: an `Estimate` with packages, threads, reasons and
confidence.

`density` is the model of Chatzopoulos 2012, chapter 4, or a variant (`density_form`). `saturation`
computes a speedup curve from traffic, bandwidth, core time and overheads. `uncertainty` contains
the errors of such curves. `hints` selects sockets and threads, and `limiting_factors` gives the
bottleneck. `by_size` and `open_sizes` handle unknown sizes. `teams` combines the loops of a
parallel region, and `plan` selects the number of threads of each region of a program.
`recommendation` gives one number of threads for a program, and `advice` the gain of source changes.
An estimate with the facts of its region is a `Prediction`. An estimate with the facts of a parallel
region is a `TeamPrediction`. This package does not read source code.
"""

from regionpredict.predict.advice import Advice, AdvisedLoop, advice_for, advised_teams
from regionpredict.predict.by_size import (
    HintRange,
    OpenHint,
    SizeHint,
    choices_at_tried_sizes,
    choices_by_name,
    choices_by_size,
    open_hint,
    range_of,
    share_within_loss,
    split_names,
    with_thresholds,
)
from regionpredict.predict.core_handover import Handover, best_handover
from regionpredict.predict.coschedule import (
    Allocation,
    Coschedule,
    CoscheduledProgram,
    Part,
    coschedule,
    phases_of,
    with_cache_share,
)
from regionpredict.predict.curve import Point, SaturationDerivation, Superlinear
from regionpredict.predict.deciding_names import TRIED_SIZES
from regionpredict.predict.density import predict_density
from regionpredict.predict.density_form import (
    COMBINATIONS,
    MISS_WEIGHTS,
    STATEMENT_WEIGHTS,
    TO_THE_LETTER,
    DensityForm,
)
from regionpredict.predict.estimate import (
    DensityDerivation,
    Estimate,
    Prediction,
    StatementScore,
    Term,
)
from regionpredict.predict.hints import Choice, choice_on, common_threads
from regionpredict.predict.open_sizes import with_open_sizes
from regionpredict.predict.plan import Plan, PlannedTeam, changes_between, plan_of
from regionpredict.predict.recommendation import (
    NO_SERIAL_CODE,
    NOTHING_RECOMMENDED,
    Recommendation,
    Recommended,
    SerialCode,
    fewest_within,
    loops_of,
    recommendation_of,
)
from regionpredict.predict.saturation import (
    ALL_PARTS,
    Contention,
    Parts,
    contention_slowdown,
    counters_of,
    predict_saturation,
    rough_curve,
    size_target,
)
from regionpredict.predict.teams import (
    TeamEstimate,
    TeamPoint,
    TeamPrediction,
    execution_count_assumptions,
    points_of,
    predict_team,
    seconds_alone,
    team_points,
)
from regionpredict.predict.uncertainty import (
    BAND_SHARE,
    Bounds,
    ExpectedSpeedup,
    at_threads,
    outlook_of,
)

__all__ = [
    "ALL_PARTS",
    "BAND_SHARE",
    "COMBINATIONS",
    "MISS_WEIGHTS",
    "NOTHING_RECOMMENDED",
    "NO_SERIAL_CODE",
    "STATEMENT_WEIGHTS",
    "TO_THE_LETTER",
    "TRIED_SIZES",
    "Advice",
    "AdvisedLoop",
    "Allocation",
    "Bounds",
    "Choice",
    "Contention",
    "Coschedule",
    "CoscheduledProgram",
    "DensityDerivation",
    "DensityForm",
    "Estimate",
    "ExpectedSpeedup",
    "Handover",
    "HintRange",
    "OpenHint",
    "Part",
    "Parts",
    "Plan",
    "PlannedTeam",
    "Point",
    "Prediction",
    "Recommendation",
    "Recommended",
    "SaturationDerivation",
    "SerialCode",
    "SizeHint",
    "StatementScore",
    "Superlinear",
    "TeamEstimate",
    "TeamPoint",
    "TeamPrediction",
    "Term",
    "advice_for",
    "advised_teams",
    "at_threads",
    "best_handover",
    "changes_between",
    "choice_on",
    "choices_at_tried_sizes",
    "choices_by_name",
    "choices_by_size",
    "common_threads",
    "contention_slowdown",
    "coschedule",
    "counters_of",
    "execution_count_assumptions",
    "fewest_within",
    "loops_of",
    "open_hint",
    "outlook_of",
    "phases_of",
    "plan_of",
    "points_of",
    "predict_density",
    "predict_saturation",
    "predict_team",
    "range_of",
    "recommendation_of",
    "rough_curve",
    "seconds_alone",
    "share_within_loss",
    "size_target",
    "split_names",
    "team_points",
    "with_cache_share",
    "with_open_sizes",
    "with_thresholds",
]
