"""Shows source code with hints at its lines. Long files are reduced to the lines near regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regionpredict.ir import Span
from regionpredict.predict import Advice, Prediction
from regionpredict.report.document import Drawing
from regionpredict.report.editor_notes import hint_text
from regionpredict.report.quantities import plural

_WHOLE = 250  # maximum lines of a file that is shown completely
_EXCERPT = 14  # lines of a region in the details of its row
_BEFORE, _AFTER = 8, 30  # lines before and after a hint


def source_blocks(
    predictions: Sequence[Prediction], advice: Sequence[Advice], sources: Mapping[str, str],
    rows: Mapping[str, int],
) -> list[Drawing]:  # fmt: skip
    """Returns one block per file that has a region and a known text. `rows` are the table rows of
    the regions.
    """
    notes: dict[str, list[Drawing]] = {}
    for prediction in predictions:
        region = prediction.facts.region
        notes.setdefault(region.span.file, []).append(
            {"line": region.span.line, "text": hint_text(prediction), "row": rows[region.id]}
        )
    for change in dict.fromkeys(advice):
        notes.setdefault(change.span.file, []).append(
            {"line": change.span.line, "text": str(change), "advice": True}
        )
    return file_blocks(notes, sources)


def excerpt(span: Span, sources: Mapping[str, str]) -> list[Drawing]:
    """Returns the lines around a source position, if the text of the file is known."""
    if span.file not in sources:
        return []
    lines = sources[span.file].splitlines()
    begin = max(1, span.line - 3)
    part = [begin, lines[begin - 1 : span.line + _EXCERPT]]
    notes = [{"line": span.line, "text": "this loop"}]
    return [{"kind": "source", "file": span.file, "told": f"from line {begin}", "parts": [part],
             "notes": notes, "open": True}]  # fmt: skip


def file_blocks(
    notes: Mapping[str, Sequence[Drawing]], sources: Mapping[str, str]
) -> list[Drawing]:  # fmt: skip
    """Returns one block per file with a known text.

    `notes` by file are shown at their `line`. A note of a region has the `row` of the table with
    its details.
    """
    return [_file_block(file, own, sources[file]) for file, own in notes.items() if file in sources]


def _file_block(file: str, notes: Sequence[Drawing], source: str) -> Drawing:
    lines = source.splitlines()
    noted_lines = sorted({note["line"] for note in notes})
    parts: list[list[object]] = []
    if len(lines) <= _WHOLE:
        parts = [[1, lines]]
    else:
        begin = end = 0
        for place in [*noted_lines, None]:
            if begin and (place is None or place - _BEFORE > end + 1):
                parts.append([begin, lines[begin - 1 : end]])
                begin = 0
            if place is not None:
                begin = begin or max(1, place - _BEFORE)
                end = min(len(lines), place + _AFTER)
    count = plural(sum("row" in note for note in notes), "loop")
    return {"kind": "source", "file": file, "told": count, "parts": parts, "notes": list(notes)}
