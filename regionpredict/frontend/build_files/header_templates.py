"""Generates the text of a header that a build makes from a template, with the build's defaults.

    #cmakedefine HAVE_SQRTL        #define HAVE_SQRTL
    #cmakedefine01 USE_FLOAT       #define USE_FLOAT 0
    #define ORDER @ORDER@          #define ORDER 4
    #undef SIZEOF_LONG             #define SIZEOF_LONG 8      (a template of Autoconf)

The system is assumed to have everything that the shipped C library declares. The text is therefore
the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from regionpredict.frontend.build_files.cmake_conditions import is_true, replace_variables
from regionpredict.frontend.build_files.cmake_files import (
    NO_CMAKE_SETTINGS,
    CMakeSettings,
    bytes_of,
    interpret_cmake_files,
)
from regionpredict.frontend.headers import SHIPPED

_CMAKE_DEFINE = re.compile(r"^([ \t]*#[ \t]*)cmakedefine(01)?[ \t]+(\w+)([^\n]*)$", re.MULTILINE)
_UNDEFINED = re.compile(r"^([ \t]*#[ \t]*)undef[ \t]+(\w+)[ \t]*$", re.MULTILINE)
_CONFIG_HEADERS = re.compile(r"^[ \t]*A[CM]_CONFIG_HEADERS?\(\[?([^\])]*)", re.MULTILINE)
_TESTED = re.compile(rb"\b(?:HAVE|SIZEOF)_\w+")
_TEXTS = re.compile(r"PACKAGE(_\w+)?|VERSION")


def header_from(template: str, values: Mapping[str, str]) -> str:
    """Returns the text of a header from its template and the values of CMake's variables.

    >>> header_from("#cmakedefine01 FAST", {"FAST": "ON"})
    '#define FAST 1'
    >>> header_from("#undef HAVE_STDIO_H", {})
    '#define HAVE_STDIO_H 1'
    """
    text = _CMAKE_DEFINE.sub(lambda match: _expanded_cmakedefine(match, values), template)
    return replace_variables(_UNDEFINED.sub(_configured_line, text), values)


def configured_headers(configure: str) -> list[str]:
    """Returns the names of headers that an Autoconf script generates.

    >>> configured_headers("AC_CONFIG_HEADERS([include/config.h:include/config.h.in ver.h])")
    ['include/config.h', 'ver.h']
    """
    named = " ".join(_CONFIG_HEADERS.findall(configure)).split()
    return [name.partition(":")[0] for name in named]


def template_for(sources: Iterable[bytes]) -> str:
    """Returns a template as `autoheader` would write it, for all features that the sources test.

    >>> template_for([b"#ifdef HAVE_STDIO_H", b"#if SIZEOF_LONG == 8"])
    '#undef HAVE_STDIO_H\\n#undef SIZEOF_LONG'
    """
    tested_features = {name for source in sources for name in _TESTED.findall(source)}
    return "\n".join(f"#undef {name.decode()}" for name in sorted(tested_features))


def cmake_defaults(
    paths: Sequence[str], text_of: Callable[[str], str], before: CMakeSettings = NO_CMAKE_SETTINGS
) -> CMakeSettings:
    """Returns the defaults of a project's CMake files, top folder first, after the files of
    `before`.

    >>> cmake_defaults(["CMakeLists.txt"], lambda _: "set(N 4) add_definitions(-DSIZE=${N})").macros
    [('CMakeLists.txt', 'SIZE', '4')]
    """
    return interpret_cmake_files(paths, text_of, _is_declared, _has_header, before)


def _expanded_cmakedefine(match: re.Match[str], values: Mapping[str, str]) -> str:
    start, number, name, rest = match.groups()
    holds = is_true(values.get(name, ""))
    if number:
        return f"{start}define {name} {int(holds)}"
    return f"{start}define {name}{rest}" if holds else f"/* {start}undef {name} */"


def _configured_line(match: re.Match[str]) -> str:
    """Returns a line of an Autoconf template as `configure` would write it."""
    start, name = match.groups()
    value = _configured_value(name)
    return f"{start}define {name} {value}" if value else f"/* {match.group()} */"


def _configured_value(name: str) -> str:
    if name.startswith("SIZEOF_"):
        kind = name.removeprefix("SIZEOF_").removesuffix("_T")
        ending = "_t" if name.endswith("_T") else ""
        return str(bytes_of(kind.replace("_", " ") + ending))
    if _TEXTS.fullmatch(name):
        return '""'
    tested_features = name.removeprefix("HAVE_").lower()
    header = f"{tested_features.removesuffix('_h')}.h"
    known = _has_header(header) or _has_header(header.replace("_", "/", 1))
    if name == "STDC_HEADERS" or (
        name.startswith("HAVE_") and tested_features.endswith("_h") and known
    ):
        return "1"
    return "1" if name.startswith("HAVE_") and _is_declared(tested_features) else ""


def _has_header(name: str) -> bool:
    return Path(SHIPPED, name).is_file()


def _is_declared(name: str) -> bool:
    return name in _declared_functions()


@cache
def _declared_functions() -> frozenset[str]:
    """Returns the names of functions that the shipped C library declares."""
    texts = (path.read_text() for path in sorted(Path(SHIPPED).rglob("*.h")))
    return frozenset(name for text in texts for name in re.findall(r"\b(\w+)[ \t]*\(", text))
