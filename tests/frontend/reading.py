"""Reads C text as the command line would, for the tests of this folder."""

from __future__ import annotations

from pathlib import Path

from regionpredict.analysis import RegionFacts
from regionpredict.frontend import requests_for
from regionpredict.ir import Program
from regionpredict.pipeline import Analysis, analyse

FRONTENDS = ("libclang", "pycparser")


def analysis_of(
    folder: Path,
    text: str,
    frontend: str,
    *,
    name: str = "case.c",
    defines: tuple[tuple[str, str], ...] = (),
    given: dict[str, int] | None = None,
) -> Analysis:
    path = folder / name
    path.write_text(text)
    return analyse(
        requests_for([str(path)], defines), given or {}, frontend=frontend, defaults=False
    )


def program_of(folder: Path, text: str, frontend: str, **options: object) -> Program:
    return analysis_of(folder, text, frontend, **options).program  # type: ignore[arg-type]


def facts_of(folder: Path, text: str, frontend: str, **options: object) -> RegionFacts:
    """The facts of the only region."""
    (facts,) = analysis_of(folder, text, frontend, **options).facts  # type: ignore[arg-type]
    return facts
