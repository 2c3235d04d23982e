"""Empirical models in a notebook or a script: arrays, tables or a file in, models out.

The doors are `fit` (arrays), `fit_table` (dictionaries, pandas, xarray) and `fit_file`; the
models print, draw themselves, and compare.
"""

from regionpredict.api.modelling import fit, fit_file, fit_table
from regionpredict.api.models import Model, Models

__all__ = ["Model", "Models", "fit", "fit_file", "fit_table"]
