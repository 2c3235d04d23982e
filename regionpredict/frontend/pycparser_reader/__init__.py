"""Reads a file with pycparser. Input: a `SourceRequest`. Output: a `Unit` (syntax trees,
directives).

This reader needs neither a compiler nor a C library.
"""

from regionpredict.frontend.pycparser_reader.unit_reader import parse_unit

__all__ = ["parse_unit"]
