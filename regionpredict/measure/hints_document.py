"""Reads a hints file as a JSON object.

For any other kind of file, the error says what it is and how hints are made. Users often pass
sources, tables or measurements instead.
"""

from __future__ import annotations

from pathlib import Path

from regionpredict.documents import read_text
from regionpredict.errors import InputError
from regionpredict.file_presence import is_file
from regionpredict.json_records import Record, json_record

SCHEMA = "regionpredict/hints/1"
WHAT = "a hints file"
MAKE_HINTS = "make hints: regionpredict predict SOURCE -m MACHINE --format json -o hints.json"

_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".h", ".hpp", ".cu")


def read_hints_document(path: Path) -> Record:
    """Returns the object in a hints file. For another file, raises InputError with the kind of the
    file.
    """
    if path.suffix in _SOURCES and is_file(path):
        remedy = MAKE_HINTS.replace("SOURCE", str(path))
        raise InputError("a source, not a hints file", remedy=remedy, path=str(path))
    text = read_text(path, MAKE_HINTS)
    if text.startswith('{"kind": "campaign"'):
        raise InputError("measurements, not a hints file", remedy=MAKE_HINTS, path=str(path))
    return checked_hints(json_record(text, WHAT, path, MAKE_HINTS), str(path))


def checked_hints(document: Record, path: str) -> Record:
    """Returns the document. Raises InputError if it is not a hints document."""
    schema = document.value.get("schema")
    if schema == SCHEMA:
        return document
    what = f"{schema}, not" if isinstance(schema, str) and len(schema) < 40 else "not"
    raise InputError(f"{what} a hints file", remedy=MAKE_HINTS, path=path)
