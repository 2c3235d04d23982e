"""Generates the headers that a program's build would generate from templates in the source.

    #include "config.h"        the folder has only config.h.in

A checkout may even lack the template if `autoheader` generates it from configure.ac. Without these
headers, C++ programs lose most of their types. The headers are written to the system's folder for
temporary files, so that both parsers can include them. The name of their folder depends on their
text. A remark lists the headers.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from regionpredict.atomic_file import write_file
from regionpredict.errors import InputError
from regionpredict.frontend.build_files.header_templates import (
    cmake_defaults,
    configured_headers,
    header_from,
    template_for,
)
from regionpredict.frontend.build_files.program_texts import bytes_of, text_of
from regionpredict.frontend.headers import TEMPLATES, project_files
from regionpredict.frontend.requests import HEADERS, SourceRequest
from regionpredict.user_cache import private_folder

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)

_CONFIGURE = ("configure.ac", "configure.in")


class GeneratedHeaders(NamedTuple):
    """The requests with a folder of generated headers, a remark on the headers, and the files that
    the text of the headers depends on.
    """

    requests: Sequence[SourceRequest]
    remarks: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def with_generated_headers(requests: Sequence[SourceRequest]) -> GeneratedHeaders:
    """Adds to the requests the folder with the headers that the build would generate."""
    files = project_files(requests)
    cmake_files = [f"{folder}/CMakeLists.txt" for folder in files.get("CMakeLists.txt", ())]
    defaults = cmake_defaults(cmake_files, text_of)
    written = {PurePosixPath(made).name: text for made, text in defaults.written.items()}
    written = {name: text for name, text in written.items() if name not in files}
    templates = {**dict.fromkeys(written, ""), **_templates_of_headers(files, defaults.configured)}
    paths = _program_paths(requests, files) if templates else []
    names = _included_headers(paths, templates) if templates else {}
    sources = (*cmake_files, *defaults.included, *filter(None, dict.fromkeys(names.values())))
    if not names:
        return GeneratedHeaders(requests, sources=sources)
    made = {
        name: header_from(_template_text(path, paths), defaults.values) if path
        else written[PurePosixPath(name).name]
        for name, path in names.items()
    }  # fmt: skip
    try:
        folder = _write_headers(made)
    except (InputError, OSError):
        return GeneratedHeaders(requests)  # the parser then reports the missing headers
    remark = (
        f"generated from templates with the build's defaults: {', '.join(names)} "
        "(-I with your build's folder uses the real ones)"
    )
    with_folder = [replace(each, includes=(*each.includes, folder)) for each in requests]
    return GeneratedHeaders(with_folder, (remark,), sources)


def _template_text(path: str, paths: Sequence[str]) -> str:
    """Returns the text of a template. For an Autoconf script, it is the template by
    `autoheader`.
    """
    if Path(path).name in _CONFIGURE:
        return template_for(map(bytes_of, paths))
    return text_of(path)


def _templates_of_headers(
    files: Mapping[str, Sequence[str]], configured: Mapping[str, str]
) -> dict[str, str]:
    """Returns the templates of missing headers, by the header's name.

    `configured` maps each file that CMake generates to its template.
    """
    found: dict[str, str] = {}
    for made, path in configured.items():
        name = PurePosixPath(made).name
        template = PurePosixPath(path)
        if (
            PurePosixPath(name).suffix in HEADERS
            and name not in files
            and any(template.is_relative_to(folder) for folder in files.get(template.name, ()))
        ):
            found[name] = path
    for ending in TEMPLATES:
        for name, folders in files.items():
            header = name.removesuffix(ending)
            if header != name and Path(header).suffix in HEADERS and header not in files:
                found.setdefault(header, f"{folders[0]}/{name}")
    for script in (f"{folder}/{name}" for name in _CONFIGURE for folder in files.get(name, ())):
        for header in configured_headers(text_of(script)):
            if (name := PurePosixPath(header).name) not in files:
                found.setdefault(name, script)
    return found


def _program_paths(
    requests: Sequence[SourceRequest], files: Mapping[str, Sequence[str]]
) -> list[str]:
    """Returns the paths of all sources and headers of the program."""
    headers = (
        f"{folders[0]}/{name}" for name, folders in files.items() if Path(name).suffix in HEADERS
    )
    return [*(request.path for request in requests), *headers]


def _included_headers(paths: Sequence[str], templates: Mapping[str, str]) -> dict[str, str]:
    """Returns the headers as written in the includes, each with its template."""
    names: set[str] = set()
    for path in (*paths, *filter(None, templates.values())):
        names.update(os.fsdecode(name) for name in _INCLUDE.findall(bytes_of(path)))
    usable = (name for name in sorted(names) if ".." not in name and not name.startswith("/"))
    return {
        name: templates[base] for name in usable if (base := PurePosixPath(name).name) in templates
    }


def _write_headers(texts_by_path: Mapping[str, str]) -> str:
    digest = sha256(repr(sorted(texts_by_path.items())).encode("utf-8", "replace")).hexdigest()[:16]
    user = "" if sys.platform == "win32" else f"-{os.getuid()}"
    folder = private_folder(Path(tempfile.gettempdir(), f"regionpredict-headers{user}", digest))
    for name, text in texts_by_path.items():
        path = folder / name
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, text.encode("utf-8", "surrogateescape"))
    return str(folder)
