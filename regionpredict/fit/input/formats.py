"""Which reader reads a file, and the door to all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from regionpredict.errors import InputError
from regionpredict.fit.experiment import Experiment
from regionpredict.fit.input.csv_table import read_csv
from regionpredict.fit.input.cube_profiles import read_cube
from regionpredict.fit.input.extrap_text import read_text
from regionpredict.fit.input.json_forms import read_json, read_json_lines, read_talpas
from regionpredict.fit.input.measurements import read_measurements

FORMATS: dict[str, Callable[[Path], Experiment]] = {
    "text": read_text,
    "json": read_json,
    "jsonl": read_json_lines,
    "measurements": read_measurements,
    "talpas": read_talpas,
    "cube": read_cube,
    "csv": read_csv,
}
"""The readers by name."""


def read(path: str | Path, format_name: str | None = None) -> Experiment:
    """Reads measurements; without `format_name`, the name and the first characters decide.

    Raises `InputError` for a file that is missing, unreadable, empty, or in no known format.
    """
    source = Path(path)
    if not source.exists():
        raise InputError("no such file or folder", remedy="check the name", path=str(path))
    if format_name is not None and format_name not in FORMATS:
        raise InputError(
            f"unknown format '{format_name}'", remedy=f"use one of {', '.join(FORMATS)}"
        )
    try:
        return FORMATS[format_name or _guess(source)](source)
    except UnicodeDecodeError as error:
        raise InputError(
            "the file is not text", remedy="give measurements, not a program", path=str(path)
        ) from error
    except OSError as error:
        raise InputError(
            f"the file cannot be read: {error.strerror}",
            remedy="check its permissions",
            path=str(path),
        ) from error


def _guess(source: Path) -> str:
    if source.is_dir():
        return "cube"
    suffix = source.suffix.lower()
    if suffix in (".csv", ".tsv"):
        return "csv"
    if suffix == ".jsonl":
        return "jsonl"
    with source.open(encoding="utf-8") as stream:
        first = ""
        for line in stream:
            if line.strip():
                first = line.strip()
                break
        second = next((line.strip() for line in stream if line.strip()), "")
    if first.startswith("{"):
        if '"parameters"' in first and ";" in first and first.endswith("}"):
            return "talpas"
        if first.endswith("}") and second.startswith("{"):
            return "talpas" if '"parameters"' in first else "jsonl"
        return "json"
    if not first:
        raise InputError(
            "the file is empty", remedy="give a file with measurements", path=str(source)
        )
    head = first.split()[0]
    keywords = ("PARAMETER", "POINTS", "METRIC", "REGION", "DATA", "EXPERIMENT")
    if head.startswith("#") or head in keywords:
        return "text"
    return "csv" if "," in first else "text"
