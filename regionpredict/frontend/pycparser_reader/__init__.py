"""The parser pycparser: a `SourceRequest` in, a `Unit` (syntax trees, directives) out.

Needs neither a compiler nor a C library.
"""

from regionpredict.frontend.pycparser_reader.unit_reader import parse_unit

__all__ = ["parse_unit"]
