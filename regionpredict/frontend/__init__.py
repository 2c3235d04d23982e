"""Input: C or C++ source files.

Output: a `Program` with the regions of the files, and diagnostics for unreadable code.

The input consists of `SourceRequest`s (a path, macros, include folders). Two parsers
(`libclang_reader`, `pycparser_reader`) build the same syntax tree (`syntax`). All later stages
(`lowering`, `memory_effects`) are shared, so both parsers lead to the same results.
"""

from regionpredict.frontend.build_files import as_built
from regionpredict.frontend.dependencies import dependencies_of
from regionpredict.frontend.files_to_read import files_to_read, has_directive
from regionpredict.frontend.program_arguments import NO_INPUTS, ArgumentValues, InputPaths
from regionpredict.frontend.read import (
    FRONTENDS,
    FileResult,
    Linked,
    Parsed,
    aborted_reading,
    default_frontend,
    follow_arguments,
    join,
    linked,
    lower_file,
    parse_file,
    read,
    read_alone,
    serial_nests_in,
)
from regionpredict.frontend.requests import SourceRequest, request_of_call, requests_for
from regionpredict.frontend.syntax import Lookups
from regionpredict.frontend.text import parse_directive

__all__ = [
    "FRONTENDS",
    "NO_INPUTS",
    "ArgumentValues",
    "FileResult",
    "InputPaths",
    "Linked",
    "Lookups",
    "Parsed",
    "SourceRequest",
    "aborted_reading",
    "as_built",
    "default_frontend",
    "dependencies_of",
    "files_to_read",
    "follow_arguments",
    "has_directive",
    "join",
    "linked",
    "lower_file",
    "parse_directive",
    "parse_file",
    "read",
    "read_alone",
    "request_of_call",
    "requests_for",
    "serial_nests_in",
]
