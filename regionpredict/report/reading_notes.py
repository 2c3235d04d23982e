"""What reading the files has to say, a line for each thing that is to be said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from regionpredict.ir import Diagnostic

_HOW_MANY = re.compile(r" \(and \d+ more\)")
_FILE_BY_FILE = "RP005"  # of each file other names, and nothing to do about it but one thing
_LEFT_OUT = "RP006"


def note_lines(notes: Sequence[Diagnostic]) -> list[str]:
    """The notes, those that say the same of several places once, where the first of them stands.

    Directives that were left out come last, where they are seen. Sample:
    `a.c:1: RP003: include folder guessed: inc; pass -I inc to be sure (in 4 files)`.
    """
    by_subject: dict[tuple[str, str], list[Diagnostic]] = {}
    for note in notes:
        by_subject.setdefault((note.id, _subject(note)), []).append(note)
    ordered = sorted(by_subject.values(), key=lambda same: same[0].id == _LEFT_OUT)
    return [f"{same[0]}{_others(same)}" for same in ordered]


def _subject(note: Diagnostic) -> str:
    """What several notes of one rule have in common if they say the same."""
    return "" if note.id == _FILE_BY_FILE else _HOW_MANY.sub("", note.message)


def _others(same: Sequence[Diagnostic]) -> str:
    """How many places say it, behind the first."""
    files, lines = {note.span.file for note in same}, {note.span for note in same}
    if len(same) == 1:
        return ""
    if len({note.message for note in same}) > 1:
        return f" (and {len(same) - 1} similar)"
    if len(files) == 1:
        return f" (in {len(lines)} lines)"
    return f" (in {len(lines)} lines of {len(files)} files)" if len(lines) > len(files) else (
        f" (in {len(files)} files)"
    )  # fmt: skip
