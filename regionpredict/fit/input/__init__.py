"""Readers and writers of measurements: files in, `Experiment` out, and models out as text.

`read(path)` finds the format by the file's name and first characters.
"""

from regionpredict.fit.input.formats import FORMATS, read

__all__ = ["FORMATS", "read"]
