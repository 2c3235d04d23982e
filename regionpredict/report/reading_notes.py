"""The notes from reading the files, one line each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from regionpredict.ir import Diagnostic

_HOW_MANY = re.compile(r" \(and \d+ more\)")
_FILE_BY_FILE = "RP005"  # of each file other names, and nothing to do about it but one thing
_LEFT_OUT = "RP006"


def note_lines(notes: Sequence[Diagnostic]) -> list[str]:
    """The notes. Identical notes for several places are shown once, at the first place.

    Directives that were left out come last. Sample: `a.c:1: RP003: include folder guessed: inc;
    pass -I inc to be sure (in 4 files)`.
    """
    by_subject: dict[tuple[str, str], list[Diagnostic]] = {}
    for note in notes:
        by_subject.setdefault((note.id, _subject(note)), []).append(note)
    ordered = sorted(by_subject.values(), key=lambda same: same[0].id == _LEFT_OUT)
    return [f"{same[0]}{_others(same)}" for same in ordered]


def _subject(note: Diagnostic) -> str:
    """The common part of several notes of one rule, if they are the same."""
    return "" if note.id == _FILE_BY_FILE else _HOW_MANY.sub("", note.message)


def _others(same: Sequence[Diagnostic]) -> str:
    """The number of other places with the same note."""
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
