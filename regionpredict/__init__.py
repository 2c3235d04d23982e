"""Predicts how many sockets and threads each OpenMP loop can use, from its source."""

__version__ = "0.2.0"
