"""C text in, `Program` out: the regions of source files, with what could not be read.

In: `SourceRequest`s (a path, macros, include folders). Out: a `Program` with diagnostics. Two
twins parse (`libclang_reader`, `pycparser_reader`); everything behind the syntax tree they build
(`syntax`) is one code (`lowering`, `memory_effects`), so that both give the same facts.
"""

from regionpredict.frontend.dependencies import dependencies_of
from regionpredict.frontend.files_to_read import files_to_read
from regionpredict.frontend.read import (
    FRONTENDS,
    Part,
    default_frontend,
    join,
    left_out,
    read,
    read_file,
)
from regionpredict.frontend.requests import SourceRequest, requests_for
from regionpredict.frontend.syntax import Lookups
from regionpredict.frontend.text import parse_directive

__all__ = [
    "FRONTENDS",
    "Lookups",
    "Part",
    "SourceRequest",
    "default_frontend",
    "dependencies_of",
    "files_to_read",
    "join",
    "left_out",
    "parse_directive",
    "read",
    "read_file",
    "requests_for",
]
