"""Input: PATHs of the command line. Output: `SourceRequest`s, the files to read with their options.

A path is a file, a folder, or a compile_commands.json. Only regular files of a limited size are
read.
"""

from regionpredict.frontend.requests.compile_commands import request_of_call
from regionpredict.frontend.requests.paths import path_dependencies, project_root, requests_for
from regionpredict.frontend.requests.regular_files import (
    MOST_SOURCE_BYTES,
    is_regular_file,
    is_special_file,
    read_regular_file,
)
from regionpredict.frontend.requests.source_request import (
    HEADERS,
    SOURCES,
    SourceRequest,
    is_cpp,
)

__all__ = [
    "HEADERS",
    "MOST_SOURCE_BYTES",
    "SOURCES",
    "SourceRequest",
    "is_cpp",
    "is_regular_file",
    "is_special_file",
    "path_dependencies",
    "project_root",
    "read_regular_file",
    "request_of_call",
    "requests_for",
]
