"""Predictions and measurements -> verdicts, success rates, and models fitted to what was measured.

Doors: `verdicts.compare(hints, summaries) -> Comparison`, `success.success` its rate;
`calibration.calibrate_saturation(predictor, machine, samples) -> SaturationCalibration`.
"""
