"""C sources that replace library functions that call the program's functions, or sort.

    gsl_integration_qag(&F, a, b, ...);    ->    for (...) sum += F.function(x, F.params);

A program with a function of that name has precedence. Functions with simpler effects are listed in
`library/memory_accesses.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent
# `int gsl_deriv_central(const ...`, and `X##execute(` for each precision of FFTW.
_DEFINED = re.compile(r"^(?:\w+ )+\**((?:gsl_|R_|rsort_|Rf_|X##)\w+)\(", re.MULTILINE)
_PRECISIONS = ("fftw_", "fftwf_", "fftwl_")


@cache
def _models() -> dict[str, str]:
    """The source of each function by its name."""
    models: dict[str, str] = {}
    for path in sorted(_FOLDER.glob("*.c")):
        for name in _DEFINED.findall(path.read_text(encoding="utf-8")):
            if name.startswith("X##"):
                base = name.removeprefix("X##")
                models.update((f"{precision}{base}", str(path)) for precision in _PRECISIONS)
            else:
                models[name] = str(path)
    return models


def models_of(names: Collection[str]) -> dict[str, list[str]]:
    """The functions with a model among these names, by the source of the model."""
    models = _models()
    sources: dict[str, list[str]] = {}
    for name in sorted(models.keys() & set(names)):
        sources.setdefault(models[name], []).append(name)
    return sources
