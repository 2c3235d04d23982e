"""Headers that a program's build makes, from their templates in the source.

    #include "config.h"        the folder has only config.h.in

Without them, C++ programs lose most of their types. They are written to the temporary folder, so
that both parsers can include them. Their folder is named by their text. A remark lists them.
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
from regionpredict.frontend.build_files.header_templates import header_from
from regionpredict.frontend.build_files.program_texts import bytes_of, text_of
from regionpredict.frontend.headers import TEMPLATES, project_files
from regionpredict.frontend.requests import HEADERS, SourceRequest
from regionpredict.user_cache import private_folder

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)


class GeneratedHeaders(NamedTuple):
    """The requests with a folder of generated headers, a remark on them, and the files that
    their text depends on."""

    requests: Sequence[SourceRequest]
    remarks: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def with_generated_headers(requests: Sequence[SourceRequest]) -> GeneratedHeaders:
    """The requests, able to include the headers that the build would make."""
    files = project_files(requests)
    templates = _templates(files)
    names = _included(requests, files, templates) if templates else {}
    if not names:
        return GeneratedHeaders(requests)
    cmake_files = [f"{folder}/CMakeLists.txt" for folder in files.get("CMakeLists.txt", ())]
    sources = [*cmake_files, *dict.fromkeys(names.values())]
    texts = dict(zip(sources, map(text_of, sources), strict=True))
    defaults = [texts[path] for path in cmake_files]
    made = {name: header_from(texts[template], defaults) for name, template in names.items()}
    try:
        folder = _written(made)
    except (InputError, OSError):
        return GeneratedHeaders(requests)  # they are reported as missing
    remark = (
        f"generated from templates with the build's defaults: {', '.join(names)} "
        "(-I with your build's folder takes the real ones)"
    )
    able = [replace(each, includes=(*each.includes, folder)) for each in requests]
    return GeneratedHeaders(able, (remark,), tuple(sources))


def _templates(files: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The templates of headers that do not exist, by the header's name."""
    found: dict[str, str] = {}
    for ending in TEMPLATES:
        for name, folders in files.items():
            header = name.removesuffix(ending)
            if header != name and Path(header).suffix in HEADERS and header not in files:
                found.setdefault(header, f"{folders[0]}/{name}")
    return found


def _included(
    requests: Sequence[SourceRequest], files: Mapping[str, Sequence[str]],
    templates: Mapping[str, str],
) -> dict[str, str]:  # fmt: skip
    """The headers as they are included, each with its template."""
    headers = (
        f"{folders[0]}/{name}" for name, folders in files.items() if Path(name).suffix in HEADERS
    )
    names: set[str] = set()
    for path in (*(request.path for request in requests), *headers, *templates.values()):
        names.update(os.fsdecode(name) for name in _INCLUDE.findall(bytes_of(path)))
    usable = (name for name in sorted(names) if ".." not in name and not name.startswith("/"))
    return {
        name: templates[base] for name in usable if (base := PurePosixPath(name).name) in templates
    }


def _written(made: Mapping[str, str]) -> str:
    digest = sha256(repr(sorted(made.items())).encode("utf-8", "replace")).hexdigest()[:16]
    user = "" if sys.platform == "win32" else f"-{os.getuid()}"
    folder = private_folder(Path(tempfile.gettempdir(), f"regionpredict-headers{user}", digest))
    for name, text in made.items():
        path = folder / name
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, text.encode("utf-8", "surrogateescape"))
    return str(folder)
