"""Notes of the reading: one line for all that say the same, none lost."""

from __future__ import annotations

from regionpredict.ir import Diagnostic, Span
from regionpredict.report.reading_notes import note_lines


def note(rule: str, file: str, line: int, message: str) -> Diagnostic:
    return Diagnostic(rule, Span(file, line, 1), message)


def test_equal_notes_are_one_line_where_the_first_stands() -> None:
    notes = [
        note("RP003", "b.c", 1, "include folder guessed: inc"),
        note("RP001", "b.c", 7, "header 'x.h' not found"),
        note("RP003", "a.c", 1, "include folder guessed: inc"),
        note("RP003", "a.c", 1, "include folder guessed: other"),
        note("RP001", "b.c", 9, "header 'x.h' not found"),
    ]
    assert note_lines(notes) == [
        "b.c:1:1: RP003: include folder guessed: inc (so for 2 files)",
        "b.c:7:1: RP001: header 'x.h' not found (so in several lines)",
        "a.c:1:1: RP003: include folder guessed: other",
    ]
    assert note_lines([]) == []
