"""Finds the macros that a program's build files define by default.

    FLAGS = -DSCALAR=double                       a Makefile
    add_compile_definitions(SCALAR=double)        a CMakeLists.txt

Only macros that the program mentions are defined. Macros that the user gives with `-D` are omitted.
A source gets the macros of the build files in its folder and in the folders above it, up to its
root. If several files define a macro, the nearest file is used. If no file defines any macro, a
Makefile elsewhere below the root is used if it mentions the source's folder (`-I../src`). A remark
lists the macros. Macros that disable OpenMP are omitted, with a remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from regionpredict.frontend.build_files.cmake_files import NO_CMAKE_SETTINGS, CMakeSettings
from regionpredict.frontend.build_files.header_templates import cmake_defaults
from regionpredict.frontend.build_files.makefiles import Macro, makefile_macros
from regionpredict.frontend.build_files.openmp_switches import disables_openmp
from regionpredict.frontend.build_files.program_texts import program_texts, text_of
from regionpredict.frontend.headers import project_files
from regionpredict.frontend.requests import SourceRequest, is_regular_file

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in the search order of make
BUILD_FILES = (*_MAKEFILES, "CMakeLists.txt")
_MOST_SHOWN = 8
_UPWARDS = re.compile(r"\.\./[\w./+-]*")


class BuildMacros(NamedTuple):
    """The requests with added macros, a remark per build file, and the paths of all build files."""

    requests: list[SourceRequest]
    remarks: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def with_build_macros(requests: Sequence[SourceRequest]) -> BuildMacros:
    """Adds to the requests the macros that the program's build files define."""
    above = [folders_above(request) for request in requests]
    makefiles = _makefiles_below_roots(requests) if any(above) else []
    elsewhere = _folders_named_in(makefiles)
    known: dict[tuple[str, ...], CMakeSettings] = {}
    files = {
        folders: _macros_of_folder(folders, elsewhere, known) for folders in dict.fromkeys(above)
    }
    mentioned = _names_in_program(
        {name for each in files.values() for name in each.macros}, requests
    )
    given_by_user = {name for request in requests for name, _ in request.defines}
    off = {name: path for each in files.values() for name, (path, _) in each.macros.items()
           if name in mentioned - given_by_user and disables_openmp(name)}  # fmt: skip
    used: dict[str, dict[str, Macro]] = {}
    with_macros = []
    for request, folders in zip(requests, above, strict=True):
        given = {name for name, _ in request.defines}
        macros = {
            name: (path, macro)
            for name, (path, macro) in files[folders].macros.items()
            if name in mentioned
            and name not in off
            and not any(re.fullmatch(macro.alternatives, other) for other in given)
        }
        for path, macro in macros.values():
            used.setdefault(path, {})[macro.name] = macro
        defines = tuple((macro.name, macro.value) for _, macro in macros.values())
        with_macros.append(replace(request, defines=(*request.defines, *defines)))
    remarks = (
        *(_remark_on_macros(path, macros) for path, macros in used.items()),
        *(f"{path} defines {name}, which is omitted for a build with OpenMP; -D {name} defines it"
          for name, path in off.items()),
    )  # fmt: skip
    read = dict.fromkeys(path for each in files.values() for path in each.read)
    read |= dict.fromkeys(makefiles)
    return BuildMacros(with_macros, remarks, tuple(read))


def folders_above(request: SourceRequest) -> tuple[str, ...]:
    """Returns the folder of a source and the folders above it, up to its root. Empty if the compile
    command of the source is known.
    """
    if request.is_from_build:
        return ()
    folder = Path(request.path).parent
    top = Path(request.root).resolve()
    levels = [str(folder)]
    while top in folder.resolve().parents:
        folder = folder / ".." if folder.name in ("", "..") else folder.parent
        levels.append(str(folder))
    return tuple(levels)


class _FolderMacros(NamedTuple):
    """The macros that apply in a folder, each with its build file. `read` are the files that were
    read to find them.
    """

    macros: Mapping[str, tuple[str, Macro]]
    read: tuple[str, ...]


def _makefiles_below_roots(requests: Sequence[SourceRequest]) -> list[str]:
    """Returns the Makefiles below the roots."""
    known = project_files(requests)
    return sorted(
        {str(Path(folder, name)) for name in _MAKEFILES for folder in known.get(name, ())}
    )


def _folders_named_in(makefiles: Iterable[str]) -> Mapping[Path, str]:
    """Maps the folders that Makefiles name by a path with `..` to the first such Makefile."""
    naming: dict[Path, str] = {}
    for path in makefiles:
        for word in dict.fromkeys(_UPWARDS.findall(text_of(path))):
            named = Path(path).parent / word
            naming.setdefault((named if named.is_dir() else named.parent).resolve(), path)
    return naming


def _macros_of_folder(
    folders: Sequence[str], elsewhere: Mapping[Path, str],
    known: dict[tuple[str, ...], CMakeSettings],
) -> _FolderMacros:  # fmt: skip
    """Returns the macros of a folder, from its build files and those of the folders above.

    `known` contains the results of CMake files that were already interpreted.
    """
    found: dict[str, tuple[str, Macro]] = {}
    read: list[str] = []
    lists = list(_first_existing(folders, ("CMakeLists.txt",)))
    for path in _first_existing(folders, _MAKEFILES):
        macros, files = makefile_macros(path, text_of)
        read += files
        for macro in macros.values():
            found.setdefault(macro.name, (path, macro))
    defaults = _cmake_defaults(tuple(lists[::-1]), known)
    for path, name, value in defaults.macros:
        found.setdefault(name, (path, Macro(name, value, re.escape(name))))
    other = elsewhere.get(Path(folders[0]).resolve()) if folders and not found else None
    if other is not None:
        macros, files = makefile_macros(other, text_of)
        read += files
        found = {macro.name: (other, macro) for macro in macros.values()}
    return _FolderMacros(found, (*read, *lists, *defaults.included))


def _cmake_defaults(
    lists: tuple[str, ...], known: dict[tuple[str, ...], CMakeSettings]
) -> CMakeSettings:
    """Returns the defaults of CMake files. The files of a parent folder are interpreted once."""
    if not lists:
        return NO_CMAKE_SETTINGS
    if lists not in known:
        before = _cmake_defaults(lists[:-1], known)
        known[lists] = cmake_defaults(lists[-1:], text_of, before)
    return known[lists]


def _first_existing(folders: Iterable[str], names: Sequence[str]) -> Iterator[str]:
    """Yields for each folder the first existing file with one of these names."""
    for folder in folders:
        paths = (str(Path(folder, name)) for name in names)
        if found := next(filter(is_regular_file, paths), None):
            yield found


def _names_in_program(names: set[str], requests: Sequence[SourceRequest]) -> set[str]:
    """Returns the names that occur in the program's text."""
    if not names:
        return set()
    pattern = re.compile(rb"\b(?:%s)\b" % b"|".join(name.encode() for name in sorted(names)))
    return {
        name.decode() for _, text in program_texts(requests) for name in set(pattern.findall(text))
    }


def _remark_on_macros(path: str, macros: Mapping[str, Macro]) -> str:
    words = [f"{macro.name}={macro.value}" for macro in macros.values()]
    more = f" and {len(words) - _MOST_SHOWN} more" if len(words) > _MOST_SHOWN else ""
    return f"{path} defines {', '.join(words[:_MOST_SHOWN])}{more}; -D overrides this"
