"""Input: a region's statement table and a machine. Output: its estimate by the density model.

The model follows Chatzopoulos 2012, chapter 4, exactly. See docs/density.md.
"""

from regionpredict.predict.density.constants import ASSUMED_WORKING_SET
from regionpredict.predict.density.model import (
    area_boundaries,
    boundary_distance,
    combine_scores,
    equal_thresholds,
    miss_probability,
    operation_weight,
    packages_for,
    predict_density,
    success_rate,
)

__all__ = [
    "ASSUMED_WORKING_SET",
    "area_boundaries",
    "boundary_distance",
    "combine_scores",
    "equal_thresholds",
    "miss_probability",
    "operation_weight",
    "packages_for",
    "predict_density",
    "success_rate",
]
