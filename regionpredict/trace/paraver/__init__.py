"""A Paraver trace (`.prv`, `.prv.gz`, with `.pcf` and `.row` beside it) in, one `EventTrace` out."""

from regionpredict.trace.paraver.reader import read_paraver

__all__ = ["read_paraver"]
