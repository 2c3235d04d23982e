"""Returns hints, findings and edits for the lines of one file in an editor."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from regionpredict.ir import Span
from regionpredict.machine import Machine
from regionpredict.predict import Prediction, Recommended
from regionpredict.predict.program_advice import ByTeam
from regionpredict.report.loop_table import CONFLICTS
from regionpredict.report.quantities import threads_text
from regionpredict.report.recommendation import recommendation_lines

_WRITE = re.compile(r"write (?P<clause>[a-z_]+\([^()]*\)|nowait\b)")
_PRAGMA = re.compile(r"\s*#\s*pragma\s+omp\b.*\bfor\b")
_END = re.compile(r"\s*(//.*|/\*.*\*/\s*|\\\s*)?$")


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
        """Returns the source line with the clause. None if it cannot be written."""
        return None if line is None or self.clause is None else with_clause(line, self.clause)


def hint_notes(
    predictions: Sequence[Prediction], file: str, recommended: Recommended
) -> list[HintNote]:
    """Returns a note for the program, and one for each region of a file."""
    together = recommended.together
    of_program = [] if together is None else recommendation_lines(together, recommended.each)
    return [HintNote(1, 0, text, "") for text in of_program[:1]] + [
        HintNote(
            region.span.line, (region.nest or region).span.line, hint_text(prediction), region.id
        )
        for prediction in predictions for region in [prediction.facts.region]
        if _is_in_file(region.span, file)
    ]  # fmt: skip


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


def _is_in_file(span: Span, file: str) -> bool:
    return Path(span.file).resolve() == Path(file).resolve()


def advised_clause(message: str) -> str | None:
    """Returns the clause that an advice recommends. None if the advice recommends no clause.

    >>> advised_clause("write schedule(static, 1)"), advised_clause("touch a in a parallel loop")
    ('schedule(static, 1)', None)
    >>> advised_clause("write nowait at line 6")
    'nowait'
    """
    match = _WRITE.match(message)
    return None if match is None else match["clause"]


def with_clause(line: str, clause: str) -> str | None:
    """Adds the clause to the directive's line. It replaces a clause of the same name, or follows
    all others. None if the line is not a loop directive or cannot be parsed.

    >>> with_clause("#pragma omp parallel for schedule(dynamic) // why", "schedule(static)")
    '#pragma omp parallel for schedule(static) // why'
    >>> with_clause("  #pragma omp for nowait", "collapse(2)")
    '  #pragma omp for nowait collapse(2)'
    """
    if _PRAGMA.match(line) is None:
        return None
    name = clause.partition("(")[0]
    old = re.findall(rf"\b{name}\s*\([^()]*\)", line)
    if len(old) == 1:
        return line.replace(old[0], clause)
    if old or re.search(rf"\b{name}\b", line):
        return None
    end = _END.search(line)
    assert end is not None  # it may be empty
    return f"{line[: end.start()]} {clause}{line[end.start() :]}"
