"""Reads machine files and processor families. Input: YAML text. Output: a `Machine` or a `Family`.

Entry points: `read(text, path) -> Machine`, `family_of(identity)` for the name of a processor's
family, and `load_family(name)`. An invalid file raises an InputError with file, line and key.
"""

from __future__ import annotations

from regionpredict.machine.reader.document import did_you_mean
from regionpredict.machine.reader.families import (
    GENERIC,
    Family,
    Identity,
    family_names,
    family_of,
    load_family,
)
from regionpredict.machine.reader.machine_file import read

__all__ = [
    "GENERIC",
    "Family",
    "Identity",
    "did_you_mean",
    "family_names",
    "family_of",
    "load_family",
    "read",
]
