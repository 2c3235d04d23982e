"""Readers of measurements: files in, `Experiment` out.

`read(path)` finds the format by the file's name and first characters;
`without_unusable_series` leaves out the series that nothing can be made of.
"""

from regionpredict.fit.input.formats import FORMATS, read, without_unusable_series

__all__ = ["FORMATS", "read", "without_unusable_series"]
