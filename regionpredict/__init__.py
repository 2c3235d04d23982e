"""Predicts, from C source alone, how many packages and threads each OpenMP loop can use."""

__version__ = "0.1.0"
