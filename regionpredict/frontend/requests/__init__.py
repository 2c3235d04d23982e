"""PATHs of the command line in, `SourceRequest`s out: which files to read, and how.

A path is a file, a folder, or a compile_commands.json.
"""

from regionpredict.frontend.requests.paths import path_dependencies, requests_for
from regionpredict.frontend.requests.source_request import SourceRequest, is_cpp

__all__ = ["SourceRequest", "is_cpp", "path_dependencies", "requests_for"]
