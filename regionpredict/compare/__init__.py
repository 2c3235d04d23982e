"""Compares predictions with measurements, computes success rates, and fits corrections to
measurements.

Entry points: `verdicts.compare(hints, summaries) -> Comparison`, `success.success` for its rate,
and `calibration.calibrate_saturation(predictor, machine, samples) -> SaturationCalibration`.
"""
