"""Finds header files, and replaces missing headers.

Input: the includes of a source. Output: include folders (`include_folders`), guessed declarations
(`missing_declarations`), and the shipped minimal C library (`c_library/`).
"""

from regionpredict.frontend.headers.include_folders import (
    SHIPPED,
    TEMPLATES,
    compiler_headers,
    compiler_listings,
    guess_folders,
    guess_include,
    guess_trees,
    has_system_headers,
    is_system_path,
    project_files,
    shorten_header_name,
    system_folders,
)
from regionpredict.frontend.headers.missing_declarations import Guesses, library_headers_for

__all__ = [
    "SHIPPED",
    "TEMPLATES",
    "Guesses",
    "compiler_headers",
    "compiler_listings",
    "guess_folders",
    "guess_include",
    "guess_trees",
    "has_system_headers",
    "is_system_path",
    "library_headers_for",
    "project_files",
    "shorten_header_name",
    "system_folders",
]
