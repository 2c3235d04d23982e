"""Facts and a machine in, `Prediction` out: how many packages and threads, why, how sure.

`density` is the model of Chatzopoulos 2012, chapter 4, to the letter.
"""

from regionpredict.predict.density import predict_density
from regionpredict.predict.prediction import (
    BOTTLENECKS,
    DensityDerivation,
    Prediction,
    StatementScore,
    Term,
)

__all__ = [
    "BOTTLENECKS",
    "DensityDerivation",
    "Prediction",
    "StatementScore",
    "Term",
    "predict_density",
]
