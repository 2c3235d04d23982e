"""The Python interface: predictions for source code, and models of measurements.

`predict` gives the hints of a program. `fit` (arrays), `fit_table` (dictionaries, pandas, xarray)
and `fit_file` give empirical models, which print, draw themselves, and compare.
"""

from regionpredict.api.modelling import fit, fit_file, fit_table
from regionpredict.api.models import Model, Models
from regionpredict.api.predictions import Hints, RegionHint, predict

__all__ = [
    "Hints",
    "Model",
    "Models",
    "RegionHint",
    "fit",
    "fit_file",
    "fit_table",
    "predict",
]
