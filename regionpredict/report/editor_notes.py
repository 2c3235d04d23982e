"""Returns hints, findings and edits for the lines of one file in an editor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from regionpredict.ir import Span
from regionpredict.machine import Machine
from regionpredict.predict import Prediction, Recommended
from regionpredict.predict.program_advice import ByTeam
from regionpredict.report.clause_edit import advised_clause, with_clause
from regionpredict.report.loop_table import CONFLICTS
from regionpredict.report.quantities import threads_text
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
    """A finding of a rule, or a recommended change with its `gain`. A change that writes a `clause`
    has one. `function` is "" outside of regions.
    """

    rule: str
    span: Span
    text: str
    function: str = ""
    gain: float | None = None
    clause: str | None = None

    @property
    def warns(self) -> bool:
        """Whether the finding is a conflict between threads."""
        return self.rule in CONFLICTS

    def edited(self, line: str | None) -> str | None:
        """Returns the source line with the clause. None without a clause, or if it cannot be
        written.
        """
        return None if line is None or self.clause is None else with_clause(line, self.clause)


def hint_notes(
    predictions: Sequence[Prediction], file: str, recommended: Recommended
) -> list[HintNote]:
    """Returns a note for the program, and one for each region of a file."""
    together = recommended.together
    of_program = [] if together is None else recommendation_lines(together, recommended.each)
    return [HintNote(1, 0, text, "") for text in of_program[:1]] + [
        HintNote(
            prediction.facts.region.span.line,
            _last_line(prediction),
            hint_text(prediction),
            prediction.facts.region.id,
        )
        for prediction in predictions
        if _is_in_file(prediction.facts.region.span, file)
    ]


def hint_text(prediction: Prediction) -> str:
    """Describes a hint as `2 packages, 11 threads: 2.6x, memory-bandwidth (75 % confidence)`."""
    if prediction.status == "skipped":
        return "no prediction"
    if prediction.packages is None:
        return "no hint"
    text = threads_text(prediction.packages, prediction.threads)
    speedup = dict(prediction.speedup).get(prediction.threads or 0)
    text += f": {speedup:.1f}x" if speedup is not None else ""
    if prediction.bottleneck is not None:
        text += f", {prediction.bottleneck}"
    guessed = " at assumed sizes" if prediction.range is not None else ""
    return f"{text} ({100 * prediction.confidence:.0f} % confidence{guessed})"


def noted(prediction: Prediction) -> list[Finding]:
    """Returns the findings of rules in a region."""
    function = prediction.facts.region.function
    return [Finding(note.id, note.span, note.message, function) for note in prediction.diagnostics]


def changes(
    predictions: Sequence[Prediction], advice: ByTeam, machine: Machine
) -> list[Finding]:  # fmt: skip
    """Returns the recommended changes as findings."""
    functions = {own.facts.region.span: own.facts.region.function for own in predictions}
    return [
        Finding(
            change.id, change.span, f"{change.gain:.1f} times as fast on {machine.name}: "
            f"{change.message}", functions.get(change.span, ""), change.gain,
            advised_clause(change.message),
        )
        for change in dict.fromkeys(one for own in advice.values() for one in own)
    ]  # fmt: skip


def findings(
    predictions: Sequence[Prediction], advice: ByTeam, machine: Machine, file: str
) -> list[Finding]:
    """Returns the findings of rules for a file, and the recommended changes."""
    every = [finding for own in predictions for finding in noted(own)]
    every += changes(predictions, advice, machine)
    return list(dict.fromkeys(finding for finding in every if _is_in_file(finding.span, file)))


def _last_line(prediction: Prediction) -> int:
    region = prediction.facts.region
    return region.nest.span.line if region.nest is not None else region.span.line


def _is_in_file(span: Span, file: str) -> bool:
    return Path(span.file).resolve() == Path(file).resolve()
