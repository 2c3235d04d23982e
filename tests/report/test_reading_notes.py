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
        "b.c:1:1: RP003: include folder guessed: inc (in 2 files)",
        "b.c:7:1: RP001: header 'x.h' not found (in 2 lines)",
        "a.c:1:1: RP003: include folder guessed: other",
    ]
    assert note_lines([]) == []


def test_many_guessed_folders_are_one_line() -> None:
    notes = [note("RP003", "a.c", 1, f"include folder guessed: {k}") for k in (1, 2, 3, 3, 4)]
    assert note_lines(notes) == ["a.c:1:1: RP003: include folder guessed: 1 (and 3 similar)"]
    assert len(note_lines(notes[:4])) == 3


def test_guesses_of_many_files_are_one_line_though_each_has_its_names() -> None:
    notes = [
        note("RP005", "a.c", 1, "declarations guessed: x"),
        note("RP006", "a.c", 3, "left out: add -D X"),
        note("RP002", "h.h", 9, "syntax error: wrong; the rest was read"),
        note("RP005", "b.c", 1, "declarations guessed: y, z"),
        note("RP002", "h.h", 9, "syntax error: wrong (and 2 more); the rest was read"),
        note("RP006", "a.c", 7, "left out: add -D X"),
        note("RP006", "b.c", 3, "left out: add -D X"),
    ]
    assert note_lines(notes) == [
        "a.c:1:1: RP005: declarations guessed: x (and 1 similar)",
        "h.h:9:1: RP002: syntax error: wrong; the rest was read (and 1 similar)",
        "a.c:3:1: RP006: left out: add -D X (in 3 lines of 2 files)",
    ]


def test_each_file_that_was_left_out_is_named() -> None:
    notes = [note("RP004", f"{k}.c", 1, "the reader crashed: file left out") for k in "ab"]
    assert note_lines(notes) == [
        "a.c:1:1: RP004: the reader crashed: file left out",
        "b.c:1:1: RP004: the reader crashed: file left out",
    ]
