"""Defines the macros with which a program's build enables its OpenMP loops.

    #ifdef HYPRE_USING_OPENMP
    #pragma omp parallel for
    #endif
    #ifdef OMP
    #include "omp/kernel.hpp"
    #endif

Predictions are for a build with OpenMP, so these macros are defined. A remark lists them. Macros
that disable OpenMP, such as NO_OPENMP, are ignored in build files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from regionpredict.frontend.build_files.program_texts import program_texts
from regionpredict.frontend.requests import HEADERS, SourceRequest
from regionpredict.frontend.text import conditions_of_directives, has_directive

_SWITCH = re.compile(r"(?:\w*_)?(?:OPENMP|OMP)_*", re.IGNORECASE)
_OTHER = re.compile(
    r"_OPENMP|.*(?:DEVICE|TARGET|OFFLOAD|GPU|CUDA|HIP|SYCL|SIMD|DISABLE|WITHOUT|NO_|NOT_).*",
    re.IGNORECASE,
)


_OFF = re.compile(r"(?:NO|NOT|DISABLE|WITHOUT)_?(?=OPENMP|OMP)", re.IGNORECASE)


def disables_openmp(name: str) -> bool:
    """Whether a macro with this name disables OpenMP.

    >>> [disables_openmp(name) for name in ("HPCG_NO_OPENMP", "NOOMP", "USE_OPENMP", "NO_MPI")]
    [True, True, False, False]
    """
    return _OFF.search(name) is not None and _is_switch(_OFF.sub("", name))


def with_openmp_switches(
    requests: Sequence[SourceRequest],
) -> tuple[list[SourceRequest], tuple[str, ...]]:
    """Adds to the requests the macros that their OpenMP loops need. Also returns a remark per
    macro.
    """
    given = {name for request in requests for name, _ in request.defines}
    texts = dict(program_texts(requests))
    headers = [
        path for path, text in texts.items() if Path(path).suffix in HEADERS and has_directive(text)
    ]
    needed = sorted({
        name for text in texts.values() for condition in conditions_of_directives(text, headers)
        for name in condition if name not in given and _is_switch(name)
    })  # fmt: skip
    defines = tuple((name, "1") for name in needed)
    remarks = tuple(
        f"{name} is assumed to be defined, since OpenMP loops depend on it; confirm it by -D {name}"
        for name in needed
    )
    return [replace(request, defines=(*request.defines, *defines)) for request in requests], remarks


def _is_switch(name: str) -> bool:
    """Whether a macro with this name enables OpenMP.

    >>> [_is_switch(name) for name in ("USE_OPENMP", "_HAVE_OMP_", "_OPENMP", "USE_OMP_TARGET")]
    [True, True, False, False]
    """
    return _SWITCH.fullmatch(name) is not None and _OTHER.fullmatch(name) is None
