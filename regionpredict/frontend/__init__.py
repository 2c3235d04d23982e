"""C text in, `Program` out: the regions of source files, with what could not be read.

In: `SourceRequest`s (a path, macros, include folders). Out: a `Program` with diagnostics. Two
twins parse, libclang (`clang`) and pycparser (`pycparser`); everything behind the syntax tree
they build (`syntax`) is one code, so that both give the same facts.
"""

from regionpredict.frontend.inputs import requests_for
from regionpredict.frontend.read import (
    FRONTENDS,
    Part,
    default_frontend,
    join,
    read,
    read_file,
)
from regionpredict.frontend.unit import SourceRequest

__all__ = [
    "FRONTENDS",
    "Part",
    "SourceRequest",
    "default_frontend",
    "join",
    "read",
    "read_file",
    "requests_for",
]
