"""Reads files of measurements. Input: a path. Output: an `Experiment`.

`read(path)` detects the format by the file's name and first characters. `without_unusable_series`
removes series that cannot be modeled.
"""

from regionpredict.fit.input.formats import FORMATS, read, without_unusable_series

__all__ = ["FORMATS", "read", "without_unusable_series"]
