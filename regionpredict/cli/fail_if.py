"""`--fail-if CONDITION`: ends with exit code 1 if a hint meets the condition."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from regionpredict.errors import UsageError, one_line

if TYPE_CHECKING:
    from regionpredict.compare.hint_conditions import Condition, Outline
    from regionpredict.compare.hint_outline import HintOutline, ProgramOutline, RegionOutline
    from regionpredict.pipeline import Predictions

fail_if_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--fail-if", "conditions", multiple=True, metavar="CONDITION",
    help="Exit with 1 if a hint meets it: packages<2, gain<8, confidence<0.5. For the whole "
    "program: program.threads<8. With regionpredict diff: gain<0.9*baseline.",
)  # fmt: skip


def parsed(texts: Sequence[str], *, baseline: bool) -> list[Condition]:
    """Parses the conditions. Raises UsageError for an invalid one, or one that needs a missing
    baseline.
    """
    from regionpredict.compare.hint_conditions import parse_condition

    conditions = [parse_condition(text) for text in texts]
    for condition in conditions:
        if condition.baseline and not baseline:
            raise UsageError(
                f"--fail-if {condition.text}: there is no baseline",
                remedy="regionpredict diff OLD NEW has a baseline",
            )
    return conditions


def outline_of_predictions(result: Predictions) -> HintOutline:
    """Returns the hints of this prediction, in the same form as those of a hints file."""
    from regionpredict.compare.hint_outline import outline_of
    from regionpredict.json_records import Record
    from regionpredict.report.hints import hints_document

    document = hints_document(
        result.predictions, result.teams, (), result.machine, result.model, (),
        recommended=result.recommended,
    )  # fmt: skip
    return outline_of(Record(document, "a hints file", "", ""), "")


def end_by(
    conditions: Sequence[Condition],
    regions: Sequence[tuple[RegionOutline | None, RegionOutline]],
    program: tuple[ProgramOutline | None, ProgramOutline | None],
) -> None:
    """Reports the hints, given as pairs (before, now), that meet a condition. Exits with 1 if there
    are any.
    """
    before, now = program
    asked: list[tuple[Condition, Outline | None, Outline]] = [
        (condition, before, now) for condition in conditions
        if condition.program and now is not None
    ]  # fmt: skip
    asked += [(condition, old, new) for old, new in regions for condition in conditions
              if not condition.program]  # fmt: skip
    lines = [_failure_text(*one) for one in asked if one[0].holds(one[2], one[1])]
    for line in lines:
        click.echo(f"regionpredict: {one_line(line)}", err=True)
    if lines:
        sys.exit(1)


def _failure_text(condition: Condition, old: Outline | None, new: Outline) -> str:
    """Describes a hint that meets a condition: `src/cg.c:12 solve: gain<8 (gain 3.1)`."""
    name = f"{new.id} {new.function}".rstrip()
    return f"{name}: {condition.text} ({_value_text(condition, old, new)})"


def _value_text(condition: Condition, old: Outline | None, new: Outline) -> str:
    """Describes the compared values: `gain 3.1, was 7.9`."""
    text = f"{condition.field} {condition.value(new):.4g}"
    if condition.baseline and old is not None:
        text += f", was {condition.value(old):.4g}"
    return text
