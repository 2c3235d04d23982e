"""Adds to requests the macros and headers that the program's build has by default."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from regionpredict.frontend.build_files.build_macros import (
    BUILD_FILES,
    folders_above,
    with_build_macros,
)
from regionpredict.frontend.build_files.generated_headers import with_generated_headers
from regionpredict.frontend.build_files.openmp_switches import with_openmp_switches
from regionpredict.frontend.requests import SourceRequest, is_regular_file


class AsBuilt(NamedTuple):
    """The requests, remarks on assumptions, and the build files that were read.

    `absent` are missing files that would be read if they existed.
    """

    requests: Sequence[SourceRequest]
    remarks: tuple[str, ...]
    sources: tuple[str, ...]
    absent: tuple[str, ...]


def as_built(requests: Sequence[SourceRequest]) -> AsBuilt:
    """Adds generated headers, the build's macros, and the macros that OpenMP loops need."""
    generated = with_generated_headers(requests)
    defined = with_build_macros(generated.requests)
    switched, switches = with_openmp_switches(defined.requests)
    return AsBuilt(
        switched,
        (*generated.remarks, *defined.remarks, *switches),
        (*generated.sources, *filter(is_regular_file, defined.sources)),
        tuple(path for path in defined.sources if not is_regular_file(path)),
    )


def build_file_places(requests: Sequence[SourceRequest]) -> list[str]:
    """Returns the paths of build files that would change the requests, including missing files."""
    folders = dict.fromkeys(folder for request in requests for folder in folders_above(request))
    return [str(Path(folder, name)) for folder in folders for name in BUILD_FILES]
