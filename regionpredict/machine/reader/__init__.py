"""Machine files and processor families: YAML text in, a `Machine` or a `Family` out.

Door: `read(text, path) -> Machine`; `family_of(identity)` names the family of a processor, and
`load_family(name)` gives it. A wrong file gets an InputError with file, line and key.
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
