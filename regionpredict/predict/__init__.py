"""`Workload` and a machine in, an `Estimate` out: how many packages and threads, why, how sure.

`density` is the model of Chatzopoulos 2012, chapter 4, to the letter; `saturation` gives a speedup
curve from traffic, bandwidth, core time and overheads. `hints` makes packages and threads of a
curve, `limits` names what keeps it from more. An estimate with its region's facts is a
`Prediction`. No source and no analysis is known here.
"""

from regionpredict.predict.curve import Point, SaturationDerivation
from regionpredict.predict.density import predict_density
from regionpredict.predict.estimate import (
    BOTTLENECKS,
    DensityDerivation,
    Estimate,
    Prediction,
    StatementScore,
    Term,
)
from regionpredict.predict.saturation import (
    ALL_PARTS,
    Parts,
    predict_saturation,
    size_target,
)

__all__ = [
    "ALL_PARTS",
    "BOTTLENECKS",
    "DensityDerivation",
    "Estimate",
    "Parts",
    "Point",
    "Prediction",
    "SaturationDerivation",
    "StatementScore",
    "Term",
    "predict_density",
    "predict_saturation",
    "size_target",
]
