"""Predictions in a notebook or a script."""

from regionpredict.api.predictions import Hints, RegionHint, predict

__all__ = ["Hints", "RegionHint", "predict"]
