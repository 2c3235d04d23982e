"""A region's statement table and a machine in, its estimate by the density model out.

The model is that of Chatzopoulos 2012, chapter 4, to the letter: see docs/density.md.
"""

from regionpredict.predict.density.constants import ASSUMED_WORKING_SET
from regionpredict.predict.density.model import (
    boundaries,
    boundary_distance,
    combine,
    miss_probability,
    operation_weight,
    packages_for,
    predict_density,
    success_rate,
    thresholds,
)

__all__ = [
    "ASSUMED_WORKING_SET",
    "boundaries",
    "boundary_distance",
    "combine",
    "miss_probability",
    "operation_weight",
    "packages_for",
    "predict_density",
    "success_rate",
    "thresholds",
]
