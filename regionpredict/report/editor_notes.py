"""Hints, findings and edits for the lines of one file in an editor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from regionpredict.ir import Span
from regionpredict.machine import Machine
from regionpredict.predict import Prediction, Recommended
from regionpredict.report.advice import ByTeam
from regionpredict.report.clause_edit import advised_clause, with_clause
from regionpredict.report.loop_table import CONFLICTS
from regionpredict.report.quantities import seats_text
from regionpredict.report.recommendation import recommendation_lines


class HintNote(NamedTuple):
    """A hint above a directive. `last` is the last line of its loop. Lines count from 1. The hint
    for the whole program is above the first line and has no `region`.
    """

    line: int
    last: int
    text: str
    region: str


class Finding(NamedTuple):
    """A finding at a place, counted from 1. `edit` is the corrected line."""

    line: int
    column: int
    rule: str
    text: str
    warns: bool
    edit: str | None = None


def hint_notes(
    predictions: Sequence[Prediction], file: str, recommended: Recommended
) -> list[HintNote]:
    """A note for the program, and one for each region of a file."""
    together = recommended.together
    of_program = [] if together is None else recommendation_lines(together, recommended.each)
    return [HintNote(1, 0, text, "") for text in of_program[:1]] + [
        HintNote(
            prediction.facts.region.span.line,
            _last(prediction),
            hint_text(prediction),
            prediction.facts.region.id,
        )
        for prediction in predictions
        if _is(prediction.facts.region.span, file)
    ]


def hint_text(prediction: Prediction) -> str:
    """`2 packages, 11 threads: 2.6x, memory-bandwidth (75 % confidence)`."""
    if prediction.status == "skipped":
        return "no prediction"
    if prediction.packages is None:
        return "no hint"
    text = seats_text(prediction.packages, prediction.threads)
    speedup = dict(prediction.speedup).get(prediction.threads or 0)
    text += f": {speedup:.1f}x" if speedup is not None else ""
    if prediction.bottleneck is not None:
        text += f", {prediction.bottleneck}"
    guessed = " at assumed sizes" if prediction.range is not None else ""
    return f"{text} ({100 * prediction.confidence:.0f} % confidence{guessed})"


def findings(
    predictions: Sequence[Prediction], advice: ByTeam, machine: Machine, file: str,
    lines: Sequence[str],
) -> list[Finding]:  # fmt: skip
    """The findings of rules for a file with these `lines`, and the recommended changes."""
    notes = [
        Finding(note.span.line, note.span.column, note.id, note.message, note.id in CONFLICTS)
        for prediction in predictions
        for note in prediction.diagnostics
        if _is(note.span, file)
    ]
    distinct_changes = dict.fromkeys(change for changes in advice.values() for change in changes)
    notes += [
        Finding(
            advice.span.line, advice.span.column, advice.id,
            f"{advice.gain:.1f} times as fast on {machine.name}: {advice.message}", False,
            _edit(advice.message, advice.span, lines),
        )
        for advice in distinct_changes
        if _is(advice.span, file)
    ]  # fmt: skip
    return list(dict.fromkeys(notes))


def _edit(message: str, span: Span, lines: Sequence[str]) -> str | None:
    clause = advised_clause(message)
    if clause is None or not 0 < span.line <= len(lines):
        return None
    return with_clause(lines[span.line - 1], clause)


def _last(prediction: Prediction) -> int:
    region = prediction.facts.region
    return region.nest.span.line if region.nest is not None else region.span.line


def _is(span: Span, file: str) -> bool:
    return Path(span.file).resolve() == Path(file).resolve()
