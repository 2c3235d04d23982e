"""A Paraver trace in (`.prv`, `.prv.gz`; `.pcf` and `.row` beside it), one `EventTrace` out."""

from regionpredict.trace.paraver.reader import read_paraver

__all__ = ["read_paraver"]
