"""Predictions and measurements -> verdicts, success rates, and models fitted to what was measured."""
