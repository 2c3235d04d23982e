"""Reads the parts of a hints file that are compared with another prediction."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from regionpredict.documents import input_errors_while_reading
from regionpredict.json_records import Positive, Record, Share
from regionpredict.measure.hints_document import (
    MAKE_HINTS,
    WHAT,
    checked_hints,
    read_hints_document,
)


class Reference(NamedTuple):
    """A reference of a region: its text, `read` or `write`, and its access pattern."""

    text: str
    kind: str
    pattern: str | None
    reuse: str | None


@dataclass(frozen=True, slots=True)
class RegionOutline:
    """A region and its hint. Unknown values are None.

    `clauses` is None in old files. `iterations` and `working_set` are (expression, value), and a
    working set is in bytes. `seconds` is one execution on one thread, and `speedup` is by threads.
    `rules` are the (id, message) of its diagnostics.
    """

    id: str
    file: str
    line: Positive
    function: str
    directive: str
    clauses: tuple[str, ...] | None
    status: str
    iterations: tuple[str | None, int | None]
    working_set: tuple[str | None, int | None]
    packages: Positive | None
    threads: Positive | None
    speedup: dict[int, float]
    seconds: float | None
    bottleneck: str | None
    confidence: Share
    references: tuple[Reference, ...]
    rules: tuple[tuple[str, str], ...]

    @property
    def arrays(self) -> tuple[str, ...]:
        """Returns the names of the region's arrays, in source order.

        >>> Reference("A[i][k]", "write", None, None).text.partition("[")[0]
        'A'
        """
        return tuple(
            dict.fromkeys(reference.text.partition("[")[0] for reference in self.references)
        )

    @property
    def gain(self) -> float | None:
        """Returns the speedup at the hint."""
        return None if self.threads is None else self.speedup.get(self.threads)

    @property
    def hinted_seconds(self) -> float | None:
        """Returns the seconds of one execution at the hint."""
        return None if self.seconds is None or not self.gain else self.seconds / self.gain


class ProgramOutline(NamedTuple):
    """The hint for the whole program. `gain` is its speedup, and `hinted_seconds` the time at the
    hint.
    """

    packages: Positive
    threads: Positive
    gain: float
    hinted_seconds: float | None
    confidence: Share
    id: str = "the program"
    function: str = ""


class HintOutline(NamedTuple):
    """The compared parts of a hints document: its file, machine, model, regions in order, and
    recommendation for the whole program (None if unknown).
    """

    name: str
    machine: str
    model: str
    regions: tuple[RegionOutline, ...]
    program: ProgramOutline | None = None


def read_outline(path: Path) -> HintOutline:
    """Reads the hints of a file. Raises InputError if it is not a hints file."""
    record = read_hints_document(path)
    with input_errors_while_reading(path, WHAT, MAKE_HINTS):
        return outline_of(record, str(path))


def outline_of(document: Record, name: str) -> HintOutline:
    """Reads the hints of a document. Raises InputError for other documents."""
    checked_hints(document, name)
    return HintOutline(
        name,
        document.inner("machine").text("name"),
        document.text("model"),
        tuple(_read_region(region) for region in document.inner_records("regions")),
        _read_program(document),
    )


def _read_program(document: Record) -> ProgramOutline | None:
    if not document.given("program"):
        return None
    program = document.inner("program")
    seconds = None if program.is_null("seconds") else program.number("seconds")
    return program.fill(
        ProgramOutline, gain=program.number("speedup"), hinted_seconds=seconds, id="the program",
        function="",
    )  # fmt: skip


def _read_region(region: Record) -> RegionOutline:
    accesses = [
        record.fill(Reference) for array in region.inner_records("arrays")
        for record in array.inner_records("accesses")
    ]  # fmt: skip
    notes = region.inner_records("diagnostics")
    return region.fill(
        RegionOutline,
        clauses=region.texts("clauses") if "clauses" in region.value else None,
        iterations=_read_count(region.inner("iterations"), "value"),
        working_set=_read_count(region.inner("working_set"), "bytes"),
        speedup={
            record.whole("threads", 1): record.number("value")
            for record in region.inner_records("speedup")
        },
        seconds=region.number("seconds") if region.given("seconds") else None,
        references=tuple(accesses),
        rules=tuple((note.text("id"), note.text("message")) for note in notes),
    )


def _read_count(count: Record, value: str) -> tuple[str | None, int | None]:
    text = None if count.is_null("expr") else count.text("expr")
    return text, None if count.is_null(value) else count.whole(value, -(1 << 63))
