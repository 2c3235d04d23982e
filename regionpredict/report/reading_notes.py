"""Formats the notes from reading the files, one line each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from regionpredict.ir import Diagnostic

_HOW_MANY = re.compile(r" \(and \d+ more\)")
_GUESSED_NAMES = "RP005"  # guessed names differ by file, but the remedy is the same
_GUESSED_FOLDER = "RP003"
_LEFT_OUT = "RP006"
_FILE_LEFT_OUT = "RP004"  # notes that list each file
_EACH = 3  # maximum guessed folders with separate lines


def note_lines(notes: Sequence[Diagnostic]) -> list[str]:
    """Returns the notes as lines.

    Identical notes for several source positions are shown once, at the first position. The same
    holds for guesses of more than three folders. Directives that were left out come last. Sample:
    `a.c:1: RP003: include folder guessed; pass -I inc to confirm it (in 4 files)`.
    """
    folders = {note.message for note in notes if note.id == _GUESSED_FOLDER}
    together = {_GUESSED_NAMES} | ({_GUESSED_FOLDER} if len(folders) > _EACH else set())
    by_subject: dict[tuple[str, ...], list[Diagnostic]] = {}
    for note in notes:
        subject = "" if note.id in together else _HOW_MANY.sub("", note.message)
        file = note.span.file if note.id == _FILE_LEFT_OUT else ""
        by_subject.setdefault((note.id, subject, file), []).append(note)
    ordered = sorted(by_subject.values(), key=lambda same: same[0].id == _LEFT_OUT)
    return [f"{same[0]}{_count_other_places(same)}" for same in ordered]


def _count_other_places(same: Sequence[Diagnostic]) -> str:
    files, lines = {note.span.file for note in same}, {note.span for note in same}
    if len(same) == 1:
        return ""
    if len({note.message for note in same}) > 1:
        return f" (and {len({note.message for note in same}) - 1} similar)"
    if len(files) == 1:
        return f" (in {len(lines)} lines)"
    return f" (in {len(lines)} lines of {len(files)} files)" if len(lines) > len(files) else (
        f" (in {len(files)} files)"
    )  # fmt: skip
