"""Reads C text as the command line would, for the tests of this folder."""

from __future__ import annotations

import json
import subprocess
import sys
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


def predict(path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """`regionpredict predict` as a user runs it, with its result in JSON."""
    words = ["predict", "-m", "skylake-gold-6148", "--format", "json", *more, str(path)]
    command = [sys.executable, "-m", "regionpredict", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def predicted_iterations(path: Path, *more: str) -> tuple[int, str]:
    """The iterations of the only loop, and what was said."""
    done = predict(path, *more)
    assert done.returncode == 0, done.stderr
    (region,) = json.loads(done.stdout)["regions"]
    return region["iterations"]["value"], done.stderr
