"""Models of library functions as C sources. These functions call the program, sort, or factorize.

    gsl_integration_qag(&F, a, b, ...);    ->    for (...) sum += F.function(x, F.params);

If the program defines a function with the same name, that function takes precedence. Functions with
simpler effects are listed in `library/memory_accesses.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent
# `int gsl_deriv_central(const ...`, `X##execute(` of FFTW, and `X(getrf_)(` of LAPACK.
_DEFINED = re.compile(
    r"^(?:\w+ )+\**((?:gsl_|R_|rsort_|Rf_)\w+|(?:X##|X\(|L\()\w+\)?)\(", re.MULTILINE
)
# Prefixes of functions that exist for several precisions.
_PRECISIONS = {
    "X##": ("fftw_", "fftwf_", "fftwl_"),
    "X(": ("s", "d", "c", "z"),
    "L(": ("LAPACKE_s", "LAPACKE_d", "LAPACKE_c", "LAPACKE_z"),
}


@cache
def _model_files() -> dict[str, str]:
    """Maps the name of a function to the source file of its model."""
    models: dict[str, str] = {}
    for path in sorted(_FOLDER.glob("*.c")):
        for name in _DEFINED.findall(path.read_text(encoding="utf-8")):
            form = next((form for form in _PRECISIONS if name.startswith(form)), "")
            base = name.removeprefix(form).rstrip(")")
            for precision in _PRECISIONS.get(form, ("",)):
                models[precision + base] = str(path)
    return models


def models_of(names: Collection[str]) -> dict[str, list[str]]:
    """Returns the functions among these names that have a model, by the source file of the
    model.
    """
    models = _model_files()
    sources: dict[str, list[str]] = {}
    for name in sorted(models.keys() & set(names)):
        sources.setdefault(models[name], []).append(name)
    return sources
