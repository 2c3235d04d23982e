"""Observations in, a `FittedModel` of a named law out: Amdahl's, saturation, the pipeline, ..."""
