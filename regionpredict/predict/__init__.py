"""Facts and a machine in, `Prediction` out: how many packages and threads, why, how sure.

`density` is the model of Chatzopoulos 2012, chapter 4, to the letter; `saturation` gives a speedup
curve from traffic, bandwidth, core time and overheads.
"""

from regionpredict.predict.curve import Point, SaturationDerivation
from regionpredict.predict.density import predict_density
from regionpredict.predict.prediction import (
    BOTTLENECKS,
    DensityDerivation,
    Prediction,
    StatementScore,
    Term,
)
from regionpredict.predict.saturation import predict_saturation

__all__ = [
    "BOTTLENECKS",
    "DensityDerivation",
    "Point",
    "Prediction",
    "SaturationDerivation",
    "StatementScore",
    "Term",
    "predict_density",
    "predict_saturation",
]
