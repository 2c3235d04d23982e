"""Finds worksharing loops and `parallel` constructs in preprocessed text."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import Counter
from typing import NamedTuple

from regionpredict.frontend.text import (
    parse_directive,
)
from regionpredict.ir import Clause
from regionpredict.measure.ctext import NotUnderstoodError, next_token_or_error, statement_end
from regionpredict.measure.trips import UNKNOWN, trip_count

_MARKER = re.compile(r'^#(?:[ \t]*line)?[ \t]+(\d+)(?:[ \t]+"((?:\\.|[^"\\])*)"([ \d]*))?', re.M)
_TEAM = "parallel"
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b([^\n]*)$", re.M)


class Marker(NamedTuple):
    """A preprocessor line: the following text is line `line` of `file`.

    `inclusion` distinguishes several inclusions of one file.
    """

    end: int
    line: int
    file: str
    system: bool
    inclusion: int = 0


class MeasuredLoop(NamedTuple):
    """A worksharing loop in preprocessed text, or a whole `parallel`. Offsets refer to that text.

    `begin` is the start of the directive, and `end` the offset after the statement. `trips` is the
    C expression of its trip count. `loop_line` is the line of the loop, or of the first statement
    of a `parallel`. `kind` has the words of the directive. `ordinal` numbers the regions (or
    parallel regions) on one line from 1, since a macro can create several.
    """

    begin: int
    end: int
    file: str
    spelt: str
    line: int
    loop_line: int
    end_line: int
    kind: str
    clauses: tuple[Clause, ...]
    trips: str
    ordinal: int = 1

    @property
    def combined(self) -> bool:
        """Whether the directive also starts the threads."""
        return "parallel" in self.kind.split()

    @property
    def is_team(self) -> bool:
        """Whether the region is a `parallel` without its own loop."""
        return self.kind == _TEAM

    @property
    def directive(self) -> str:
        """Returns the directive's words and clauses as written."""
        clauses = [c.name if c.text is None else f"{c.name}({c.text})" for c in self.clauses]
        return " ".join(["omp", self.kind, *clauses])

    def has(self, name: str) -> bool:
        """Whether the directive has the clause."""
        return any(clause.name == name for clause in self.clauses)


class Lines:
    """Maps offsets in preprocessed text to files and lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.markers = [Marker(0, 1, "", system=False)]
        inclusions, open_ones = 0, [0]
        for match in _MARKER.finditer(text):
            file = match.group(2)
            name = self.markers[-1].file if file is None else re.sub(r"\\(.)", r"\1", file)
            flags = (match.group(3) or "").split()
            if "1" in flags:
                inclusions += 1
                open_ones.append(inclusions)
            elif "2" in flags and len(open_ones) > 1:
                open_ones.pop()
            line, system = int(match.group(1)), "3" in flags
            self.markers.append(Marker(match.end() + 1, line, name, system, open_ones[-1]))
        self._ends = [marker.end for marker in self.markers]

    def at(self, offset: int) -> Marker:
        """Returns the marker at the offset, with the offset's own line."""
        marker = self.markers[max(0, bisect_right(self._ends, offset) - 1)]
        return marker._replace(line=marker.line + self.text.count("\n", marker.end, offset))


def measured_constructs(text: str, folder: str) -> list[MeasuredLoop]:
    """Returns the measurable worksharing loops and `parallel` constructs, in text order.

    Constructs in system headers, inside a `target` construct (which runs on a device), and with an
    unsupported statement are left out. `folder` is the folder of the compiler call.
    """
    lines = Lines(text)
    loops: list[MeasuredLoop] = []
    elsewhere = 0
    of_line: Counter[tuple[str, int, int, bool]] = Counter()
    for match in _PRAGMA.finditer(text):
        directive_tokens = parse_directive(match.group(1))[0].split()
        if not directive_tokens or match.start() < elsewhere:
            continue
        place = lines.at(match.start())
        if place.system:
            continue
        try:
            if directive_tokens[0] == "target" and not _is_loop(directive_tokens):
                if not {"update", "enter", "exit"} & set(directive_tokens):
                    elsewhere = _construct_end(text, match.end())
                continue
            if directive_tokens[0] == "target":
                elsewhere = _construct_end(text, match.end())
            if _is_loop(directive_tokens) or directive_tokens == [_TEAM]:
                loop = _parse_loop(text, match, lines, folder)
                here = (place.file, place.line, place.inclusion, loop.is_team)
                of_line[here] += 1
                loops.append(loop._replace(ordinal=of_line[here]))
        except NotUnderstoodError:
            continue
    return loops


def _is_loop(directive_tokens: list[str]) -> bool:
    return "for" in directive_tokens and "declare" not in directive_tokens


def _parse_loop(text: str, match: re.Match[str], lines: Lines, folder: str) -> MeasuredLoop:
    kind, clauses = parse_directive(match.group(1))
    begin = match.start()
    first = next_token_or_error(text, match.end())
    collapse = next((c.text or "1" for c in clauses if c.name == "collapse"), "1").strip("() ")
    try:
        if kind == _TEAM:
            trips, at = UNKNOWN, first.begin
        else:
            trips, at = trip_count(text, first.begin, int(collapse))
    except (NotUnderstoodError, ValueError):
        trips, at = UNKNOWN, first.begin
    end = statement_end(text, first.begin)
    place = lines.at(begin)
    return MeasuredLoop(
        begin, end, os.path.normpath(os.path.join(folder, place.file)), place.file,  # noqa: PTH118
        place.line, lines.at(at).line, lines.at(end).line, kind, clauses, trips,
    )  # fmt: skip


def _construct_end(text: str, at: int) -> int:
    return statement_end(text, next_token_or_error(text, at).begin)
