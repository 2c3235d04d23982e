"""Reads a Paraver trace (`.prv`, `.prv.gz`, with `.pcf` and `.row`) into an `EventTrace`."""

from regionpredict.trace.paraver.reader import read_paraver

__all__ = ["read_paraver"]
