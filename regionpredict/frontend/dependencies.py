"""Collects everything in the file system that the reading of a program depends on.

The parsers report the files that they read. Failed lookups of headers are derived from the text.
Every name in an `#include` or `__has_include` is assumed to be searched in every folder, even if
the directive is inactive. This is an upper bound.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from regionpredict.errors import InputError
from regionpredict.file_dependencies import FileDependencies
from regionpredict.frontend.build_files import build_file_places
from regionpredict.frontend.headers import (
    compiler_listings,
    guess_folders,
    guess_trees,
    is_system_path,
    system_folders,
)
from regionpredict.frontend.program_arguments import NO_INPUTS, InputPaths
from regionpredict.frontend.requests import (
    SourceRequest,
    path_dependencies,
    read_regular_file,
)
from regionpredict.frontend.syntax import Lookups

_COMMENT = rb"/\*(?:[^*]|\*(?!/))*\*/"
_GAP = rb"(?:\s|\(|" + _COMMENT + rb")*"
_NAMED = re.compile(rb"(?:include|import|embed)(?:_next)?(?:__)?" + _GAP + rb'["<]([^">\n]+)')
# `#include MACRO`: only the preprocessor knows the name. The first pattern is a fast test.
_MAY_COMPUTE = re.compile(
    rb"(?:include|import)(?:_next)?(?:[ \t]|" + _COMMENT + rb")+\w|__has_include"
)
_COMPUTED = re.compile(
    rb"^(?:[ \t]|%(c)b)*(?:#|%%:|\?\?=)(?:[ \t]|%(c)b)*(?:include|import)(?:_next)?"
    rb"(?:[ \t]|%(c)b)+\w|__has_include(?:_next)?[ \t]*\([ \t]*\w" % {b"c": _COMMENT},
    re.MULTILINE,
)
_CLOCK = re.compile(rb"__(?:DATE|TIME|TIMESTAMP)__")
_SPLICE = re.compile(rb"\\\r?\n")
_FOLDER_OPTIONS = ("-isystem", "-idirafter", "-iquote")


def dependencies_of(
    paths: Sequence[str], requests: Sequence[SourceRequest], lookups: Sequence[Lookups | None],
    inputs: InputPaths = NO_INPUTS,
) -> FileDependencies | None:  # fmt: skip
    """Returns the dependencies of the program in `paths`, or None if they are unknown.

    `lookups` has one entry per request, and `inputs` are the files that the program itself reads.
    Dependencies are unknown for an unreadable file, a header name from a macro, or a text that
    contains the time of day.
    """
    known = [lookup for lookup in lookups if lookup is not None]
    if len(known) < len(requests):
        return None
    read = dict.fromkeys(path for lookup in known for path in lookup.files)
    own = [path for path in read if not is_system_path(path)]
    systems = [path for path in read if is_system_path(path)]
    forced, folders, unread = _files_in_options(requests)
    folders.update(dict.fromkeys(folder for lookup in known for folder in lookup.folders))
    own_names, system_names = _included_names(own), _included_names(systems)
    if own_names is None or system_names is None or any(_CLOCK.search(_read_bytes(p)) for p in own):
        return None
    guesses = [
        (request, lookup.guessed)
        for request, lookup in zip(requests, known, strict=True)
        if lookup.guessed
    ]
    guessed = tuple(sorted({name for _, names in guesses for name in names}))
    trees = dict.fromkeys(tree for request, _ in guesses for tree in guess_trees(request, guessed))
    tried = dict.fromkeys(folder for request, _ in guesses for folder in guess_folders(request))
    everywhere = (*folders, *system_folders(), *_folders_of(systems))
    of_paths = path_dependencies(paths)
    return FileDependencies(
        contents=(*of_paths.contents, *dict.fromkeys((*own, *forced, *inputs.read))),
        identities=(*systems, *filter(os.path.isfile, inputs.unread)),
        presence=(*of_paths.presence, *build_file_places(requests), *unread, *inputs.unread),
        searches=(
            (_folders_of(own), tuple(sorted(own_names))),
            (tuple(dict.fromkeys(everywhere)), tuple(sorted(own_names | system_names))),
            (tuple(tried), guessed),
        ),
        listings=compiler_listings(),
        trees=(*of_paths.trees, *trees),
    )


def _folders_of(files: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(Path(path).parent) for path in files))


def _files_in_options(
    requests: Sequence[SourceRequest],
) -> tuple[dict[str, None], dict[str, None], dict[str, None]]:
    """Returns the files that options include, the folders in options, and files that may take
    precedence over the included files.
    """
    forced: dict[str, None] = {}
    folders: dict[str, None] = {}
    unread: dict[str, None] = {}
    for request in requests:
        folders.update(dict.fromkeys(request.includes))
        for option, value in zip(request.extra, request.extra[1:], strict=False):
            if option in _FOLDER_OPTIONS:
                folders[value] = None
            elif option in ("-include", "-imacros"):
                unread.update(dict.fromkeys((value, f"{value}.pch", f"{value}.gch")))
                if os.path.isfile(value):  # noqa: PTH113
                    forced[value] = None
    return forced, folders, unread


def _included_names(paths: Iterable[str]) -> set[str] | None:
    """Returns the names of headers that the files include. None if a macro gives the name of a
    header.
    """
    names: set[str] = set()
    for path in paths:
        text = _SPLICE.sub(b"", _read_bytes(path))
        if _MAY_COMPUTE.search(text) and _COMPUTED.search(text):
            return None
        names.update(os.fsdecode(name).strip() for name in _NAMED.findall(text))
    return names


def _read_bytes(path: str) -> bytes:
    """Returns a file's bytes. The result is empty if the file was removed, which the fingerprint
    detects.
    """
    try:
        return read_regular_file(path)
    except InputError:
        return b""
