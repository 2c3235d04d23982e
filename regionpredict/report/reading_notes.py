"""What reading the files has to say, a line for each thing that is to be said."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.ir import Diagnostic


def note_lines(notes: Sequence[Diagnostic]) -> list[str]:
    """The notes, those that say the same of several places once, where the first of them stands.

    Sample: `a.c:1: RP003: include folder guessed: inc; pass -I inc to be sure (so for 4 files)`.
    """
    places: dict[tuple[str, str], list[Diagnostic]] = {}
    for note in notes:
        places.setdefault((note.id, note.message), []).append(note)
    lines = []
    for first, *others in places.values():
        more = ""
        if others:
            files = {note.span.file for note in (first, *others)}
            more = f" (so for {len(files)} files)" if len(files) > 1 else " (so in several lines)"
        lines.append(f"{first}{more}")
    return lines
