"""Predictions and measurements -> verdicts, success rates, and models fitted to what was measured.

Door: `verdicts.compare(hints, summaries) -> Comparison`; `success.success` its rate.
"""
