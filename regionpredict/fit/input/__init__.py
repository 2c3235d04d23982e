"""Readers of measurements: files in, `Experiment` out.

`read(path)` finds the format by the file's name and first characters; `checked` leaves out the
series that nothing can be made of.
"""

from regionpredict.fit.input.formats import FORMATS, checked, read

__all__ = ["FORMATS", "checked", "read"]
