"""Reads a file with libclang. Input: a `SourceRequest`. Output: a `Unit` (syntax trees,
directives).
"""

from regionpredict.frontend.libclang_reader.bindings import library_path
from regionpredict.frontend.libclang_reader.unit_reader import parse_unit

__all__ = ["library_path", "parse_unit"]
